"""Battles of an arena: each line two models, and which of them somebody preferred.

LMSYS's releases, MT-Bench's human judgments and whatever looks like them: `model_a`, `model_b` and `winner` (`model_a`,
`model_b`, `tie`, `tie (bothbad)`), or a column each for the three outcomes. Questions, answers and judges are taken
where the file has them. What it lacks is not made up: without answers the models' outputs are absent, so that no
metric can score them, while the comparisons can still be ranked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from billboards.board import Board, Dimension, Instance, Judgment
from billboards.board.judgment_sources import Imported
from billboards.board.names import board_name_mistake
from billboards.board.pseudonyms import pseudonym
from billboards.errors import ImportRefused, InvalidInput
from billboards.importers._assembling import (
    assemble,
    board_name,
    check_name,
    counts,
    read_json,
    rows_of_generators,
)
from billboards.importers._importer import importer
from billboards.reading import Problems, read_table, refuse_errors, shown, some

CAMPAIGN = "arena"
BETTER = Dimension("better", kind="preference", definition="The model whose answer somebody preferred, or a tie.")

#: Where a column is looked for; small and large letters, blanks, dashes and underscores don't matter.
USUAL: Mapping[str, tuple[str, ...]] = {
    "first": ("model_a", "model_1", "system_a", "system_1", "generator_a", "left_model", "player_a", "a"),
    "second": ("model_b", "model_2", "system_b", "system_2", "generator_b", "right_model", "player_b", "b"),
    "winner": ("winner", "win", "result", "outcome", "preference", "preferred", "label", "vote"),
    "battle": ("battle_id", "id", "uid", "conversation_id", "conv_id"),
    "question": ("question_id", "prompt_id", "instance", "instance_id", "item_id", "task_id"),
    "prompt": ("prompt", "question", "instruction", "input", "user_prompt"),
    "first_answer": ("response_a", "answer_a", "output_a", "completion_a", "response_1", "answer_1", "output_1"),
    "second_answer": ("response_b", "answer_b", "output_b", "completion_b", "response_2", "answer_2", "output_2"),
    "first_talk": ("conversation_a", "conv_a", "messages_a"),
    "second_talk": ("conversation_b", "conv_b", "messages_b"),
    "judge": ("judge", "annotator", "annotator_id", "judge_id", "rater", "user", "user_id", "evaluator", "worker_id"),
    "turn": ("turn", "round"),
    "language": ("language", "lang"),
    "time": ("tstamp", "timestamp", "time", "date", "created_at"),
    "first_wins": ("winner_model_a", "winner_a", "model_a_wins"),
    "second_wins": ("winner_model_b", "winner_b", "model_b_wins"),
    "tied": ("winner_tie", "is_tie"),
}
FIRST = {"model_a", "a", "model_1", "left", "first", "model a", "[[a]]"}
SECOND = {"model_b", "b", "model_2", "right", "second", "model b", "[[b]]"}
TIE = {"tie", "draw", "equal", "same", "both", "[[c]]", "tie (inconsistent)"}
BOTH_BAD = {"tie (bothbad)", "tie (both bad)", "tie(bothbad)", "bothbad", "both bad", "both_bad", "neither"}
_YES, _NO = ("1", "1.0", "true"), ("0", "0.0", "false", "")


@dataclass(frozen=True, kw_only=True)
class _Battle:
    """One line that can be read."""

    line: int
    models: tuple[str, str]
    #: 0 or 1 for the model that won; None for a tie.
    winner: int | None
    key: str | None
    prompt: str | None
    answers: tuple[str | None, str | None]
    judge: str | None
    language: str | None
    time: str | float | None


@dataclass
class _Content:
    """What the lines read so far say."""

    path: str
    #: Where mistakes in single lines go: they refuse the file, or are left out and told.
    odd: Problems
    columns: Mapping[str, str]
    battles: list[_Battle] = field(default_factory=list)
    seen: dict[tuple[object, ...], int] = field(default_factory=dict)
    both_bad: int = 0
    alike: int = 0


@importer()
def arena(
    source: Path,
    *,
    lenient: Annotated[
        bool, "leave lines with an odd winner or a duplicate out, and say which, instead of refusing"
    ] = False,
    name: Annotated[str | None, "the board's name (default: the file's)"] = None,
) -> Imported:
    """Battles of an arena: model_a, model_b and winner as CSV, TSV, JSON, JSONL or Parquet."""
    problems, odd = Problems(), Problems()
    names, rows, notes = _rows(source, problems)
    content = _Content(str(source), odd, _columns(source, names))
    for line, row in rows:
        _read(content, line, row)
    if not lenient:
        problems.extend(odd)
    elif odd:
        places = [f"{problem}" for problem in odd[:5]]
        more = f"; and {len(odd) - 5} more" if len(odd) > 5 else ""
        notes = (*notes, f"{source}: {len(odd)} lines are left out: {'; '.join(places)}{more}")
    if not content.battles and not problems.errors:
        problems.error(str(source), None, "holds no battles; fetch the file again")
    refuse_errors(problems)
    board = _board(board_name(name or _default_name(source)), content)
    return Imported(board, (counts(source, board), *notes, *_notes(content, board)))


def _rows(source: Path, problems: Problems) -> tuple[Sequence[str], Any, tuple[str, ...]]:
    """The columns, the rows with their numbers, and notes; a JSON file is a list of objects."""
    if source.suffix.lower() == ".json":
        value = read_json(source)
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise ImportRefused(f"{source}: must be a list of objects, one for each battle; found {shown(value)}")
        return tuple(dict.fromkeys(key for item in value for key in item)), enumerate(value, 1), ()
    table = read_table(source, problems, numbered=True)
    return table.columns, table.rows, table.notes


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def _columns(source: Path, names: Sequence[str]) -> dict[str, str]:
    """The file's own names of the columns that mean something here; the first usual one that is there is taken."""
    present = {_plain(name): name for name in reversed(names)}
    columns = {
        what: present[usual]
        for what, possible in USUAL.items()
        for usual in [next((name for name in possible if name in present), None)]
        if usual is not None
    }
    outcomes = {"first_wins", "second_wins", "tied"} <= columns.keys()
    needed = ["first", "second", *([] if outcomes else ["winner"])]
    missing = [USUAL[what][0] for what in needed if what not in columns]
    if missing:
        raise ImportRefused(
            f"{source}:1: has no column {shown(missing[0])}; it names {some(names, most=12)}. An arena's file has "
            "model_a, model_b and winner"
        )
    if outcomes:
        columns.pop("winner", None)
    return columns


