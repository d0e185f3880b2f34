"""What only these formats can get wrong, on made-up files, and the counts and numbers of the real sets."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from public_sets import MAKERS, write_csv, write_json_lines

from billboards.board import human_scores, preferred_pairs
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused, InvalidInput
from billboards.importers import IMPORTERS
from billboards.reading import lacks_line_end

NONE = pytest.approx(np.nan, nan_ok=True)


def made(name: str, root: Path, **options: str) -> Imported:
    source = MAKERS[name](root)
    return IMPORTERS.load(name)(source.source, **{**source.options, **options})


def people(found: Imported, dimension: str) -> list[list[float]]:
    board = found.board
    shape = (len(board.rows), len(board.instances))
    values: list[list[float]] = human_scores(
        board.judgments, board.aggregate(dimension), board.dimensions, shape
    ).tolist()
    return values


def test_summeval_reads_every_rating_and_names_the_systems(tmp_path: Path) -> None:
    board = made("summeval", tmp_path).board
    assert [generator.name for generator in board.generators] == ["Lead-3", "M99", "T5"]
    assert board.reference_names == ("original", "crowd1")
    assert board.judgments.annotators == ("turker1", "expert1", "expert2")
    assert people(made("summeval", tmp_path), "coherence")[0] == [pytest.approx(220 / 3), pytest.approx(80.0)]


def test_summeval_also_comes_as_a_line_per_article_with_means(tmp_path: Path) -> None:
    scores = {"coherence": 2.5, "consistency": 5, "fluency": 4, "relevance": 3}
    item = {
        "doc_id": "a",
        "src": "s",
        "ref_summs": ["r0", "r1"],
        "sys_summs": {"M0": {"sys_summ": "x", "scores": scores}},
    }
    path = write_json_lines(tmp_path / "my_summeval.jsonl", [item])
    board = IMPORTERS.load("summeval")(path).board
    assert board.judgments.annotators == ()
    assert board.row("Lead-3").texts == ("x",)


def test_levels_become_two_dimensions_that_the_board_declares(tmp_path: Path) -> None:
    found = made("efficientqa", tmp_path)
    dimensions = found.board.dimensions
    assert (dimensions["correctness"].levels_of, dimensions["correctness"].at_least) == ("level", 1.0)
    assert people(found, "level") == [
        [100.0, 100.0],
        [0.0, 50.0],
        [0.0, 0.0],
        [NONE, 0.0],
    ]
    assert people(found, "correctness")[:2] == [[100.0, 100.0], [0.0, 100.0]]
    assert people(found, "obviousness")[:2] == [[100.0, 100.0], [0.0, 0.0]]


def test_a_caption_beside_its_own_image_is_a_reference_and_left_out(tmp_path: Path) -> None:
    found = made("flickr8k", tmp_path)
    assert found.board.position.keys() == {"a.jpg", "b.jpg", "c.jpg"}
    assert "left out 1 captions beside their own image" in " ".join(found.notes)
    assert people(found, "expert")[0][1] == 0.0
    assert people(found, "crowd")[0] == [pytest.approx(100 / 3), NONE, 100.0]


def test_votes_that_do_not_make_the_share_are_refused(tmp_path: Path) -> None:
    source = MAKERS["flickr8k"](tmp_path)
    source.files[2].write_text("a.jpg\tb.jpg#0\t0.5\t1\t2\n")
    with pytest.raises(ImportRefused, match=r"the share of yes is 0\.5, but 1 of 3 said so"):
        source.load("flickr8k")


def test_asset_is_aligned_by_number_and_checked_by_words(tmp_path: Path) -> None:
    assert people(made("asset", tmp_path), "meaning") == [[1.5, 21.5]]
    source = MAKERS["asset"](tmp_path / "other")
    text = source.files[-1].read_text("utf-8").replace("third é.", "something else.")
    source.files[-1].write_text(text, "utf-8")
    with pytest.raises(ImportRefused, match=r"original is not sentence 2 of asset\.test\.orig"):
        source.load("asset")


@pytest.mark.data
@pytest.mark.parametrize("name", ["asset/asset.test.orig", "asset/asset.test.simp.3", "webnlg2017/MRs.txt"])
def test_files_that_are_published_without_a_last_line_end_are_not_doubted(name: str, shared_data: Path) -> None:
    raw = (shared_data / name).read_bytes()
    assert not raw.endswith(b"\n")
    assert not lacks_line_end(raw)
    assert lacks_line_end(raw[:-1]), "one character less may be a file that was cut off"
    assert not lacks_line_end(raw + b"\n")


def test_compared_simplifications_are_no_references_of_their_sentence(tmp_path: Path) -> None:
    MAKERS["asset"](tmp_path)
    rows = [
        {
            "worker_id": "W1",
            "sentence_id": 0,
            "aspect": "simplicity",
            "source": "The recipient of the medal was presented",
            "other_dataset": "hsplit",
            "asset_simplification": "Ref 1, 0!",
            "other_simplification": "Another one.",
            "winner": winner,
        }
        for winner in ("asset",)
    ]
    rows.append({**rows[0], "aspect": "meaning", "winner": "similar"})
    write_csv(tmp_path / "pairwise_vs_turkcorpus_hsplit.csv", rows)
    board = IMPORTERS.load("asset")(tmp_path, judgments="pairwise").board
    assert [reference.name for reference in board.instances[0].references] == ["simp.0"]
    pairs = preferred_pairs(board, board.aggregate("simplicity"))
    assert [board.rows[k].texts[0] for k in (pairs.better[0], pairs.worse[0])] == ["Ref 1, 0!", "Another one."]
    assert preferred_pairs(board, board.aggregate("meaning")).tied.tolist() == [True]


def test_workers_scores_must_average_to_the_published_ones(tmp_path: Path) -> None:
    found = made("multi-summeval", tmp_path)
    assert (len(found.board.judgments), found.board.output_language) == (8 * 2 + 8, None)
    assert made("multi-summeval", tmp_path, language="de").board.output_language == "de"
    source = MAKERS["multi-summeval"](tmp_path / "other")
    clean = source.files[-2]
    clean.write_text(clean.read_text().replace("1.25", "1.75", 1))
    with pytest.raises(
        ImportRefused, match=r"workers' focus of BERT on DE-1 is 1\.2500, but the published mean 1\.0000"
    ):
        source.load("multi-summeval")


def test_an_unknown_choice_is_refused_with_those_there_are(tmp_path: Path) -> None:
    for name, options, choices in (
        ("flickr8k", {"judgments": "experts"}, "expert, crowd, all"),
        ("asset", {"judgments": "pairs"}, "ratings, pairwise"),
        ("webnlg-2020", {"language": "it"}, "en, ru"),
    ):
        with pytest.raises(InvalidInput, match=f"must be one of {choices}; found"):
            made(name, tmp_path / name, **options)


def test_pairs_of_translations_become_preferences(tmp_path: Path) -> None:
    board = made("wmt19-darr", tmp_path).board
    pairs = preferred_pairs(board, board.aggregate())
    names = [(board.rows[b].name, board.rows[w].name) for b, w in zip(pairs.better, pairs.worse, strict=True)]
    assert names == [("NEU.1", "UEDIN.2"), ("NEU.1", "online.0")] * 2
    assert (board.input_language, board.output_language) == ("gu", "en")


def test_pairs_that_are_stated_again_count_each_time_and_are_noted(tmp_path: Path) -> None:
    small = MAKERS["wmt19-darr"](tmp_path)
    assert "stated again" not in " ".join(small.load("wmt19-darr").notes)
    first = json.loads(small.source.read_text("utf-8").splitlines()[0])
    turned = {**first, **{f"better{end}": first[f"worse{end}"] for end in ("", "_sys")}}
    turned |= {f"worse{end}": first[f"better{end}"] for end in ("", "_sys")}
    with small.source.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(pair) + "\n" for pair in (first, turned))
    again = small.load("wmt19-darr")
    assert len(preferred_pairs(again.board, again.board.aggregate())) == 6
    assert "2 pairs are stated again or the other way round; each counts" in " ".join(again.notes)


def test_higher_scores_of_pascal_s_pairs_win_and_equal_ones_tie(tmp_path: Path) -> None:
    board = made("pascal-50s", tmp_path).board
    pairs = preferred_pairs(board, board.aggregate())
    assert pairs.tied.tolist() == [False, True]
    assert board.rows[pairs.better[0]].texts[0] == "dog"


def test_okvqa_s_low_numbers_are_the_good_ones(tmp_path: Path) -> None:
    assert people(made("okvqa-eval", tmp_path), "correctness") == [[50.0, 50.0]]
    assert people(made("okvqa-eval", tmp_path), "obviousness") == [[15.0, 20.0]]


def test_a_pickle_is_named_as_what_it_is_not(tmp_path: Path) -> None:
    (tmp_path / "pascal50s.json").write_bytes(b"\x80\x04\x95")
    with pytest.raises(ImportRefused, match="not UTF-8"):
        IMPORTERS.load("pascal-50s")(tmp_path)


REAL = {
    ("summeval", "summeval"): (100, 1600, 1600, 11),
    ("webnlg-2017", "webnlg2017"): (223, 2230, 6111, 3),
    ("flickr8k", "flickr8k"): (1000, 5664, 16992, 5),
    ("efficientqa", "efficientqa"): (1769, 5886, 5886, 17),
    ("multi-summeval", "multi_summeval"): (1080, 2160, 11880, 1),
    ("asset", "asset"): (100, 100, 4500, 10),
}


@pytest.mark.parametrize(("kind", "folder"), REAL)
def test_the_real_set_has_the_size_its_authors_state(kind: str, folder: str, shared_data: Path) -> None:
    board = IMPORTERS.load(kind)(shared_data / folder).board
    outputs = sum(text is not None for row in board.rows for text in row.texts)
    assert (len(board.instances), outputs, len(board.judgments), len(board.reference_names)) == REAL[kind, folder]


def test_the_real_pairs_of_translations_are_all_there(shared_data: Path) -> None:
    board = IMPORTERS.load("wmt19-darr")(shared_data / "wmt19_darr", language_pair="kk-en").board
    pairs = preferred_pairs(board, board.aggregate())
    assert (len(pairs), len(board.instances), len(board.generators)) == (9728, 964, 7)
    assert not pairs.tied.any()


def test_webnlg_s_means_are_those_of_the_averaged_release(shared_data: Path) -> None:
    import csv

    found = IMPORTERS.load("webnlg-2017")(shared_data / "webnlg2017")
    board = found.board
    shape = (len(board.rows), len(board.instances))
    ours = board.judgments.means(board.dimensions["semantics"], shape)
    place = {instance.input: k for k, instance in enumerate(board.instances)}
    with (shared_data / "webnlg2017" / "all_data_final_averaged.csv").open(encoding="utf-8") as file:
        theirs = [(board.row_position[r["team"]], place[r["mr"]], float(r["semantics"])) for r in csv.DictReader(file)]
    assert len(theirs) == 2230
    assert max(abs(ours[row, k] - value) for row, k, value in theirs) < 1e-12


def test_a_folder_that_is_no_clone_of_multi_summeval_is_refused_with_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(
        ImportRefused, match="holds neither annotation_result nor resulting_data; give a clone of fajri91/"
    ):
        IMPORTERS.load("multi-summeval")(tmp_path)
