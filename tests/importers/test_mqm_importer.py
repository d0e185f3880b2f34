"""Raw MQM and SQM ratings: a board from the file alone, in the layouts of every year."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import numpy as np
import pytest

from billboards.board import Board, Judgment
from billboards.board.folder import open_board
from billboards.board.judgment_sources import Imported
from billboards.board.mqm_ratings import weight_of
from billboards.board.writing import write_board
from billboards.errors import ImportRefused
from billboards.importers import IMPORTERS

HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
LINES = (
    'hyp.A\ttalk.1\t1\t7\tr1\tQuelle "eins\tA said <v>"one</v>\tAccuracy/Mistranslation\tMajor',
    'hyp.A\ttalk.1\t1\t7\tr1\tQuelle "eins\tA <v>said</v> "one\tFluency/Punctuation\tMinor',
    'hyp.A\ttalk.1\t1\t7\tr2\t<v>Quelle</v> "eins\tA said "one\tAccuracy/Omission\tMinor',
    'hyp.A\ttalk.1\t1\t7\tr2\tQuelle "eins\tA said "one\tMissed\tHOTW-test',
    'refA\ttalk.1\t1\t7\tr1\tQuelle "eins\tOne, she said\tNo-error\tNo-error',
    "hyp.A\ttalk.1\t2\t8\tr1\tQuelle zwei\t<v>A said two</v>\tNon-translation!\tMajor",
    "hyp.A\ttalk.1\t2\t8\tr2\tQuelle zwei\t<v>A</v> said <v>two</v>\tStyle/Awkward\tNeutral",
    "refA\ttalk.1\t2\t8\tr1\tQuelle zwei\tTwo\tno-error\tno-error",
)


def mqm(source: Path, **options: object) -> Imported:
    imported = IMPORTERS.load("mqm")(source, **options)
    assert isinstance(imported, Imported)
    return imported


def tsv(path: Path, *lines: str, header: str | None = HEADER) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in ((header,) if header else ()) + lines), encoding="utf-8")
    return path


def said(board: Board) -> dict[tuple[str, str, str | None], Judgment]:
    ids, rows = tuple(i.id for i in board.instances), tuple(row.name for row in board.rows)
    return {(j.outputs[0], j.instance, j.annotator): j for j in board.judgments.each(ids, rows)}


def test_a_raw_file_alone_makes_a_board(tmp_path: Path) -> None:
    imported = mqm(tsv(tmp_path / "newstest2021" / "deen" / "mqm_newstest2021_deen.tsv", *LINES).parent)
    board = imported.board
    assert board.name == "mqm-newstest2021-deen"
    assert (board.input_language, board.output_language) == ("de", "en")
    assert [(i.id, i.input, i.document) for i in board.instances] == [
        ("talk.1::1", 'Quelle "eins', "talk.1"),
        ("talk.1::2", "Quelle zwei", "talk.1"),
    ]
    assert [(g.name, g.kind) for g in board.generators] == [("A", "machine"), ("refA", "human")]
    assert board.row("A").texts == ('A said "one', "A said two")
    assert [[r.name for r in i.references] for i in board.instances] == [["refA"], ["refA"]]
    values = {key: judgment.values["mqm"] for key, judgment in said(board).items()}
    assert values == {
        ("A", "talk.1::1", "r1"): pytest.approx(-5.1),
        ("A", "talk.1::1", "r2"): -1,
        ("A", "talk.1::2", "r1"): -25,
        ("A", "talk.1::2", "r2"): 0,
        ("refA", "talk.1::1", "r1"): 0,
        ("refA", "talk.1::2", "r1"): 0,
    }
    assert any("1 results of attention checks (HOTW-test), 0 found and 1 missed" in note for note in imported.notes)
    assert any("systems named hyp.NAME stand here as NAME" in note for note in imported.notes)
    assert board.dimensions["mqm"].range == (-25, 0)


def test_spans_are_kept_with_category_severity_and_place(tmp_path: Path) -> None:
    found = said(mqm(tsv(tmp_path / "mqm.tsv", *LINES)).board)
    assert found["A", "talk.1::1", "r1"].details["spans"] == [
        {"start": 2, "end": 6, "category": "Fluency/Punctuation", "severity": "minor"},
        {"start": 7, "end": 11, "category": "Accuracy/Mistranslation", "severity": "major"},
    ]
    (omission,) = found["A", "talk.1::1", "r2"].details["spans"]
    assert omission == {
        "start": 0, "end": 6, "category": "Accuracy/Omission", "severity": "minor", "missing": True
    }  # fmt: skip
    (both,) = found["A", "talk.1::2", "r2"].details["spans"]
    assert (both["start"], both["end"], both["parts"]) == (0, 10, [[0, 1], [7, 10]])
    assert "spans" not in found["refA", "talk.1::1", "r1"].details


@pytest.mark.parametrize(
    ("category", "severity", "weight"),
    [
        ("Accuracy/Mistranslation", "major", 5),
        ("Accuracy/Mistranslation", "critical", 5),
        ("Accuracy/Mistranslation", "minor", 1),
        ("Accuracy/Mistranslation", "neutral", 0),
        ("Fluency/Punctuation", "minor", 0.1),
        ("Fluency/Punctuation", "major", 5),
        ("punctuation", "minor", 0.1),
        ("Non-translation!", "major", 25),
        ("non_translation", "major", 25),
        ("Non-translation!", "neutral", 0),
        ("Non-translation!", "minor", 1),
        ("Source error", "major", 0),
        ("Source issue", "minor", 0),
        ("Accuracy/Creative Reinterpretation", "major", 0),
        ("No-error", "no-error", 0),
    ],
)
def test_weights_are_those_of_google_s_scoring(category: str, severity: str, weight: float) -> None:
    assert weight_of(category, severity) == weight


def test_columns_of_later_years_and_a_file_without_a_header_are_read_alike(tmp_path: Path) -> None:
    sound = said(mqm(tsv(tmp_path / "mqm.tsv", *LINES)).board)
    later = HEADER.replace("doc_id", "docSegId").replace("seg_id", "globalSegId") + "\tmetadata"
    with_metadata = [f'{line}\t{{"timing": "a \\"b"}}' for line in LINES]
    assert said(mqm(tsv(tmp_path / "later.tsv", *with_metadata, header=later)).board) == sound
    assert said(mqm(tsv(tmp_path / "unnamed.tsv", *with_metadata)).board) == sound
    assert said(mqm(tsv(tmp_path / "bare.tsv", *LINES, header=None)).board) == sound
    crlf = tmp_path / "crlf.tsv"
    crlf.write_bytes(b"\xef\xbb\xbf" + (tmp_path / "mqm.tsv").read_bytes().replace(b"\n", b"\r\n"))
    assert said(mqm(crlf).board) == sound
    packed = tmp_path / "packed.tsv.gz"
    packed.write_bytes(gzip.compress((tmp_path / "mqm.tsv").read_bytes()))
    assert said(mqm(packed).board) == sound


def test_a_rater_s_note_is_the_comment_on_the_error(tmp_path: Path) -> None:
    def read(metadata: str) -> dict[tuple[str, str, str | None], Judgment]:
        lines = [f"{line}\t{metadata}" for line in LINES]
        return said(mqm(tsv(tmp_path / "noted.tsv", *lines, header=f"{HEADER}\tmetadata")).board)

    noted = read('{"note": "a \\"b"}').values()
    spans = [span for judgment in noted for span in judgment.details.get("spans", ())]
    assert spans
    assert {span["comment"] for span in spans} == {'a "b'}
    plain = said(mqm(tsv(tmp_path / "mqm.tsv", *LINES)).board)
    for metadata in ('{"note": 3}', "{", "[1]", '{"note": "  "}'):
        assert read(metadata) == plain


def test_a_file_with_quoted_metadata_is_unquoted(tmp_path: Path) -> None:
    sound = said(mqm(tsv(tmp_path / "mqm.tsv", *LINES)).board)
    lines = []
    for line in LINES:
        cells = [f'"{cell.replace(chr(34), chr(34) * 2)}"' if '"' in cell else cell for cell in line.split("\t")]
        lines.append("\t".join((*cells, '"{""mqm"": 95.0}"')))
    assert said(mqm(tsv(tmp_path / "quoted.tsv", *lines, header=f"{HEADER}\tmisc")).board) == sound


def test_the_text_of_an_attention_check_is_nobody_s_output(tmp_path: Path) -> None:
    check = "B\td\t1\t1\tr1\ts\tThe spoiled School\tFound\tHOTW-test"
    real = "B\td\t1\t1\tr1\ts\tThe School\tNo-error\tNo-error"
    imported = mqm(tsv(tmp_path / "mqm.tsv", check, check, real))
    assert imported.board.row("B").texts == ("The School",)
    assert not any("variants" in note for note in imported.notes)
    with pytest.raises(ImportRefused, match="nothing but results of attention checks"):
        mqm(tsv(tmp_path / "checks.tsv", check))


def test_the_layout_with_twelve_columns_brings_its_reference(tmp_path: Path) -> None:
    header = (
        "year\tsource_lang\ttarget_lang\tdocument_id\tdoc_segment_id\tsystem_id\trater_id\tsource\treference\tcandidate"
        "\tcategory\tseverity"
    )
    line = "2022\ten\tzh\tdoc_1\t{k}\tM1\trater{k}\tHello {k}\t你好 {k}\t<v>您好</v> {k}\tlocale_convention/name\tminor"
    path = tsv(tmp_path / "mqm_generalMT2022.tsv", *(line.format(k=k) for k in (1, 2)), header=header)
    board = mqm(path).board
    assert (board.input_language, board.output_language) == ("en", "zh")
    assert [i.id for i in board.instances] == ["doc_1::1", "doc_1::2"]
    assert [(r.name, r.text) for r in board.instances[0].references] == [("reference", "你好 1")]
    assert said(board)["M1", "doc_1::2", "rater2"].values == {"mqm": -1.0}


def test_the_order_of_lines_does_not_matter(tmp_path: Path) -> None:
    sound = mqm(tsv(tmp_path / "sound" / "mqm.tsv", *LINES)).board
    for seed in range(5):
        lines = list(LINES)
        random.Random(seed).shuffle(lines)
        shuffled = mqm(tsv(tmp_path / str(seed) / "mqm.tsv", *lines)).board
        assert shuffled.version == sound.version


def test_a_board_of_raw_ratings_survives_being_written_and_opened(tmp_path: Path) -> None:
    board = mqm(tsv(tmp_path / "mqm.tsv", *LINES)).board
    assert open_board(write_board(board, tmp_path / "board")).version == board.version


def test_variants_of_a_text_are_settled_by_unmarked_lines(tmp_path: Path) -> None:
    doubled = "B\td\t1\t1\tr1\ts\tThe <v>School</v>School of Health\tStyle\tMajor"
    plain = "B\td\t1\t1\tr2\ts\tThe School of Health\tNo-error\tNo-error"
    imported = mqm(tsv(tmp_path / "mqm.tsv", doubled, plain))
    assert imported.board.row("B").texts == ("The School of Health",)
    (span,) = said(imported.board)["B", "d::1", "r1"].details["spans"]
    assert (span["start"], span["end"]) == (4, 10)
    assert any("1 outputs stand there in several variants, the first from line 2" in note for note in imported.notes)


def test_scores_below_minus_25_are_kept_and_open_the_scale(tmp_path: Path) -> None:
    lines = [f"B\td\t1\t1\tr1\ts\tt <v>{k}</v>\tStyle\tMajor" for k in range(7)]
    imported = mqm(tsv(tmp_path / "mqm.tsv", *lines))
    assert said(imported.board)["B", "d::1", "r1"].values == {"mqm": -35.0}
    assert imported.board.dimensions["mqm"].range is None
    assert any("the lowest score is -35; the scale is open" in note for note in imported.notes)


def test_segments_that_are_numbered_in_their_documents_keep_apart(tmp_path: Path) -> None:
    lines = [
        f"B\tdoc{d}\t{k}\t{k}\tr1\tsource {d}{k}\ttarget {d}{k}\tNo-error\tNo-error" for d in (1, 2) for k in (1, 2)
    ]
    board = mqm(tsv(tmp_path / "mqm.tsv", *lines)).board
    assert [i.id for i in board.instances] == ["doc1::1", "doc1::2", "doc2::1", "doc2::2"]


def test_released_averages_beside_the_ratings_are_compared(tmp_path: Path) -> None:
    path = tsv(tmp_path / "mqm_x_deen.tsv", *LINES)
    averages = (
        "system mqm_avg_score seg_id\nA\tNone 1\nhyp.A\t-3.050000 7\nA\t-12.500000 8\nrefA\t-0.000000 7\nrefA\t-1 8\n"
    )
    (tmp_path / "mqm_x_deen.avg_seg_scores.tsv").write_text(averages)
    assert any("3 of 4 released averages equal the means over raters" in note for note in mqm(path).notes)


def test_averages_alone_ask_for_a_board_and_raw_ratings_can_be_laid_on_one(tmp_path: Path) -> None:
    averages = tmp_path / "mqm_x.avg_seg_scores.tsv"
    averages.write_text("system mqm_avg_score seg_id\nA -1 1\n")
    with pytest.raises(ImportRefused, match="--into BOARD"):
        mqm(averages)
    with pytest.raises(ImportRefused, match="--into BOARD"):
        mqm(tmp_path)
    lines = [line.removeprefix("hyp.").replace("\t7\t", "\t1\t").replace("\t8\t", "\t2\t") for line in LINES]
    path = tsv(tmp_path / "raw" / "mqm.tsv", *lines)
    bare = mqm(path).board
    home = write_board(Board(name="bare", instances=bare.instances, rows=bare.rows, card=bare.card), tmp_path / "bare")
    laid = mqm(path, into=home).board
    assert said(laid) == said(bare)
    assert laid.ranks == "mqm"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Minor", "Tiny", "mqm.tsv:3: severity 'Tiny' is none of"),
        ("\ttarget\t", "\toutput\t", "mqm.tsv:1: has no column 'target'"),
        ("\trater\t", "\tsystem\t", "mqm.tsv:1: "),
        ("\tr1\t", "\t", "cells where 9 columns are"),
        ("hyp.A\ttalk.1\t2", "a/b\x07\ttalk.1\t2", "mqm.tsv:7: generator"),
    ],
)
def test_mistakes_are_named_with_file_and_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tsv(tmp_path / "mqm.tsv", *LINES)
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ImportRefused) as refused:
        mqm(path)
    assert message in str(refused.value)


def test_a_few_lines_of_another_width_are_left_out_with_a_note(tmp_path: Path) -> None:
    lines = [f"B\td\t{k}\t{k}\tr1\ts {k}\tt {k}\tNo-error\tNo-error" for k in range(1, 201)]
    lines.insert(100, "B\td\t300\t300\tr1\ts with\ta tab\tt\tNo-error\tNo-error\tand more")
    imported = mqm(tsv(tmp_path / "mqm.tsv", *lines))
    assert len(imported.board.instances) == 200
    assert any("left out 1 lines of another width, the first is line 102" in note for note in imported.notes)


def test_several_files_ask_for_one(tmp_path: Path) -> None:
    tsv(tmp_path / "a" / "mqm_a_deen.tsv", *LINES)
    tsv(tmp_path / "b" / "mqm_b_deen.tsv", *LINES)
    with pytest.raises(ImportRefused, match=r"several files of MQM ratings, a/mqm_a_deen\.tsv, b/mqm_b_deen\.tsv"):
        mqm(tmp_path)


def test_crowd_ratings_without_a_header_are_read(tmp_path: Path) -> None:
    path = tmp_path / "csqm_newstest2020_zhen.tsv"
    path.write_text('Human-A.0\td\t1\t1\tr1\t"s\tt\t6\nB.7\td\t1\t1\tr1\t"s\tu\t2.5\nB.7\td\t1\t1\tr2\t"s\tu\t0\n')
    board = IMPORTERS.load("psqm")(tmp_path).board
    assert {key: j.values for key, j in said(board).items()} == {
        ("B.7", "d::1", "r1"): {"sqm": 2.5},
        ("B.7", "d::1", "r2"): {"sqm": 0.0},
        ("Human-A.0", "d::1", "r1"): {"sqm": 6.0},
    }
    assert board.generator("Human-A.0").kind == "human"
    path.write_text("B.7\td\t1\t1\tr1\ts\tu\t7\n")
    with pytest.raises(ImportRefused, match=r"zhen\.tsv:1: sqm = '7' lies outside"):
        IMPORTERS.load("psqm")(tmp_path)


@pytest.mark.data
def test_the_sample_of_the_public_repository_gives_the_released_averages(shared_data: Path) -> None:
    imported = mqm(shared_data.parent / "samples" / "wmt-mqm-human-evaluation")
    board = imported.board
    assert (board.name, board.input_language, board.output_language) == ("mqm-ted-zhen", "zh", "en")
    assert [i.id for i in board.instances] == [f"talk.2::{k}" for k in range(1, 6)]
    assert {g.name for g in board.generators if g.kind == "human"} == {"ref", "refB"}
    means = board.judgments.means("mqm", (len(board.rows), len(board.instances)))
    # mqm_ted_zhen.avg_seg_scores.tsv, segments 84 to 88
    np.testing.assert_array_equal(means[board.row_position["Borderline"]], [-20, -1, 0, -6, -10])
    for judgment in said(board).values():
        text = board.row(judgment.outputs[0]).texts[board.position[judgment.instance]]
        for span in judgment.details.get("spans", ()):
            whole = board.instances[board.position[judgment.instance]].input if span.get("missing") else text
            assert 0 <= span["start"] <= span["end"] <= len(whole or "")