def _read(content: _Content, line: int, row: Mapping[str, Any]) -> None:
    """One line as a battle, or what is odd about it."""

    def cell(what: str) -> Any:
        return row.get(content.columns[what]) if what in content.columns else None

    before = len(content.odd)
    models = (_text(cell("first")) or "", _text(cell("second")) or "")
    for model in models:
        check_name("generator", model, content.path, line, content.odd)
    if models[0] == models[1]:
        content.odd.error(content.path, line, f"{models[0]} is compared with itself")
    winner = _winner(content, line, row, models)
    prompt, answers = _texts(cell)
    judge, key = _text(cell("judge")), _text(cell("question")) or _text(cell("battle"))
    if len(content.odd) > before or _is_double(content, line, cell, models, judge, winner):
        return
    time = cell("time")
    battle = _Battle(
        line=line,
        models=models,
        winner=winner,
        key=key,
        prompt=prompt,
        answers=answers,
        judge=judge,
        language=_text(cell("language")),
        time=time if isinstance(time, int | float) and not isinstance(time, bool) and time == time else _text(time),
    )
    content.battles.append(battle)


def _text(value: Any) -> str | None:
    """A cell as text; None where it is empty."""
    if value is None or value != value:
        return None
    text = str(value).strip()
    return text or None


def _winner(content: _Content, line: int, row: Mapping[str, Any], models: tuple[str, str]) -> int | None:
    """The place of the model that won, None for a tie; anything else is odd."""
    if "winner" not in content.columns:
        cells = [
            str(row.get(content.columns[what], "")).strip().lower() for what in ("first_wins", "second_wins", "tied")
        ]
        if sorted(cell in _YES for cell in cells) == [False, False, True] and all(c in _YES + _NO for c in cells):
            return (0, 1, None)[[cell in _YES for cell in cells].index(True)]
        content.odd.error(content.path, line, f"exactly one of the three outcomes must be 1; found {shown(cells)}")
        return None
    value = row.get(content.columns["winner"])
    text = str(value).strip() if value is not None else ""
    lowered = text.lower()
    if text in models:
        return models.index(text)
    if lowered in FIRST or lowered in SECOND:
        return int(lowered in SECOND)
    if lowered in BOTH_BAD:
        content.both_bad += 1
        return None
    if lowered not in TIE:
        wanted = "model_a, model_b, tie, tie (bothbad) or a model's name"
        content.odd.error(content.path, line, f"the winner must be {wanted}; found {shown(value)}")
    return None


