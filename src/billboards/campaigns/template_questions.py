"""The `[[dimensions]]` of a template file: one question each, with what its kind needs and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from billboards.campaigns.templates import Question, Severity
from billboards.errors import UnknownName
from billboards.reading import is_number, shown

Say = Callable[[str, str], None]

_COMMON = ("name", "kind", "question", "help", "higher_is_better")
#: What a question of each kind may say beside its name and text.
KINDS: Mapping[str, tuple[str, ...]] = {
    "scale": ("labels", "values", "range"),
    "preference": ("labels", "values", "range"),
    "slider": ("labels", "range", "step"),
    "spans": ("severities", "categories", "allows_missing", "range"),
    "best-worst": ("range",),
}
#: The range a kind's numbers have where the file names none; MQM's sum of weights stops at 25.
_RANGES = {"slider": (0.0, 100.0), "spans": (-25.0, 0.0)}


def read_question(table: Mapping[str, Any], k: int, say: Say) -> Question | None:
    """The k-th question of a file; None where something was wrong with it, and was said."""
    where = f"dimension {k}" if not isinstance(table.get("name"), str) else f"dimension {table['name']}"
    said: list[str] = []

    def tell(key: str, message: str) -> None:
        said.append(key)
        say(f"{where}: {key}", message)

    kind: Any = table.get("kind")
    if kind not in tuple(KINDS):
        tell("kind", f"must be one of {', '.join(KINDS)}; found {shown(kind)}")
        return None
    for key in table:
        if key not in (*_COMMON, *KINDS[kind]):
            tell(key, str(UnknownName(f"key of a {kind} question", key, (*_COMMON, *KINDS[kind]))))
    for key in ("name", "question"):
        if not isinstance(table.get(key), str) or not table[key].strip():
            tell(key, "is missing; write it as a text in quotes")
    # Answers are kept under the name, and not every database takes a control character.
    if isinstance(table.get("name"), str) and not table["name"].isprintable():
        tell("name", "must be letters that can be seen, without line breaks and control characters")
    if not isinstance(table.get("higher_is_better", True), bool):
        tell("higher_is_better", "must be true or false")
    limits = _range(table, str(kind), tell)
    labels = _texts(table, "labels", tell)
    values = _values(table, str(kind), labels, limits, tell)
    severities = _severities(table, str(kind), tell)
    categories = _texts(table, "categories", tell)
    step = table.get("step", 1)
    if not is_number(step) or step <= 0:
        tell("step", f"must be a number above 0; found {shown(step)}")
    if said:
        return None
    return Question(
        table["name"],
        kind,
        table["question"].strip(),
        str(table.get("help", "")).strip(),
        limits,
        table.get("higher_is_better", True),
        labels,
        values,
        float(step),
        severities,
        categories,
        bool(table.get("allows_missing", False)),
    )


def _range(table: Mapping[str, Any], kind: str, tell: Say) -> tuple[float, float]:
    default = _RANGES.get(kind, (0.0, 1.0))
    found = table.get("range", list(default))
    numbers = isinstance(found, list) and len(found) == 2
    numbers = numbers and all(map(is_number, found))
    if not numbers or not found[0] < found[1] or (kind == "spans" and found[1] != 0):
        example = "[-25, 0], with 0 for no error" if kind == "spans" else "[0, 1]"
        tell("range", f"must be two numbers, the lower one first, as in {example}; found {shown(found)}")
        return default
    return float(found[0]), float(found[1])


def _texts(table: Mapping[str, Any], key: str, tell: Say) -> tuple[str, ...]:
    found = table.get(key, [])
    if not isinstance(found, list) or not all(isinstance(word, str) and word.strip() for word in found):
        tell(key, f"must be a list of texts; found {shown(found)}")
        return ()
    if len(set(found)) != len(found):
        tell(key, "holds a text twice; annotators could not tell the two apart")
    return tuple(found)


def _values(
    table: Mapping[str, Any], kind: str, labels: tuple[str, ...], limits: tuple[float, float], tell: Say
) -> tuple[float, ...]:
    """What options are worth: as the file says, else spread evenly over the range from the first label to the last."""
    if kind not in ("scale", "preference"):
        return ()
    if len(labels) < 2:
        tell("labels", "must be two options or more, from the worst (or the first output) to the best (or the second)")
        return ()
    low, high = limits
    even = [low + (high - low) * k / (len(labels) - 1) for k in range(len(labels))]
    found = table.get("values", even)
    if not isinstance(found, list) or len(found) != len(labels):
        tell("values", f"must be a list of {len(labels)} numbers, one for each label")
        return ()
    if not all(is_number(v) and low <= v <= high for v in found):
        tell("values", f"must be numbers from {low:g} to {high:g}; found {shown(found)}")
        return ()
    return tuple(float(value) for value in found)


def _severities(table: Mapping[str, Any], kind: str, tell: Say) -> tuple[Severity, ...]:
    if kind != "spans":
        return ()
    found = table.get("severities")
    if not isinstance(found, Mapping) or not found:
        tell("severities", "is missing; write as in { minor = 1, major = 5 }")
        return ()
    for name, weight in found.items():
        if not is_number(weight) or weight <= 0:
            tell("severities", f"{name} must be a number above 0; found {shown(weight)}")
            return ()
    return tuple(Severity(name, float(weight)) for name, weight in found.items())
