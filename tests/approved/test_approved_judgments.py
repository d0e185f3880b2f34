"""Judgments in every format, written, read again and spoilt; scores that an owner adds; doubts; names and costs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from approving import approve, changes, comparable
from plain_boards import board_words, files_below, told
from rich_folders import plain_board, rich_folder
from spoilt_files import outcomes
from translated_documents import document_board

from billboards.board import Board, Dimension, Generator, Instance, Outputs, Reference, row_of
from billboards.board.added_scores import NewColumn, plan_added, read_added, read_needs, write_added
from billboards.board.costs import COSTS, amount_text
from billboards.board.counts import pack_counts, unpack_counts
from billboards.board.coverage import coverage
from billboards.board.doubts import Surroundings, output_doubts
from billboards.board.folder import open_board
from billboards.board.judgments import JudgmentColumns, join_judgments
from billboards.board.names import (
    board_name_mistake,
    deceiving_mistake,
    file_name,
    file_name_mistake,
    folder_order,
    generator_name_mistake,
    is_human,
    look_alike,
    mistake_in,
    name_mistake,
    named,
    plain_name,
)
from billboards.board.private_share import private_instances, without_private
from billboards.board.pseudonyms import is_platform_id, pseudonym, pseudonyms
from billboards.board.trust import TrustRules
from billboards.errors import BillboardsError
from billboards.formats import FORMATS, add_file, judgments_as_text

FORMS = tuple(FORMATS.own)
#: Most differences that are kept of a file that was read all the same, and most characters of them.
DIFFERENCES, LENGTH = 3, 200


def refused(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except BillboardsError as error:
        return told(error)


def judged_board(*, marked: bool = True) -> Board:
    """Two short documents, of which people judged some outputs in two campaigns."""
    board = document_board()
    columns = JudgmentColumns(("score", "errors"))
    spans: list[dict[str, Any]] = [
        {"start": 4, "end": 11, "severity": "major", "category": "Accuracy/Mistranslation", "comment": 'Not "that"'},
        {"start": 0, "end": 3, "severity": "minor", "category": "Fluency/Punctuation"},
        {"start": 2, "end": 6, "severity": "critical", "category": "Accuracy/Omission", "missing": True},
        {"start": 5, "end": 5, "severity": "neutral", "missing": True},
        {"severity": "minor", "category": "Other"},
    ]
    for k in (0, 1, 3, 12, 14):
        for row in (0, 1):
            details: dict[str, Any] = {"time": 1_700_000_000.5 + k}
            details |= {"spans": spans[: k % 6]} if marked and row == 0 else {}
            details |= {"test": "copy"} if (k, row) == (3, 1) else {}
            columns.add(
                k,
                row,
                {"score": 20.0 * row + 5 * k, **({"errors": k / 2} if k else {})},
                annotator=("ann", "bob")[k % 2] if k != 14 else None,
                campaign="spring" if k < 10 else "summer",
                details=details,
            )
    dimensions = {
        "score": Dimension("score", range=(0.0, 100.0), definition="How good?"),
        "errors": Dimension("errors", higher_is_better=False),
    }
    return replace(board, judgments=columns.build(), dimensions=dimensions, ranks="score")


def bare(board: Board) -> Board:
    return replace(board, judgments=JudgmentColumns(()).build(), dimensions={}, aggregates={}, ranks=None)


@pytest.mark.parametrize("form", FORMS)
def test_a_format_is_written_and_read_as_approved(form: str, tmp_path: Path) -> None:
    board, path = judged_board(), tmp_path / "file"
    text = judgments_as_text(board, form, key="a secret", tests=True)
    path.write_text(text, "utf-8")
    read = add_file(bare(board), path, form, "autumn")
    asked = {
        "of spring": lambda: judgments_as_text(board, form, campaigns=("spring",), key="other").splitlines()[:4],
        "of none": lambda: judgments_as_text(board, form, campaigns=("none",)),
        "of nobody": lambda: judgments_as_text(bare(board), form),
        "without spans": lambda: judgments_as_text(judged_board(marked=False), form, key="k").splitlines()[:3],
        "of pairs": lambda: judgments_as_text(pairs(), form, key="k").splitlines(),
        "of rows": lambda: judgments_as_text(judged_board(), form, key="k") == judgments_as_text(board, form, key="k"),
        "on the same": lambda: add_file(board, path, form, "spring").notes,
        "on another": lambda: add_file(plain_board(), path, form, "autumn").notes,
        "a bad name": lambda: add_file(board, path, form, "a\tb").notes,
        "an empty name": lambda: add_file(board, path, form, "").notes,
        "twice": lambda: add_file(add_file(bare(board), path, form, "autumn").board, path, form, "winter").notes,
    }
    words = {
        "text": json.loads(text) if form == "label-studio" else text.splitlines(),
        "read": {
            key: board_words(read.board)[key] for key in ("judgments", "dimensions", "aggregates", "ranks", "card")
        },
        "notes": list(read.notes),
        "asked": {name: refused(ask) for name, ask in asked.items()},
    }
    approve(f"formats/{form}", words, folder=tmp_path)


def pairs() -> Board:
    """A board whose people compared outputs."""
    board = document_board()
    columns = JudgmentColumns(())
    ways: tuple[dict[str, Any], ...] = ({"prefers": "word"}, {"prefers": []}, {"order": [["word"], ["plain"]]})
    for k, said in enumerate(ways):
        columns.add(
            k, 0, {}, annotator="ann", campaign="pairs", details={"others": (1,), "dimension": "better", **said}
        )
    return replace(board, judgments=columns.build(), dimensions={"better": Dimension("better", kind="preference")})


@pytest.mark.parametrize("form", FORMS)
def test_what_is_said_of_a_spoilt_file_of_a_format_is_as_approved(form: str, tmp_path: Path) -> None:
    board = judged_board()
    endings = {"label-studio": ".json", "csv": ".csv", "mqm": ".tsv", "appraise": ".csv"}
    path = tmp_path / f"judged{endings[form]}"
    path.write_text(judgments_as_text(board, form, key="a secret"), "utf-8")
    sound = comparable(board_words(add_file(bare(board), path, form, "autumn").board))

    def ask() -> str:
        try:
            read = add_file(bare(board), path, form, "autumn")
        except BillboardsError as error:
            return told(error).replace(str(tmp_path), "FOLDER")
        unlike = changes(sound, comparable(board_words(read.board)))
        line = "; ".join(f"{where.removeprefix('$.')}: {new}" for where, (_, new) in islice(unlike, DIFFERENCES))
        return f"read: {line[:LENGTH]}"

    approve(f"formats/spoilt-{form}", outcomes(path, ask, most=110), folder=tmp_path)


SCORES = {
    "long.csv": "instance,generator,metric,score\na,N,BLEU,1.5\nd,N,BLEU,2\na,M,ter,25\n",
    "other.csv": "instance,generator,metric,score\na,M,BLEU,9\n",
    "wide.tsv": "instance\tM\tN\na\t1\t2\nb\t3\t\n",
    "lines.jsonl": '{"instance": "a", "generator": "M", "score": 0.5}\n'
    '{"instance": "b", "generator": "M", "score": null}\n',
    "wrong.csv": "instance,generator,metric,score\nz,M,BLEU,1\na,Z,BLEU,1\na,M,,1\na,M,BLEU,x\nb,N,BLEU,1\n"
    "a,M,BLEU,1_0\n",
    "twice.csv": "instance,generator,metric,score\na,M,new,1\na,M,new,2\n",
    "more.csv": "instance,generator,metric,score,why\na,M,new,1,x\n",
    "none.csv": "instance,generator,metric,score\na,M,new,\n",
    "bare.csv": "generator,score\nM,1\n",
}


def test_scores_are_added_as_approved(tmp_path: Path) -> None:
    folder = rich_folder(tmp_path / "rich")
    for name, text in SCORES.items():
        (tmp_path / name).write_text(text, "utf-8")
    board = open_board(folder)

    def added(name: str, new: NewColumn | None = None, *, replaced: bool = False, **stated: Any) -> Any:
        plans = plan_added(board, read_added(tmp_path / name, board, **stated), new=new, replace=replaced)
        return [plan.words() for plan in plans]

    asked = {
        "long": lambda: added("long.csv"),
        "long, new": lambda: added("long.csv", NewColumn()),
        "other": lambda: added("other.csv"),
        "other, replaced": lambda: added("other.csv", replaced=True),
        "wide": lambda: added("wide.tsv"),
        "wide of BLEU": lambda: added("wide.tsv", metric="BLEU", replaced=True),
        "wide, new": lambda: added("wide.tsv", NewColumn(), metric="fresh"),
        "wide, unknown": lambda: added("wide.tsv", metric="fresh"),
        "wide, of a generator": lambda: added("wide.tsv", metric="fresh", generator="M"),
        "wide, turned": lambda: added("wide.tsv", NewColumn(higher_is_better=False), metric="BLEU"),
        "lines": lambda: added("lines.jsonl"),
        "lines of BLEU": lambda: added("lines.jsonl", metric="BLEU", replaced=True),
        "lines of N": lambda: added("lines.jsonl", metric="BLEU", generator="N"),
        "a name with a tab": lambda: added("lines.jsonl", metric="a\tb"),
        **{name: lambda name=name: added(name, NewColumn()) for name in SCORES if name not in ("long.csv", "wide.tsv")},  # type: ignore[misc]
        "nowhere": lambda: added("nowhere.csv"),
        "in memory": lambda: plan_added(plain_board(), {}),
        "needs": lambda: [read_needs(text) for text in ("nothing", "input", "references, input")],
        "needs what": lambda: read_needs("outputs"),
        "needs two": lambda: read_needs("input,,"),
    }
    said = {name: refused(ask) for name, ask in asked.items()}
    new = NewColumn(higher_is_better=False, needs=("input",), references=())
    write_added(board, plan_added(board, read_added(tmp_path / "wide.tsv", board, metric="fresh one/x"), new=new), new)
    write_added(board, plan_added(board, read_added(tmp_path / "long.csv", board), replace=True))
    written = {name: lines for name, lines in files_below(folder).items() if name.startswith(("scores", "board"))}
    approve("folders/added-scores", {"asked": said, "written": written}, folder=tmp_path)


def row(board: Board, texts: list[str | None], name: str = "mine") -> Outputs:
    return row_of(Generator(name), board.instances, tuple(texts))


def longer_board(count: int = 36) -> Board:
    """Many instances of long texts that differ, with references, inputs and two machines."""
    nouns = ("harbour", "ferry", "captain", "morning", "island", "letter", "window", "garden", "silver")
    words = (*nouns, "quiet", "rough", "winter", "bridge")
    texts = [
        " ".join(f"{words[(k * 5 + j * (k % 7 + 1)) % len(words)]}{k % (j + 2)}" for j in range(14)).capitalize() + "."
        for k in range(count)
    ]
    instances = tuple(
        Instance(f"i{k}", references=(Reference("A", text),), input=f"Der {text[::-1]}", document=f"d{k // 4}")
        for k, text in enumerate(texts)
    )
    made = [text.replace("r", "l").replace("quiet", "silent night") for text in texts]
    others = [f"So {text.lower()} and so on in {k} ways!" for k, text in enumerate(made)]
    rows = tuple(row_of(Generator(name), instances, tuple(said)) for name, said in (("one", made), ("two", others)))
    return replace(document_board(), instances=instances, rows=rows)


def test_doubts_about_outputs_are_as_approved() -> None:
    board = longer_board()
    own: list[str | None] = [f"{text} {k}" for k, text in enumerate(board.rows[1].texts)]
    references: list[str | None] = [instance.references[0].text for instance in board.instances]
    half = len(own) // 2
    given: dict[str, list[str | None]] = {
        "its own": [f"Wholly other words stand here, number {k}, for {k * k} people." for k in range(len(own))],
        "references": references,
        "half references": [*references[:half], *own[half:]],
        "three references": [*references[:3], *own[3:]],
        "four references": [*references[:4], *own[4:]],
        "references and more": [f"{text} And more." for text in references],
        "another row": list(board.rows[0].texts),
        "half of another row": [*board.rows[0].texts[:half], *own[half:]],
        "fewer than half of another row": [*board.rows[0].texts[: half - 1], *references[half - 1 :]],
        "inputs": [instance.input for instance in board.instances],
        "one later": [*references[1:], references[0]],
        "turned": references[::-1],
        "another language": [
            f"Żółć gęślą jaźń {k} świerszcz brzęczy w trzcinie, źdźbło, żuk i ćma {k * k} śpią pod dębem."
            for k in range(len(own))
        ],
        "cut": [(text or "")[:40] for text in references],
        "lower case": [(text or "").lower() for text in own],
        "tokenised": [f"It is n't {k} , is it ? It 's so ." for k in range(len(own))],
        "empty": ["", " ", *own[2:]],
        "repeated": ["The same words again and again."] * len(own),
        "few": [*own[:3], *([None] * (len(own) - 3))],
        "nothing": [None] * len(own),
    }
    around = Surroundings(board)
    words = {
        name: [
            [doubt.kind, doubt.count, doubt.of, str(doubt), round(doubt.share, 6), list(doubt.examples)]
            for doubt in around.doubts(row(board, texts))
        ]
        for name, texts in given.items()
    }
    earlier = output_doubts(board, row(board, references), others=(), earlier=(row(board, references, "before"),))
    free = replace(board, instances=tuple(replace(instance, references=()) for instance in board.instances))
    without = output_doubts(free, row(free, list(board.rows[0].texts)))
    rules = {
        "usual": TrustRules(),
        "barred": TrustRules(barred={"mine": "It has seen them."}),
        "admitted": TrustRules(admits=("mine",)),
        "from nine tenths": TrustRules(bars_from=0.9),
        "other doubts": TrustRules(bars=("empty", "lower case")),
        "count": TrustRules(flagged="count", private_share=0.5, private_seed=3),
    }
    judged = around.doubts(row(board, given["half references"]))
    approve(
        "doubts",
        {
            "doubts": words,
            "earlier": [str(doubt) for doubt in earlier],
            "without references": [str(doubt) for doubt in without],
            "rules": {
                name: [
                    rule.bar("mine", judged),
                    rule.counts("mine", ["a flag"]),
                    rule.counts("mine", []),
                    str(rule.facts),
                ]
                for name, rule in rules.items()
            },
        },
    )


NAMES = (
    "plain",
    "",
    " ",
    "a/b",
    ".hidden",
    "#1",
    "#1a",
    "é ü",
    "tab\there",
    "line\nend",
    "x" * 200,
    "x" * 201,
    "é" * 34,
    "\ud800",
    "Human",
    "Human-A.0",
    "Humane",
    "ref.12",
    "a b",
    "ａ",
    "a\u200db",
    "a\u202eb",
    "\u2800",
    "a/../b",
    "аbc",
    "rnodern",
)


def test_names_and_small_things_are_as_approved() -> None:
    facts = {
        name: [
            name_mistake(name),
            file_name_mistake(name),
            generator_name_mistake(name),
            board_name_mistake(name),
            deceiving_mistake(name),
            is_human(name),
            ascii(plain_name(name))[:60],
            *(mistake_in(kind, name) for kind in ("generator", "campaign", "scores", "instance")),
            *([file_name(name)[:60], folder_order(name)[:60]] if name != "\ud800" else []),
        ]
        for name in NAMES
    }
    alike = [("a", "A"), ("abc", "аbc"), ("modern", "rnodern"), ("l0", "1O"), ("a-b", "a_b"), ("a", "b"), ("w", "vv")]
    ids = ["A2M98OTRS1XX7F", "12345", "1234", "5f" * 12, "ann@example.org", "ann", "rater1", "W001", "ABCDEF"]
    board = document_board()
    shares = {share: replace(board, trust=TrustRules(private_share=share, private_seed=7)) for share in (0.1, 0.5, 0.9)}
    counts = {
        "whole": np.array([[3, 2, 1, 0], [300, 299, 298, 297], [0, 0, 0, 0]]),
        "large": np.array([[70000, -1], [2**40, 5]]),
        "broken": np.array([[0.5, 1.25]]),
    }
    approve(
        "small-things",
        {
            "names": {ascii(name): words for name, words in facts.items()},
            "named": [named(Path(f"{file_name(name)}.jsonl")) == name for name in ("a/b", ".x", "é", "a.b", "100%")],
            "alike": [[first, second, look_alike(first, second)] for first, second in alike],
            "ids": {name: is_platform_id(name) for name in ids},
            "pseudonyms": pseudonyms(ids),
            "more pseudonyms": pseudonyms([f"{k}" for k in range(99_990, 100_010)]),
            "pseudonym": [pseudonym("Ann", key)[:4] for key in (b"a", b"b")],
            "costs": {name: [cost.title, cost.unit, cost.head] for name, cost in COSTS.items()},
            "amounts": [amount_text(value) for value in (0, 0.001234, 9.996, 999.4, 999.5, 12345.6, 1e6, 7.25e9, 3e12)],
            "private": {
                str(share): [
                    [] if (hidden := private_instances(kept)) is None else hidden.tolist(),
                    len(without_private(replace(judged_board(), trust=kept.trust)).judgments),
                ]
                for share, kept in shares.items()
            },
            "counts": {
                name: [pack_counts(numbers)[:6].hex(" "), unpack_counts(pack_counts(numbers)).tolist()]
                for name, numbers in counts.items()
            },
            "damaged counts": [unpacked(raw) for raw in (b"", b"\x00" * 9, pack_counts(counts["whole"])[:-3])],
            "coverage": [str(coverage(judged_board(), source)) for source in (None, "score", "errors")]
            + [str(coverage(pairs(), "better")), str(coverage(pairs()))],
            "joined": board_words(
                replace(judged_board(), judgments=join_judgments(judged_board().judgments, renamed().judgments))
            )["judgments"][-3:],
        },
    )


def renamed() -> Board:
    board = judged_board()
    return replace(board, judgments=replace(board.judgments, campaigns=("autumn", "summer"), annotators=("bob", "cid")))


def unpacked(raw: bytes) -> str:
    try:
        return str(unpack_counts(raw).tolist())
    except ValueError as error:
        return str(error)