def _is_double(
    content: _Content, line: int, cell: Any, models: tuple[str, str], judge: str | None, winner: int | None
) -> bool:
    """Whether a battle was there before: by its own id, else by question, judge, turn and models."""
    pair = tuple(sorted(models))
    battle, question = _text(cell("battle")), _text(cell("question"))
    if battle is not None:
        key: tuple[object, ...] = ("battle", battle, question, judge, _text(cell("turn")), pair)
        what = f"battle {battle}"
    elif question is not None and judge is not None:
        key = ("question", question, judge, _text(cell("turn")), pair)
        what = f"the same judge's word on {pair[0]} and {pair[1]} for question {question}"
    else:
        won = None if winner is None else models[winner]
        content.alike += ("alike", question, _text(cell("prompt")), pair, won) in content.seen
        content.seen.setdefault(("alike", question, _text(cell("prompt")), pair, won), line)
        return False
    if key in content.seen:
        content.odd.error(content.path, line, f"{what} appears twice, first on line {content.seen[key]}")
        return True
    content.seen[key] = line
    return False


def _texts(cell: Any) -> tuple[str | None, tuple[str | None, str | None]]:
    """The question, and either model's answer; several turns stand one below the other."""
    prompt = _turns(cell("prompt"))
    answers = [_turns(cell("first_answer")), _turns(cell("second_answer"))]
    for k, what in enumerate(("first_talk", "second_talk")):
        asked, answered = _conversation(cell(what))
        prompt = prompt or asked
        answers[k] = answers[k] or answered
    return prompt, (answers[0], answers[1])


def _listed(value: Any) -> Any:
    """A cell of a table that holds a JSON list, as that list."""
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _turns(value: Any) -> str | None:
    """A text, or a list of turns, as one text."""
    value = _listed(value)
    if isinstance(value, list):
        parts = [part for part in value if isinstance(part, str)]
        return "\n\n".join(parts) or None if len(parts) == len(value) else None
    return _text(value)


def _conversation(value: Any) -> tuple[str | None, str | None]:
    """What was asked and what was answered in a conversation, a list of messages with role and content."""
    value = _listed(value)
    messages = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []

    def of(*roles: str) -> str | None:
        texts = [m.get("content") for m in messages if str(m.get("role", "")).lower() in roles]
        return "\n\n".join(text for text in texts if isinstance(text, str)) or None

    return of("user", "human"), of("assistant", "model", "gpt")


