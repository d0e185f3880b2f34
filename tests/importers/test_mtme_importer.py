"""The mt-metrics-eval layout, in and out."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from billboards.board import Board, Generator, Instance, Reference, human_scores, loose_rows
from billboards.errors import ImportRefused, InvalidInput, UnknownName
from billboards.importers._assembling import generator_rows, score_column
from billboards.importers.mtme import NO_TRANSLATION, export_board, mtme

FILES = {
    "sources/en-de.txt": "one\ntwo\nthree\n",
    "documents/en-de.docs": "news\td1\nnews\td1\nsocial d2\n",
    "references/en-de.refA.txt": "a1\na2\na3\n",
    "references/en-de.refB.txt": "b1\nb2\nb3\n",
    "system-outputs/en-de/refA.txt": "a1\na2\na3\n",
    "system-outputs/en-de/S1.txt": f"\ufeffs1\n{NO_TRANSLATION}\ns3\n",
    "system-outputs/en-de/S2.txt": "t1\n\nt3\n",
    "human-scores/en-de.mqm.seg.score": "S1\t-1\nS1\tNone\nS1\t-3\nS2\t-4\nS2\t-5\nS2\t-6.5\n",
    "human-scores/en-de.da.2.seg.score": "S2 60\nS2 70\nS2 80\n",
    "human-scores/en-de.mqm.sys.score": "S1\t-2\n",
    "metric-scores/en-de/BLEU-refA.seg.score": "S1\t1\nS1\t2\nS1\t3\nS2\t4\nS2\t5\nS2\t6\n",
    "metric-scores/en-de/BLEU-refA.refB.seg.score": "S1\t1\nS1\tNone\nS1\t3\n",
    "metric-scores/en-de/C-x-all.seg.score": "S1\t1\nS1\t2\nS1\t3\n",
    "metric-scores/en-de/QE-src.seg.score": "S1\t1\nS1\t2\nS1\t3\n",
    "metric-scores/en-de/SYSTEMLEVEL-refA.sys.score": "S1\t1\n",
}


def make(root: Path, changed: dict[str, str | bytes | None] | None = None) -> Path:
    folder = root / "wmt99"
    contents: dict[str, str | bytes | None] = {**FILES, **(changed or {})}
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is not None:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def refused(root: Path, changed: dict[str, str | bytes | None]) -> str:
    with pytest.raises(ImportRefused) as refusal:
        mtme(make(root, changed))
    return str(refusal.value)


def test_a_test_set_becomes_a_board(tmp_path: Path) -> None:
    found = mtme(make(tmp_path))
    board = found.board
    assert (board.name, board.input_language, board.output_language) == ("wmt99-en-de", "en", "de")
    assert [i.id for i in board.instances] == ["d1::1", "d1::2", "d2::1"]
    assert [i.domain for i in board.instances] == ["news", "news", "social"]
    assert board.instances[1].references == (Reference("refA", "a2"), Reference("refB", "b2"))
    assert {g.name: g.kind for g in board.generators} == {"S1": "machine", "S2": "machine", "refA": "human"}
    assert board.row("S1").texts == ("s1", None, "s3")
    assert board.row("S2").texts == ("t1", "", "t3")
    assert "no segment scores, so not imported: SYSTEMLEVEL-refA" in found.notes


def test_a_board_is_named_after_its_folder_in_letters_that_a_folder_may_have(tmp_path: Path) -> None:
    folder = make(tmp_path)
    assert mtme(folder.rename(tmp_path / "wmt 99 (copy)")).board.name == "wmt-99-copy--en-de"


def test_a_metrics_references_are_in_its_name(tmp_path: Path) -> None:
    columns = mtme(make(tmp_path)).board.imported
    assert {c.name: (c.source_name, c.references, c.needs_references, c.needs_input) for c in columns} == {
        "BLEU-refA": ("BLEU-refA", ("refA",), True, False),
        "BLEU-refA.refB": ("BLEU-refA.refB", ("refA", "refB"), True, False),
        "C-x-all": ("C-x-all", ("refA", "refB"), True, False),
        "QE-src": ("QE-src", (), False, True),
    }
    both = next(c for c in columns if c.name == "BLEU-refA.refB")
    assert np.isnan(both.values["S1"]).tolist() == [False, True, False]


def test_each_human_score_is_a_dimension_and_a_campaign(tmp_path: Path) -> None:
    board = mtme(make(tmp_path)).board
    assert (set(board.dimensions), board.ranks) == ({"mqm", "da.2"}, "mqm")
    assert set(board.judgments.campaigns) == {"mqm", "da.2"}
    assert mtme(make(tmp_path), judgments="da.2").board.ranks == "da.2"
    with pytest.raises(UnknownName, match="no human score named 'mqn'; did you mean mqm"):
        mtme(make(tmp_path), judgments="mqn")


def test_a_language_pair_must_be_chosen_where_there_are_several(tmp_path: Path) -> None:
    folder = make(tmp_path, {"sources/zh-en.txt": "一\n", "system-outputs/zh-en/S.txt": "one\n"})
    with pytest.raises(ImportRefused, match="holds 2 language pairs, en-de, zh-en; choose with --language-pair"):
        mtme(folder)
    board = mtme(folder, language_pair="zh-en", name="chosen").board
    assert (board.name, [i.id for i in board.instances], board.ranks) == ("chosen", ["1"], None)
    with pytest.raises(UnknownName, match="no language pair named 'de-en'"):
        mtme(folder, language_pair="de-en")


def test_gzipped_scores_are_read_and_a_cut_off_one_is_refused(tmp_path: Path) -> None:
    plain = FILES["metric-scores/en-de/QE-src.seg.score"].encode()
    packed = gzip.compress(plain)
    name = "metric-scores/en-de/QE2-src.seg.score.gz"
    assert len(mtme(make(tmp_path / "sound", {name: packed})).board.imported) == 5
    assert "QE2-src.seg.score.gz: can't be read" in refused(tmp_path / "cut", {name: packed[:-9]})
    assert "QE2-src.seg.score.gz: can't be read" in refused(tmp_path / "plain", {name: plain})
    twice = {"metric-scores/en-de/QE-src.seg.score.gz": packed}
    assert "holds QE-src.seg.score and QE-src.seg.score.gz" in refused(tmp_path / "twice", dict(twice))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("sources/en-de.txt", "\n\n\n", "en-de.txt:1: holds empty lines only"),
        ("documents/en-de.docs", "news\td1\n\nsocial\td2\n", "docs:2: must hold a domain and a document"),
        ("human-scores/en-de.mqm.seg.score", "\n", "score:1: holds no score"),
        ("human-scores/en-de.mqm.merged.seg.rating", "S1\tgood\n", "rating:1: must hold None or"),
        ("human-scores/en-de.mqm.merged.seg.rating", 'S1\t{"errors": 3}\n', "rating:1: must hold None or"),
        ("human-scores/en-de.mqm.merged.seg.rating", "S1 None\n", "rating:1: must hold a system, a tab and a rating"),
        (
            "human-scores/en-de.mqm.merged.seg.rating",
            'S1\tNone\nS1\t{"errors": [{"category": "\\ud800"}]}\n',
            "rating:2: must hold None or",
        ),
        ("human-scores/en-de.mqm.seg.score", "S1\n", "score:1: must hold a system and a score; found 'S1'"),
        ("metric-scores/en-de/QE-src.seg.score", "S1 1\nS1 x\nS1 3\n", "score:2: score 'x' is not a finite number"),
        ("metric-scores/en-de/QE-src.seg.score", "S1 1\nS1 inf\nS1 3\n", "score:2: score 'inf' is not"),
    ],
)
def test_a_damaged_test_set_is_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    assert message in refused(tmp_path, {name: content})


@pytest.mark.parametrize(
    ("name", "content", "note"),
    [
        ("system-outputs/en-de/S2.txt", "t1\nt2\n", "S2.txt: left out, as it has 2 lines where the sources have 3"),
        ("system-outputs/en-de/S2.txt", "t1\nt2\nt3\n\n\n", "S2.txt: 2 empty lines at the end were left out"),
        ("system-outputs/en-de/S2.txt", "t1\nt2\nt", "S2.txt: the last line has no line end"),
        ("references/en-de.refA.txt", "a\nb\nc\nd\n", "refA.txt: left out, as it has 4 lines where the sources have 3"),
        ("documents/en-de.docs", "news\td1\n", "docs: left out, as it has 1 lines where the sources have 3"),
        ("human-scores/en-de.mqm.seg.score", "S1\t-1\nS1\t-2\n", "left out 2 scores of S1, as there are 3 segments"),
        ("human-scores/en-de.mqm.seg.score", "S9\t1\nS9\t1\nS9\t1\n", "left out scores of S9: no outputs in"),
        (
            "human-scores/en-de.mqm.seg.score",
            "S1\tNone\n" * 3,
            "mqm.seg.score: left out, as it has no score",
        ),
        (
            "metric-scores/en-de/M-refC.seg.score",
            "S1 1\n" * 3,
            "M-refC name references that are not here (refC)",
        ),
        ("metric-scores/en-de/M.seg.score", "S1 1\n" * 3, "scores of M name references that are not here (M)"),
        ("human-scores/en-de.esa.merged.seg.rating", "S1\tNone\n", "error spans without scores of segments"),
        ("human-scores/en-de.mqm.merged.seg.rating", "S1\tNone\n", "left out the error spans of S1: not as many"),
    ],
)
def test_what_can_t_be_used_is_left_out_with_a_note(tmp_path: Path, name: str, content: str, note: str) -> None:
    notes = mtme(make(tmp_path, {name: content})).notes
    assert [text for text in notes if note in text], notes


def test_scores_against_an_absent_reference_are_kept_as_such(tmp_path: Path) -> None:
    board = mtme(make(tmp_path, {"metric-scores/en-de/M.1-x-refC.seg.score": "S1 1\n" * 3})).board
    column = next(c for c in board.imported if c.name == "M.1-x-refC")
    assert (column.references, column.needs_references) == ((), True)


def test_error_spans_and_a_single_rater_come_with_the_score(tmp_path: Path) -> None:
    error = {"start": 0, "end": 1, "category": "style", "severity": "minor", "score": 1.0, "is_source_error": False}
    source = {**error, "score": 3, "is_source_error": True, "start": None, "severity": "major"}
    lines = [f"S1\t{json.dumps({'errors': [error]})}\trater1\n", "S1\tNone\n", "S1\tNone\n"]
    lines += [f"S2\t{json.dumps({'errors': [error, source]})}\trater2\n", 'S2\t{"errors": []}\trater2\n', "S2\tNone\n"]
    board = mtme(make(tmp_path, {"human-scores/en-de.mqm.merged.seg.rating": "".join(lines)})).board
    each = board.judgments.each(tuple(i.id for i in board.instances), tuple(row.name for row in board.rows))
    said = {(j.outputs[0], j.instance): j for j in each if j.campaign == "mqm"}
    first = said["S1", "d1::1"]
    assert (first.annotator, first.details["spans"]) == (
        "rater1",
        [{"start": 0, "end": 1, "category": "style", "severity": "minor"}],
    )
    assert said["S2", "d1::1"].annotator == "rater2"
    assert said["S2", "d1::1"].details["spans"][1] == {"category": "style", "severity": "major", "missing": True}
    # The score -5 doesn't follow from no errors: the layout doesn't say who gave it.
    assert (said["S2", "d1::2"].annotator, dict(said["S2", "d1::2"].details)) == (None, {})
    export_board(board, tmp_path / "out", language_pair="en-de")
    again = mtme(tmp_path / "out").board
    assert [d["spans"] for d in again.judgments.details.values()] == [
        d["spans"] for d in board.judgments.details.values()
    ]


def test_several_raters_files_are_told_apart(tmp_path: Path) -> None:
    error = {"start": 0, "end": 1, "category": "style", "severity": "minor", "score": 1.0}
    rating = f"S1\t{json.dumps({'errors': [error]})}\nS1\tNone\nS1\tNone\n"
    files = {f"human-scores/en-de.mqm.rater{k}.seg.rating": rating for k in (1, 2)}
    board = mtme(make(tmp_path, dict(files))).board
    (detail,) = board.judgments.details.values()
    assert [span["rater"] for span in detail["spans"]] == ["rater1", "rater2"]
    assert not board.judgments.annotators


@pytest.mark.parametrize(
    ("names", "ranks"),
    [
        (("wmt-z", "wmt-raw"), "wmt-raw"),
        (("wmt-appraise", "mqm-rater1", "mqm"), "mqm"),
        (("esa", "wmt-z"), "esa"),
        (("da-sqm",), "da-sqm"),
        (("mqm-rater1", "zz"), "mqm-rater1"),
    ],
)
def test_each_year_s_own_human_scores_rank(tmp_path: Path, names: tuple[str, ...], ranks: str) -> None:
    files: dict[str, str | bytes | None] = dict.fromkeys(n for n in FILES if n.startswith("human"))
    files |= {f"human-scores/en-de.{name}.seg.score": "S1 1\nS1 2\nS1 3\n" for name in names}
    assert mtme(make(tmp_path, files)).board.ranks == ranks


def test_the_root_of_all_test_sets_is_searched_for_the_pair(tmp_path: Path) -> None:
    make(tmp_path / "mt-metrics-eval-v2")
    other = tmp_path / "mt-metrics-eval-v2" / "wmt98"
    for name, text in {"sources/zh-en.txt": "一\n", "system-outputs/zh-en/S.txt": "one\n"}.items():
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        (other / name).write_text(text)
    for root in (tmp_path, tmp_path / "mt-metrics-eval-v2"):
        assert mtme(root, language_pair="en-de").board.name == "wmt99-en-de"
        assert mtme(root, test_set="wmt98").board.name == "wmt98-zh-en"
        with pytest.raises(ImportRefused, match="2 test sets hold language pairs: wmt98, wmt99; choose"):
            mtme(root)
    with pytest.raises(UnknownName, match="no test set named 'wmt97'"):
        mtme(tmp_path, test_set="wmt97")


def test_pairs_with_a_country_and_people_s_rows_without_a_reference(tmp_path: Path) -> None:
    files = {
        "sources/en-sr_Cyrl_RS.txt": "one\n",
        "system-outputs/en-sr_Cyrl_RS/S.txt": "jedan\n",
        "system-outputs/en-sr_Cyrl_RS/refB.txt": "jedan\n",
        "system-outputs/en-sr_Cyrl_RS/Human-B.0.txt": "jedan\n",
    }
    board = mtme(make(tmp_path, dict(files)), language_pair="en-sr_Cyrl_RS").board
    assert (board.input_language, board.output_language) == ("en", "sr")
    assert {g.name: g.kind for g in board.generators} == {"S": "machine", "refB": "human", "Human-B.0": "human"}


def test_a_folder_without_sources_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportRefused, match=r"has no sources/LANGUAGE-PAIR\.txt"):
        mtme(tmp_path)


def test_what_is_exported_is_imported_again(tmp_path: Path) -> None:
    board = mtme(make(tmp_path), name="same").board
    export_board(board, tmp_path / "out")
    again = mtme(tmp_path / "out", name="same").board
    assert (again.instances, again.rows, again.dimensions) == (board.instances, board.rows, board.dimensions)
    assert [row.texts for row in again.rows] == [row.texts for row in board.rows]
    assert again.judgments.version == board.judgments.version
    assert [c.signature for c in again.imported] == [c.signature for c in board.imported]


def test_a_statistic_stays_one_there_and_back(tmp_path: Path) -> None:
    scores = "S1\t1\nS1\t2\nS1\t3\n"
    changed: dict[str, str | bytes | None] = {
        f"metric-scores/en-de/{name}-src.seg.score": scores for name in ("length", "repetition-3", "lengthy")
    }
    board = mtme(make(tmp_path, changed), name="same").board
    told = {column.source_name: column.is_statistic for column in board.imported}
    assert {name for name, is_statistic in told.items() if is_statistic} == {"length-src", "repetition-3-src"}
    export_board(board, tmp_path / "out")
    assert {c.source_name: c.is_statistic for c in mtme(tmp_path / "out").board.imported} == told


def test_names_that_no_board_folder_can_hold_are_refused_at_once(tmp_path: Path) -> None:
    long = "m" * 210
    assert "is too long" in refused(tmp_path, {f"metric-scores/en-de/{long}-refA.seg.score": "S1\t1\nS1\t2\nS1\t3\n"})


def test_system_scores_are_means_over_what_is_there(tmp_path: Path) -> None:
    export_board(mtme(make(tmp_path)).board, tmp_path / "out")
    lines = (tmp_path / "out/human-scores/en-de.mqm.sys.score").read_text().splitlines()
    assert lines == ["S1\t-2.0", f"S2\t{-15.5 / 3!r}"]
    assert (tmp_path / "out/human-scores/en-de.mqm.seg.score").read_text().splitlines()[1] == "S1\tNone"


def test_a_folder_that_exists_is_kept_and_nothing_half_written_stays(tmp_path: Path) -> None:
    board = mtme(make(tmp_path)).board
    with pytest.raises(InvalidInput, match="exists already"):
        export_board(board, tmp_path / "wmt99")
    instance = replace(board.instances[0], input="two\nlines")
    with pytest.raises(InvalidInput, match="the input of 'd1::1' holds a line end"):
        export_board(replace(board, instances=(instance, *board.instances[1:])), tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["wmt99"]


def small(**references: str) -> Board:
    instances = (Instance("i", references=tuple(Reference(*one) for one in references.items()), input="in"),)
    texts = {"G.1": ("out",), "Human-A": ("ref",)}
    generators = {name: Generator(name) for name in texts}
    return Board(
        name="small",
        instances=instances,
        rows=generator_rows(generators, instances, dict(texts)),
    )


def test_names_of_references_lose_what_the_layout_forbids(tmp_path: Path) -> None:
    board = small(**{"Human-A": "ref", "v1.0": "other"})
    export_board(board, tmp_path / "out", language_pair="en-de")
    again = mtme(tmp_path / "out").board
    assert again.reference_names == ("Human_A", "v1_0")
    assert {g.name: g.kind for g in again.generators} == {"G.1": "machine", "Human_A": "human"}
    assert again.instances[0].id == "all::1"


@pytest.mark.parametrize(
    ("references", "pair", "message"),
    [
        ({}, None, "'-' is no language pair; give one such as en-de"),
        ({"a b": "x"}, "en-de", "'a b' can't be a name in mtme's layout"),
        ({"all": "x"}, "en-de", "'all' can't be a name"),
        ({"v-1": "x", "v.1": "y"}, "en-de", "two systems or references would be named 'v_1'"),
    ],
)
def test_a_board_that_does_not_fit_the_layout_is_refused(
    tmp_path: Path, references: dict[str, str], pair: str | None, message: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        export_board(small(**references), tmp_path / "out", language_pair=pair)
    assert message in str(refusal.value)


def test_columns_of_scores_are_named_by_their_references_and_never_overwritten(tmp_path: Path) -> None:
    board = small(A="x", B="y")
    values = {"G.1": np.array([0.5])}
    columns = [
        score_column("my metric", values, references=("A", "B")),
        score_column("length", values, needs_references=False),
    ]
    export_board(replace(board, imported=tuple(columns)), tmp_path / "out", language_pair="en-de")
    names = sorted(path.name for path in (tmp_path / "out/metric-scores/en-de").glob("*.seg.score"))
    assert names == ["length-src.seg.score", "my_metric-A.B.seg.score"]
    columns.append(score_column("my_metric", values, references=("A", "B")))
    with pytest.raises(InvalidInput, match=r"two columns of scores would be named my_metric-A\.B"):
        export_board(replace(board, imported=tuple(columns)), tmp_path / "again", language_pair="en-de")


def test_outputs_without_a_generator_have_no_place_in_the_layout(tmp_path: Path) -> None:
    board = small()
    loose = replace(board, rows=loose_rows(board.instances, [("i", "x", "text")]))
    with pytest.raises(InvalidInput, match="has outputs without a generator"):
        export_board(loose, tmp_path / "out", language_pair="en-de")


@pytest.mark.long
@pytest.mark.data
def test_wmt23_en_de_is_complete_and_goes_there_and_back(shared_data: Path, tmp_path: Path) -> None:
    source = shared_data / "mtme_wmt23_en-de"
    board = mtme(source, name="wmt23").board
    machines = [k for k, row in enumerate(board.rows) if row.generator and row.generator.kind == "machine"]
    assert (len(machines), len(board.rows), len(board.instances), len(board.imported)) == (12, 14, 557, 68)
    assert (board.row("AIRC").texts[0] or "\ufeff")[0] != "\ufeff"
    targets = json.loads((shared_data.parent / "targets/wmt23_en-de.json").read_text())["metrics"]
    shape = (len(board.rows), len(board.instances))
    judged = human_scores(board.judgments, board.aggregate(), board.dimensions, shape)[machines]
    for name in ("BERTscore-refA", "BLEU-refA", "COMET-refA"):
        column = next(c for c in board.imported if c.name == name)
        scores = np.array([column.values[board.rows[k].name] for k in machines])
        there = ~np.isnan(judged)
        assert round(float(np.corrcoef(scores[there], judged[there])[0, 1]), 6) == targets[name]["pearson"]
    export_board(board, tmp_path / "out")
    again = mtme(tmp_path / "out", name="wmt23").board
    assert (again.instances, again.rows, again.judgments.version) == (
        board.instances,
        board.rows,
        board.judgments.version,
    )
    assert [c.signature for c in again.imported] == [c.signature for c in board.imported]
    name = "human-scores/en-de.mqm.seg.score"
    assert sorted(blocks(tmp_path / "out" / name).items()) == sorted(blocks(source / name).items())
    sums = blocks(source / "human-scores/en-de.mqm.sys.score")
    for system, [mean] in blocks(tmp_path / "out/human-scores/en-de.mqm.sys.score").items():
        assert mean == pytest.approx(sums[system][0])


def blocks(path: Path) -> dict[str, list[float | None]]:
    found: dict[str, list[float | None]] = {}
    for line in path.read_text().splitlines():
        system, score = line.split("\t")
        found.setdefault(system, []).append(None if score == "None" else float(score))
    return found
