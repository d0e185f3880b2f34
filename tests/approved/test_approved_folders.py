"""A board folder as it is opened, checked, written and exported, and what is said of one that is spoilt in each way."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from approving import approve, changes, comparable
from plain_boards import board_words, files_below, told
from rich_folders import FILES, UNWRITABLE, plain_board, rich_folder
from spoilt_files import AWAY, outcomes, places

import billboards as bb
from billboards.board import Board, human_scores, preferred_pairs
from billboards.board.card_facts import draft_note, keys_in_toml, read_facts, refuse_drafts, with_facts
from billboards.board.card_template import card_template, fill_card
from billboards.board.cells import SqliteCells
from billboards.board.check import check_board
from billboards.board.folder import open_board
from billboards.board.hub import export_to_hub
from billboards.board.matrix import board_scores
from billboards.board.settings import read_settings
from billboards.board.skeleton import write_skeleton
from billboards.board.writing import write_board
from billboards.errors import BillboardsError
from billboards.importers.mtme import export_board
from billboards.reading import Problems

#: Most differences that are kept of a board that was opened all the same, and most characters of them.
DIFFERENCES, LENGTH = 3, 200
#: Ways in which nothing right is said yet.
LEFT = ("dimension is []", "dimension is {}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return rich_folder(tmp_path / "rich")


def test_a_folder_is_opened_as_approved(folder: Path) -> None:
    board = open_board(folder)
    approve("folders/opened", board_words(board) | people_words(board), folder=folder)


def people_words(board: Board) -> dict[str, Any]:
    """What people said, as it counts."""
    shape, words = (len(board.rows), len(board.instances)), {}
    for name in (*board.aggregates, *board.dimensions):
        aggregate = board.aggregate(name)
        scores = human_scores(board.judgments, aggregate, board.dimensions, shape)
        words[f"scores of {name}"] = scores.tolist()
        try:
            pairs = preferred_pairs(board, aggregate)
            columns = (pairs.better, pairs.worse, pairs.instance, pairs.tied)
            words[f"pairs of {name}"] = [column.tolist() for column in columns]
        except BillboardsError as error:
            words[f"pairs of {name}"] = [told(error)]
    for name in ("none", ""):
        words[f"aggregate {name!r}"] = [refused(lambda name=name: board.aggregate(name))]  # type: ignore[misc]
    words["names"] = [
        refused(lambda: board.row("none")),
        refused(lambda: board.generator("M2")),
        refused(lambda: board.check_references(["Z"])),
        refused(lambda: board.select(bb.Slice(domain="none"))),
        refused(lambda: board.select(bb.Slice(tag="short"))),
        str(board._repr_html_()),
    ]
    return words


def refused(ask: Callable[[], Any]) -> str:
    try:
        return str(ask())
    except BillboardsError as error:
        return told(error)


def test_scores_of_a_folder_are_as_approved(folder: Path) -> None:
    board = open_board(folder)
    report, again = bb.score(board), bb.score(board)
    scores = board_scores(board, SqliteCells(folder))
    columns = [{**asdict(column), "row values": []} for column in scores.columns]
    for k, column in enumerate(columns):
        column["row values"] = scores.values[k].tolist()
    approve(
        "folders/scores",
        {"first": words_of(report), "again": words_of(again), "rows": scores.rows, "columns": columns},
        folder=folder,
    )


def words_of(report: Any) -> dict[str, Any]:
    said = {name: getattr(report, name) for name in report.__dataclass_fields__ if "second" not in name}
    return {name: value if isinstance(value, int | str) else str(value) for name, value in said.items()}


def test_a_folder_is_checked_as_approved(folder: Path) -> None:
    seen: list[str] = []
    problems = check_board(folder, lambda progress: seen.append(str(progress)))
    approve("folders/checked", {"problems": [str(problem) for problem in problems], "progress": seen}, folder=folder)


@pytest.mark.parametrize("order", [False, True])
def test_a_folder_is_written_as_approved(order: bool, folder: Path, tmp_path: Path) -> None:
    board = open_board(folder)
    loose = tuple(row for row in board.rows if row.generator is None)
    shuffled = replace(board, rows=(*board.rows[3::-1], *loose))
    written = files_below(write_board(shuffled, tmp_path / "copy", in_order=order))
    again = refused(lambda: write_board(board, tmp_path / "copy"))
    (tmp_path / "copy" / "notes.txt").write_text("Mine.\n", "utf-8")
    (tmp_path / "copy" / "generators" / "Z.jsonl").write_text("gone", "utf-8")
    write_board(board, tmp_path / "copy", replace=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("Mine.", "utf-8")
    refusals = [
        again,
        refused(lambda: write_board(board, tmp_path / "other", replace=True)),
        refused(lambda: write_board(board, tmp_path / "other")),
        refused(lambda: write_board(board, tmp_path / "other" / "file")),
    ]
    kept = sorted(files_below(tmp_path / "copy"))
    unlike = [f"{where}: {new}" for where, (_, new) in changes(plain(board), plain(open_board(tmp_path / "copy")))]
    approve(
        f"folders/written{'-in-order' if order else ''}",
        {"files": written, "refusals": refusals, "kept": kept, "other": unlike},
        folder=tmp_path,
    )


def plain(board: Board) -> Any:
    return comparable(board_words(board))


def test_a_folder_is_exported_as_approved(folder: Path, tmp_path: Path) -> None:
    board = open_board(folder)
    counts = export_to_hub(board, tmp_path / "hub")
    bare = replace(plain_board(), card=replace(board.card, licence="Mine, not yours", title=None))
    export_to_hub(bare, tmp_path / "bare")
    named = replace(plain_board(), input_language="en", output_language="de-AT")
    mtme = [
        refused(lambda: export_board(board, tmp_path / "no")),
        refused(lambda: export_board(plain_board(), tmp_path / "no")),
        refused(lambda: export_board(plain_board(), tmp_path / "no", language_pair="en de")),
    ]
    single = replace(
        board,
        rows=tuple(row for row in board.rows if row.generator is not None),
        judgments=plain_board().judgments,
        dimensions=plain_board().dimensions,
        imported=(),
    )
    mtme += [
        refused(lambda: export_board(replace(single, instances=single.instances), tmp_path / "no")),
        refused(lambda: export_board(replace(named, rows=named.rows[:1] * 2), tmp_path / "no")),
    ]
    export_board(named, tmp_path / "mtme", language_pair="en-de")
    approve(
        "folders/exported",
        {
            "counts": counts,
            "hub": files_below(tmp_path / "hub"),
            "bare": files_below(tmp_path / "bare")["README.md"],
            "mtme": files_below(tmp_path / "mtme"),
            "refused": mtme,
        },
        folder=tmp_path,
    )


def opened(folder: Path, sound: Any) -> str:
    """What is said of a folder: its mistakes, or what has become other, and its doubts."""
    try:
        unlike = changes(sound, plain(open_board(folder)))
        first = "; ".join(f"{where.removeprefix('$.')}: {new}" for where, (_, new) in islice(unlike, DIFFERENCES))
        return f"opened: {first[:LENGTH]}"
    except BillboardsError as error:
        return told(error).replace(str(folder), "FOLDER")


@pytest.mark.parametrize("name", [name for name in FILES if name != "board.toml"])
def test_what_is_said_of_a_spoilt_file_is_as_approved(name: str, folder: Path) -> None:
    sound = plain(open_board(folder))
    answers = outcomes(folder / name, lambda: opened(folder, sound), most=110, left=LEFT)
    approve(f"folders/spoilt {name.replace('/', ' ')}".replace(" ", "-"), answers, folder=folder)


def test_what_is_said_of_spoilt_settings_is_as_approved(folder: Path) -> None:
    sound, path = plain(open_board(folder)), folder / "board.toml"
    document, answers = tomllib.loads(FILES["board.toml"]), dict[str, list[str]]()
    ways: list[tuple[str, bytes]] = [
        ("not TOML", b"name = rich\n"),
        ("a key twice", FILES["board.toml"].replace("lead", "name").encode()),
        ("not UTF-8", FILES["board.toml"].encode() + b"\xff"),
        ("empty", b""),
        ("with a byte order mark", b"\xef\xbb\xbf" + FILES["board.toml"].encode()),
        ("with other line ends", FILES["board.toml"].replace("\n", "\r\n").encode()),
        ("schema 2", FILES["board.toml"].replace("schema = 1", "schema = 2").encode()),
    ]
    for words, change in places(document):
        if not words.startswith("card.") or words == "card.task":
            ways += [(f"{words} is {value}", tomli_w.dumps(change(value)).encode()) for value in WRONG]
            gone = tomli_w.dumps(change(AWAY)).encode()
            path.write_bytes(gone)
            answers.setdefault(opened(folder, sound), []).append(f"{words} is away")
    for table in ("", "languages", "dimensions.adequacy", "aggregates.quality", "generators.M", "scores.ter", "trust"):
        text = f"[{table}]\nsurplus = 1\n" if table else 'surplus = 1\nrank = "x"\n'
        line = f"[{table}]\n"
        changed = FILES["board.toml"].replace(line, text) if table else text + FILES["board.toml"]
        ways.append((f"surplus in {table}", changed.encode()))
    for words, content in ways:
        answers.setdefault(mistakes(content), []).append(words)
    approve("folders/spoilt-settings", answers, folder=folder)


#: What no setting, or only some settings, may be.
WRONG: tuple[Any, ...] = ("x", True, [], ["M", "M"])


def mistakes(content: bytes) -> str:
    """What is said of settings."""
    try:
        problems = Problems()
        read_settings(content.decode(), problems)
    except (BillboardsError, UnicodeDecodeError) as error:
        return told(error)
    return "; ".join(map(str, problems)) or "nothing"


def test_boards_that_can_t_be_written_are_refused_as_approved(tmp_path: Path) -> None:
    answers: dict[str, Any] = {}
    for words, change in UNWRITABLE.items():
        try:
            target = write_board(change(plain_board()), tmp_path / words.replace(" ", "-"))
            answers[words] = refused(lambda target=target: open_board(target))  # type: ignore[misc]
        except BillboardsError as error:
            answers[words] = told(error)
    approve("folders/unwritable", answers, folder=tmp_path)


def test_folders_that_are_none_are_refused_as_approved(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (folder / "generators" / "bad name?.jsonl").write_text("", "utf-8")
    (folder / "generators" / "notes.txt").write_text("", "utf-8")
    (folder / "instance.jsonl").write_text("", "utf-8")
    (folder / "judgments" / "folder.jsonl").mkdir()
    names = (tmp_path / "empty", tmp_path / "ritch", folder / "board.toml", tmp_path / "none", folder)
    approve(
        "folders/none",
        {
            "opened": [refused(lambda name=name: open_board(name)) for name in names],  # type: ignore[misc]
            "checked": [refused(lambda name=name: list(map(str, check_board(name)))) for name in names],  # type: ignore[misc]
        },
        folder=tmp_path,
    )


def test_a_skeleton_is_as_approved(tmp_path: Path) -> None:
    written = write_skeleton(tmp_path / "new", "my-board")
    bad = refused(lambda: write_skeleton(tmp_path / "bad", "my board"))
    there = refused(lambda: write_skeleton(tmp_path / "new", "other"))
    words = {"board": board_words(open_board(written)), "checked": list(map(str, check_board(written)))}
    approve("folders/skeleton", {"files": files_below(written), **words, "refused": [bad, there]}, folder=tmp_path)


FLAT = 'task = "x"\n[definition]\na = "b"\n[languages]\ninput = "fr"\n'
FACTS = {
    "task": "Say it\nagain",
    "title": 'With "quotes"',
    "input-language": "fr",
    "definition.adequacy": "Is it?",
    "definition.two words": "What?",
}


def test_the_facts_of_a_card_are_filled_in_as_approved(folder: Path, tmp_path: Path) -> None:
    board, bare = open_board(folder), plain_board()
    facts = tmp_path / "facts.toml"
    facts.write_text(card_template(bare).replace('task = ""', 'task = "Told"').replace('output = ""', 'output = "en"'))
    filled = fill_card(folder, FACTS)
    windows = rich_folder(tmp_path / "windows")
    (windows / "board.toml").write_bytes(FILES["board.toml"].replace("\n", "\r\n").encode())
    fill_card(windows, {"task": "Other"})
    wrong = {
        "none": lambda: with_facts(bare, {"none": "x"}),
        "empty": lambda: with_facts(bare, {"task": " "}),
        "no equals": lambda: read_facts(["task"], None),
        "no file": lambda: read_facts([], tmp_path / "none"),
        "not TOML": lambda: read_facts([], written(tmp_path / "a.toml", "task = x")),
        "a number": lambda: read_facts([], written(tmp_path / "b.toml", "task = 1")),
        "a definition": lambda: read_facts([], written(tmp_path / "c.toml", "[dimensions.x]\ndefinition = 1")),
        "drafts": lambda: refuse_drafts([bare, board, replace(bare, name="second")]),
    }
    approve(
        "folders/facts",
        {
            "template": card_template(bare).splitlines(),
            "rich template": card_template(board).splitlines(),
            "read": read_facts(["task = Other", "title=A=B"], facts),
            "flat": read_facts(
                [], written(tmp_path / "d.toml", 'task = "x"\n[definition]\na = "b"\n[languages]\ninput = "fr"')
            ),
            "missing": keys_in_toml(bare.missing_facts),
            "draft": [draft_note(bare), draft_note(bare, "it"), draft_note(board)],
            "filled": files_below(folder)["board.toml"],
            "said": board_words(filled)["card"],
            "windows": (windows / "board.toml").read_bytes().decode().count("\r\n"),
            "refused": {words: refused(ask) for words, ask in wrong.items()},
        },
        folder=tmp_path,
    )


def written(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path
