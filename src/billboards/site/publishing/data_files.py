"""What the script of published pages reads: all outputs with their scores, and where each comparison lies.

A page that is opened from a disk may not fetch files, but it may load scripts: so these are scripts that put data down.
They hold what the downloads of a visitor hold, and no more; scores stand in a file for each metric, read when needed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from billboards.show.browser_charts import ADDRESS
from billboards.site.boards.masked import Look
from billboards.site.pages.explorer import PEOPLE
from billboards.site.pages.instances import CLIPPED
from billboards.site.publishing.places import Address

#: Characters of outputs and inputs beyond which a board is not searched by script.
MOST_CHARACTERS = 64 * 2**20

Reach = Callable[[Address], str | None]


def outputs_script(look: Look, reach: Reach) -> str | None:
    """All texts of a board, each instance and generator with the file of its page; None where there are too many."""
    board = look.board
    home = "boards", look.name
    instances: list[dict[str, Any]] = [
        {
            "id": instance.id,
            "page": reach(Address((*home, "instances", instance.id))),
            "input": instance.input or "",
            "references": [reference.text for reference in instance.references] if look.referenced else [],
            "domain": instance.domain,
            "document": instance.document,
            "tags": list(instance.tags),
        }
        for instance in board.instances
    ]
    rows: list[list[Any]] = []
    characters = sum(len(text) for entry in instances for text in (entry["input"], *entry["references"]))
    for row in board.rows:
        characters += sum(len(text or "") for text in row.texts)
        if characters > MOST_CHARACTERS:
            return None
        page = reach(Address((*home, "generators", row.name))) if row.generator is not None else None
        rows.append([row.name, page, list(row.texts)])
    data: dict[str, Any] = {
        "instances": instances,
        "rows": rows,
        "metrics": list(look.matrix.names),
        "clipped": CLIPPED,
    }
    data["errors"] = _marked_errors(look) if look.judged else []
    return _script("outputs", data)


def _marked_errors(look: Look) -> list[list[int]]:
    """The outputs that people marked errors in: row and instance of each."""
    judgments = look.board.judgments
    marked = (k for k, detail in judgments.details.items() if detail.get("spans") and not detail.get("test"))
    return sorted([row, k] for row, k in {(int(judgments.row[k]), int(judgments.instance[k])) for k in marked})


def score_scripts(look: Look) -> Iterator[str]:
    """One script for each metric, in their order: its scores, people's, and how far the two disagree."""
    matrix = look.matrix
    judged = look.judged and matrix.has_people
    people = _numbers(matrix.of(PEOPLE)) if judged else None
    for number, name in enumerate(matrix.names):
        shown = matrix.shown(name)
        data = {
            "lower": matrix.head(name) != name,
            "scores": _numbers(shown),
            "people": people,
            "disagreement": _numbers(matrix.disagreement(name)) if judged else None,
        }
        yield _script(f"scores-{number}", data)


def pairs_script(pairs: Sequence[tuple[str, str]], board: str, reach: Reach) -> str:
    """Where the comparison of each pair lies."""
    places = ((first, second, reach(_pair(board, first, second))) for first, second in pairs)
    return _script("pairs", [entry for entry in places if entry[2] is not None])


def compared_script(look: Look, reach: Reach) -> str:
    """What a comparison in the browser says of metrics beside their scores: their rank and agreement on the board."""
    ranking, home = look.ranking, ("boards", look.name)
    standings = () if ranking is None or not look.judged else ranking.metrics
    metrics = [
        {
            "name": standing.name,
            "page": reach(Address((*home, "metrics", standing.name))),
            "rank": standing.rank,
            "agreement": _rounded(standing.correlation),
            "interval": None if standing.interval is None else [_rounded(end) for end in standing.interval],
            "n": standing.n,
        }
        for standing in standings
    ]
    return _script("compared", {"generators": [g.name for g in look.board.generators], "metrics": metrics})


def _rounded(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(f"{value:.6g}")


#: Before a chart's specifications, which follow as JSON up to the last two characters.
_CHART = "(window.billboardsData??={})[%s]="


def chart_script(name: str, themes: Mapping[str, Any], lead: Callable[[str], str | None]) -> str:
    """The specifications of a chart, by theme, under the name of its file; links of its points lead as `lead` says."""
    text = json.dumps({theme: _led(spec, lead) for theme, spec in themes.items()}, ensure_ascii=False)
    return f"{_CHART % json.dumps(name)}{text};\n"


def shared_points(themes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Specifications whose points stand once: they are named by their content, and most are those of both themes."""
    points = {name: rows for spec in themes.values() for name, rows in spec.get("datasets", {}).items()}
    own = {theme: {key: part for key, part in spec.items() if key != "datasets"} for theme, spec in themes.items()}
    return {**own, "datasets": points}


def read_chart(script: str) -> dict[str, Any]:
    """The specifications in a script that `chart_script` wrote."""
    themes: dict[str, Any] = json.loads(script[script.index("]=") + 2 :].removesuffix(";\n"))
    return themes


def _led(part: Any, lead: Callable[[str], str | None]) -> Any:
    """A part of a specification with the links of its points led elsewhere; a point that leads nowhere has none."""
    if isinstance(part, list):
        return [_led(inner, lead) for inner in part]
    if not isinstance(part, dict):
        return part
    led = {key: _led(value, lead) for key, value in part.items() if key != ADDRESS}
    target = lead(str(part[ADDRESS])) if ADDRESS in part else None
    return led if target is None else {**led, ADDRESS: target}


def _pair(board: str, first: str, second: str) -> Address:
    return Address(("boards", board, "compare"), (("first", first), ("second", second)))


def _numbers(values: NDArray[np.float64]) -> list[list[float | None]]:
    """Values to six digits; what is missing is null."""
    return [[None if np.isnan(value) else float(f"{value:.6g}") for value in row] for row in values]


def _script(name: str, data: Any) -> str:
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Old scripts end lines at these two.
    text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f"billboardsData[{json.dumps(name)}]={text};\n"