def _board(name: str, content: _Content) -> Board:
    """Battles as a board: an instance for each question, or for each battle where questions are not known."""
    instances: dict[str, Instance] = {}
    texts: dict[str, dict[str, str]] = {}
    judges = _pseudonyms(content.battles)
    by_prompt: dict[str, str] = {}
    judgments = []
    battles = content.battles
    if all(isinstance(battle.time, int | float) for battle in battles):
        battles = sorted(battles, key=lambda battle: float(battle.time or 0.0))
    for battle in battles:
        key = battle.key
        if key is None and battle.prompt is not None:
            key = by_prompt.setdefault(battle.prompt, str(len(by_prompt) + 1))
        key = _free(key or f"line-{battle.line}", battle, instances, texts)
        if key not in instances:
            tags = () if battle.language is None else (battle.language,)
            instances[key] = Instance(key, input=battle.prompt, tags=tags)
        for model, answer in zip(battle.models, battle.answers, strict=True):
            texts.setdefault(model, {})
            if answer is not None:
                texts[model][key] = answer
        a, b = battle.models
        told = {"order": [[a, b]]} if battle.winner is None else {"prefers": battle.models[battle.winner]}
        when = {} if battle.time is None else {"time": battle.time}
        judgments.append(
            Judgment(
                instance=key,
                outputs=(a, b),
                values={},
                annotator=None if battle.judge is None else judges[battle.judge],
                campaign=CAMPAIGN,
                details={"dimension": BETTER.name, **told, **when},
            )
        )
    problems = Problems()
    for key in instances:
        check_name("instance", key, content.path, None, problems)
    refuse_errors(problems)
    every = tuple(instances.values())
    board = assemble(name, every, rows_of_generators(every, texts), judgments, dimensions=(BETTER,), ranks=BETTER.name)
    return board if any(texts.values()) else replace(board, metrics=())


def _free(key: str, battle: _Battle, instances: Mapping[str, Instance], texts: Mapping[str, Mapping[str, str]]) -> str:
    """The instance of a question in which neither model gave another answer, nor something else was asked."""

    def fits(place: str) -> bool:
        if place not in instances:
            return True
        asked = instances[place].input
        alike = (
            answer is None or texts.get(model, {}).get(place, answer) == answer
            for model, answer in zip(battle.models, battle.answers, strict=True)
        )
        return (battle.prompt is None or asked is None or asked == battle.prompt) and all(alike)

    number, place = 1, key
    while not fits(place):
        number += 1
        place = f"{key}.{number}"
    return place


def _pseudonyms(battles: Sequence[_Battle]) -> dict[str, str]:
    """A pseudonym for every judge, which depends on all judges' names and not on their order."""
    names = sorted({battle.judge for battle in battles if battle.judge is not None})
    key = hashlib.sha256("\n".join(names).encode()).digest()
    ordered = sorted(names, key=lambda name: pseudonym(name, key))
    width = max(3, len(str(len(ordered))))
    return {name: f"J{k:0{width}}" for k, name in enumerate(ordered, 1)}


def _default_name(source: Path) -> str:
    """The file's name without its endings, if a board may be called so."""
    name = source.name
    while Path(name).suffix.lower() in (".gz", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet"):
        name = Path(name).stem
    if board_name_mistake(name):
        raise InvalidInput(f"{source}: {shown(name)} is no name for a board; give one with --name")
    return name


def _notes(content: _Content, board: Board) -> Iterator[str]:
    path, battles = content.path, content.battles
    ties = sum(battle.winner is None for battle in battles)
    both = f", {content.both_bad} of them because both were bad" if content.both_bad else ""
    yield f"{path}: {len(battles)} battles of {len(board.generators)} models; {ties} are ties{both}"
    if content.alike:
        yield (
            f"{path}: {content.alike} lines say what an earlier one says; without ids or judges they can't be told "
            "from votes of other people, so each counts"
        )
    without = sum(answer is None for battle in battles for answer in battle.answers)
    if without == 2 * len(battles):
        yield f"{path}: holds no answers, so no metric can score the models; `billboards arena` ranks them all the same"
    elif without:
        yield f"{path}: {without} answers are missing; metrics score the others"
    if all(battle.key is None and battle.prompt is None for battle in battles):
        yield f"{path}: names no questions, so each battle is an instance of its own"
    if any(battle.judge is not None for battle in battles):
        count = len({battle.judge for battle in battles})
        yield f"{path}: {count} judges, under pseudonyms"
