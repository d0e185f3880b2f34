"""Public repositories as they are cloned: samples as they lie, the data at hand laid out so, and what may be odd."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pascal_clone import pascal_clone
from public_sets import MAKERS, WEBNLG_DIMENSIONS, write_csv, write_json, write_lines

from billboards.board import Slice, human_scores, preferred_pairs
from billboards.board.folder import open_board
from billboards.board.judgment_sources import Imported
from billboards.board.writing import write_board
from billboards.errors import ImportRefused, UnknownName
from billboards.importers import IMPORTERS


@pytest.fixture(scope="session")
def samples(shared_data: Path) -> Path:
    return shared_data.parent / "samples"


def read(kind: str, source: Path, **options: Any) -> Imported:
    return IMPORTERS.load(kind)(source, **options)


def link(target: Path, path: Path) -> None:
    """Put a file of the data at hand where a clone has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


# Pascal-50S


def test_a_pair_of_captions_is_an_instance_with_category_systems_and_votes(tmp_path: Path) -> None:
    imported = read("pascal-50s", pascal_clone(tmp_path))
    board = imported.board
    assert [instance.id for instance in board.instances] == ["a-HC", "a-HI", "b-HM", "b-MM"]
    assert [len(instance.references) for instance in board.instances] == [0, 0, 2, 2]
    assert {generator.name: generator.kind for generator in board.generators} == {
        "human": "human",
        "human-2": "human",
        "machine1": "machine",
        "machine3": "machine",
        "machine5": "machine",
        "random-human": "human",
    }
    pairs = preferred_pairs(board, board.aggregate())
    assert pairs.tied.tolist() == [False, False, True, False]
    better = [board.rows[row].name for row in pairs.better]
    assert (better[0], better[1], better[3]) == ("human", "human", "machine1")
    assert board.judgments.details[0]["votes"] == {"human": 2, "human-2": 1}
    assert board.judgments.details[3]["votes"] == {"machine1": 2, "machine5": 0}
    assert board.select(Slice(domain="HC")) == (0,)
    notes = " ".join(imported.notes)
    assert "left out 1 pairs of a caption with itself, the first of them pair 5 (b.jpg, 'Sun.')" in notes
    assert "1 pairs have as many votes for the one as for the other; they are ties" in notes
    assert "has no references of 1 images, first a.jpg" in notes


def test_votes_survive_being_written_and_opened(tmp_path: Path) -> None:
    board = read("pascal-50s", pascal_clone(tmp_path / "in")).board
    opened = open_board(write_board(board, tmp_path / "out"))
    assert opened.judgments.details[0]["votes"] == {"human": 2, "human-2": 1}
    assert opened.judgments.version == board.judgments.version


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"category": np.ones((1, 3))}, "5 pairs, but new_data is .5, 2., category .1, 3. and result 5"),
        ({"category": np.array([[1, 2, 3, 4, 9]])}, "pair 5: systems .1, 2. and category 9 are not of the set"),
        ({"new_data": np.full((5, 2), 8)}, "pair 1: systems .8, 8."),
        ({"new_data": np.full((5, 2), 1.5)}, "new_data must be whole numbers"),
        ({"category": np.full((1, 5), np.inf)}, "category must be whole numbers"),
        ({"new_input": "text"}, "new_input must be a struct array; found 'text'"),
        ({"result": np.array([[1, 2]])}, "result must be a struct array"),
    ],
)
def test_pairs_that_are_not_what_they_should_be_are_refused(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ImportRefused, match=rf"pair_pascal\.mat: {message}"):
        read("pascal-50s", pascal_clone(tmp_path, **changes))


def test_a_vote_for_a_third_caption_is_refused(tmp_path: Path) -> None:
    results = np.zeros((1, 5), [("result", "O")])
    for k in range(5):
        results[0, k] = (np.array([[1, 2]]),)
    with pytest.raises(ImportRefused, match="pair 1: its votes must be 1 or -1"):
        read("pascal-50s", pascal_clone(tmp_path, result=results))


def test_a_clone_without_its_references_is_refused_by_name(tmp_path: Path) -> None:
    clone = pascal_clone(tmp_path)
    (clone / "data" / "pascal50S.mat").unlink()
    with pytest.raises(ImportRefused, match=r"pascal50S\.mat: no such file"):
        read("pascal-50s", clone)


def test_lists_of_captions_leave_equal_ones_out(tmp_path: Path) -> None:
    value = {"reference": [["A dog."]] * 4, "candidate": ["dog", "dog", "dog", "cat"], "score": [1, 0, 1, 0]}
    imported = read("pascal-50s", write_json(tmp_path / "pascal50s.json", value))
    assert len(imported.board.judgments) == 1
    assert "left out 1 pairs of a caption with itself" in imported.notes[-2]
    assert "1 captions were in an earlier pair of their image" in imported.notes[-1]


@pytest.mark.data
def test_the_sample_of_cider_matlab_imports_as_it_is(samples: Path) -> None:
    board = read("pascal-50s", samples / "cider-matlab").board
    assert Counter(instance.domain for instance in board.instances) == {"HI": 4, "HC": 1, "HM": 1}
    assert board.judgments.details[1]["votes"] == {"human": 4, "human-2": 7}
    pairs = preferred_pairs(board, board.aggregate())
    assert [board.rows[row].name for row in pairs.better] == ["human", "human-2", "human", "human", "human", "human"]


# WebNLG 2020


def test_workers_ratings_stand_as_they_were_given_and_the_reference_is_a_person(tmp_path: Path) -> None:
    imported = MAKERS["webnlg-2020"](tmp_path).load("webnlg-2020")
    board = imported.board
    assert [(row.name, row.texts) for row in board.rows] == [
        ("Other", ("Other 1", "Other 3")),
        ("Some_Team", ("Some Team 1", "Some Team 3")),
        ("WebNLG-2020-reference", (None, "F3 is by G.")),
    ]
    assert board.generator("WebNLG-2020-reference").kind == "human"
    assert board.judgments.annotators == ("en_worker_1", "en_worker_3")
    values = human_scores(board.judgments, board.aggregate("Fluency"), board.dimensions, (3, 2))
    assert values.tolist() == [[14.0, 34.0]] * 3
    notes = " ".join(imported.notes)
    assert "its 30 means are the plain means of the workers' ratings" in notes
    assert "its text is known on 1 of 2 samples" in notes
    assert board.is_reference(board.row("WebNLG-2020-reference"), board.references)


def test_the_corpus_may_lie_elsewhere(tmp_path: Path) -> None:
    MAKERS["webnlg-2020"](tmp_path)
    shutil.move(tmp_path / "webnlg-dataset", tmp_path / "apart" / "webnlg-dataset")
    with pytest.raises(ImportRefused, match="name its clone by --corpus"):
        read("webnlg-2020", tmp_path / "challenge-2020")
    imported = read("webnlg-2020", tmp_path / "challenge-2020", corpus=tmp_path / "apart" / "webnlg-dataset")
    assert len(imported.board.judgments) == 12


def test_means_alone_are_read_and_called_what_they_are(tmp_path: Path) -> None:
    made = MAKERS["webnlg-2020"](tmp_path)
    for path in made.files[1:4]:
        path.unlink()
    raw = made.load("webnlg-2020").board
    assert raw.dimensions["Fluency"].range == (0.0, 100.0)
    assert (len(raw.judgments), raw.judgments.annotators) == (6, ())
    ratings = json.loads(made.files[0].read_text())
    ratings[0]["Fluency"] = -0.5
    write_json(made.files[0], ratings)
    standardised = made.load("webnlg-2020").board
    assert standardised.dimensions["Fluency"].range is None
    assert "Standardised by worker" in str(standardised.dimensions["Fluency"].definition)


def test_ratings_and_corpus_that_disagree_on_a_category_are_read_by_number(tmp_path: Path) -> None:
    made = MAKERS["webnlg-2020"](tmp_path)
    made.files[0].write_text(made.files[0].read_text().replace('"Film"', '"Airport"'))
    imported = made.load("webnlg-2020")
    assert {instance.domain for instance in imported.board.instances} == {"Film"}
    assert "disagree on category or size of 2 of 2 samples, first 1" in " ".join(imported.notes)


@pytest.mark.parametrize(
    ("ratings", "message"),
    [
        ({"1": {"w": dict.fromkeys(WEBNLG_DIMENSIONS, 101)}}, "sample 1, w: .* must be numbers from 0 to 100"),
        ({"1": {"w": 5}}, "sample 1, w: "),
        ({"1": {"w": {"Fluency": "good"}}}, "sample 1, w: "),
        ({"first": {"w": {}}}, "sample 'first' must have ratings by worker"),
        ({"9": {"w": dict.fromkeys(WEBNLG_DIMENSIONS, 1)}}, r"refs-en\.xml: has no entry 9"),
        ([], "must hold ratings by sample and worker"),
    ],
)
def test_a_team_s_ratings_that_are_none_are_refused(tmp_path: Path, ratings: Any, message: str) -> None:
    made = MAKERS["webnlg-2020"](tmp_path)
    write_json(made.files[2], ratings)
    with pytest.raises(ImportRefused, match=message):
        made.load("webnlg-2020")


def test_a_worker_who_gave_no_rating_and_lines_too_many_are_noted(tmp_path: Path) -> None:
    made = MAKERS["webnlg-2020"](tmp_path)
    ratings = json.loads(made.files[2].read_text())
    ratings["1"]["en_worker_9"] = {"Fluency": None, "feedback": "I can't tell."}
    write_json(made.files[2], ratings)
    for submission in made.files[-2:]:
        submission.write_text(submission.read_text() + "A fourth line\n\n")
    imported = made.load("webnlg-2020")
    notes = " ".join(imported.notes)
    assert "1 workers gave no rating of a text they saw" in notes
    assert "1 remarks in workers' own words are left out" in notes
    assert "4 lines a team, and the test set has 3 entries; a line is the sample of its number" in notes
    assert "en_worker_9" not in imported.board.judgments.annotators
    made.files[-1].write_text("One line\n")
    with pytest.raises(ImportRefused, match=r"primary\.en: (4|1) lines where other teams have (1|4)"):
        made.load("webnlg-2020")
    made.files[-2].write_text("One line\n")
    with pytest.raises(ImportRefused, match="Other has no line 3 among the submissions"):
        made.load("webnlg-2020")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_entities_are_refused_in_whatever_encoding_they_come(tmp_path: Path, encoding: str) -> None:
    made = MAKERS["webnlg-2020"](tmp_path)
    corpus = next(path for path in made.files if path.suffix == ".xml")
    corpus.write_bytes('<!DOCTYPE x [<!ENTITY a "b">]><benchmark><entries/></benchmark>'.encode(encoding))
    with pytest.raises(ImportRefused, match=r"refs-en\.xml: declares entities"):
        made.load("webnlg-2020")


@pytest.mark.data
@pytest.mark.parametrize(("language", "judgments", "disagreeing"), [("en", 23, 0), ("ru", 27, 3)])
def test_the_sample_of_webnlg_2020_imports_as_it_is(
    samples: Path, language: str, judgments: int, disagreeing: int
) -> None:
    imported = read("webnlg-2020", samples / "webnlg2020", language=language)
    board, notes = imported.board, " ".join(imported.notes)
    assert [instance.id for instance in board.instances] == ["3", "29", "34"]
    assert (len(board.generators), len(board.judgments)) == (3, judgments)
    assert ("disagree on category or size of 3 of 3" in notes) == bool(disagreeing)
    said = "45 means are the plain means" if language == "en" else "they are standardised by worker"
    assert said in notes
    assert "means alone, no worker's own ratings" in notes


# ASSET, Multi-SummEval, WebNLG 2017, Flickr8k, EfficientQA


@pytest.mark.data
def test_asset_imports_under_the_names_of_its_repository(shared_data: Path, tmp_path: Path) -> None:
    for path in (shared_data / "asset").glob("asset.test.*"):
        link(path, tmp_path / "dataset" / path.name)
    link(shared_data / "asset" / "human_ratings.csv", tmp_path / "human_ratings" / "human_ratings.csv")
    rows = (shared_data / "asset" / "pairwise_vs_turkcorpus_hsplit.csv").read_text("utf-8")
    compared = tmp_path / "human_ratings" / "asset_pairwise_comparisons_with_turkcorpus_and_hsplit.csv"
    compared.write_text(rows.replace("W001", "A2TBXASXZIRNNW").replace("W002", "A1ATL3G98SFW4V"), "utf-8")
    assert len(read("asset", tmp_path).board.judgments) == 4500
    board = read("asset", tmp_path, judgments="pairwise").board
    plain = read("asset", shared_data / "asset", judgments="pairwise").board
    assert len(board.judgments) == len(plain.judgments)
    assert sorted(board.judgments.annotators) == sorted(plain.judgments.annotators)


def summaries_clone(root: Path, *, mturk: bool = True) -> Path:
    """English, whose workers' keys name its corpus, and German; the same person worked on both."""
    for language, corpus in (("DE", "DE"), ("EN", "CNNDM")):
        data = root / "resulting_data" / language
        for kind in ("gold", "pred_BERT", "pred_PG"):
            for k in (0, 12):
                write_lines(data / kind / f"{k}", [f"{kind} {k}."])
        rows = [(k, model) for k in (0, 12) for model in ("BERT", "PG")]
        write_csv(data / "score.csv", [{"id": k, "model": m, "focus": k + 0.5, "coverage": -0.5} for k, m in rows])
        if mturk:
            results = root / "mturk" / "annotation_result" / language
            for dimension, score in (("focus", 0.5), ("coverage", -0.5)):
                final = [{"id": k, "model": m, "score": k + score if dimension == "focus" else score} for k, m in rows]
                write_csv(results / f"human_{dimension}_final.csv", final)
            answers = {f"{corpus}-{k}-REFERENCE-SYSTEM-{m}": k + 0.5 for k, m in rows}
            answers |= {f"{corpus}-{k}-SYSTEM-REFERENCE-{m}": -0.5 for k, m in rows}
            worker = {"worker_id": "A2LAWUYEMWODHH", "assignment_id": f"3W{language}", "annotation_res": answers}
            write_csv(results / "analysis_clean.csv", [worker])
    (root / "resulting_data" / "DE" / "gold" / ".DS_Store").write_bytes(b"\0")
    return root


def test_summaries_of_all_languages_are_read_from_a_clone(tmp_path: Path) -> None:
    board = read("multi-summeval", summaries_clone(tmp_path)).board
    assert [instance.id for instance in board.instances] == ["DE-0", "DE-12", "EN-0", "EN-12"]
    assert (len(board.judgments), board.judgments.annotators) == (16, ("W001",))
    assert board.row("PG").texts == ("pred_PG 0.", "pred_PG 12.") * 2


def test_a_language_s_scores_alone_are_means(tmp_path: Path) -> None:
    imported = read("multi-summeval", summaries_clone(tmp_path, mturk=False))
    assert (len(imported.board.judgments), imported.board.judgments.annotators) == (16, ())
    assert "only mean scores" in " ".join(imported.notes)


def test_a_worker_s_answers_of_another_language_are_refused(tmp_path: Path) -> None:
    path = summaries_clone(tmp_path) / "mturk" / "annotation_result" / "DE" / "analysis_clean.csv"
    path.write_text(path.read_text().replace("DE-0-", "FR-0-"))
    with pytest.raises(ImportRefused, match=r"analysis_clean\.csv:2: 'FR-0-REFERENCE-SYSTEM-BERT' is no summary"):
        read("multi-summeval", tmp_path)


@pytest.mark.long
@pytest.mark.data
def test_the_real_summaries_import_from_single_files(shared_data: Path, tmp_path: Path) -> None:
    home = shared_data / "multi_summeval"
    link(home / "annotation_result", tmp_path / "mturk" / "annotation_result")
    with (home / "texts.jsonl").open(encoding="utf-8") as file:
        for item in map(json.loads, file):
            for kind in ("gold", "pred_BERT", "pred_PG"):
                path = tmp_path / "resulting_data" / item["lang"] / kind / str(item["doc_id"])
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(item[kind], "utf-8")
    cloned, listed = read("multi-summeval", tmp_path).board, read("multi-summeval", home).board
    assert cloned.version == listed.version


@pytest.mark.data
def test_the_challenge_s_own_scores_come_along_and_its_workers_have_pseudonyms(
    shared_data: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "data" / "webnlg2017" / "webnlg-human-evaluation-master"
    for path in (shared_data / "webnlg2017").iterdir():
        link(path, folder / path.name)
    imported = read("webnlg-2017", tmp_path)
    board = imported.board
    columns = {column.name: column for column in board.imported}
    assert list(columns) == ["webnlg-bleu", "webnlg-meteor", "webnlg-ter"]
    assert len(columns["webnlg-ter"].values) == 9
    assert not columns["webnlg-ter"].higher_is_better
    ours = [float(values.max()) for values in columns["webnlg-ter"].values.values()]
    assert max(ours) == -9.091
    assert len(board.judgments.annotators) == 253
    assert all(name.startswith("W") for name in board.judgments.annotators)
    notes = " ".join(imported.notes)
    assert "ratings don't say whose they are" in notes
    assert "the challenge's own bleu, meteor, ter come along, but for webnlg, which is a reference itself" in notes


@pytest.mark.data
def test_captions_and_answers_are_found_where_their_repositories_have_them(shared_data: Path, tmp_path: Path) -> None:
    for path in (shared_data / "flickr8k").glob("*.txt"):
        link(path, tmp_path / "captions" / "data" / "Flickr8k_text" / path.name)
    assert len(read("flickr8k", tmp_path / "captions").board.judgments) == 16992
    name = "NQ-open.efficientqa.test.1.1.jsonl"
    link(shared_data / "efficientqa" / name, tmp_path / "natural-questions" / "nq_open" / name)
    for other in ("dev.1.1", "dev.1.1.sample", "test.1.1.no-annotations"):
        write_lines(tmp_path / "natural-questions" / "nq_open" / f"NQ-open.efficientqa.{other}.jsonl", ["{}"])
    assert len(read("efficientqa", tmp_path / "natural-questions").board.judgments) == 5886


# PAWS-QQP


def test_sentences_are_read_from_bytes_and_from_text(tmp_path: Path) -> None:
    board = MAKERS["paws"](tmp_path).load("paws").board
    assert [instance.references[0].text for instance in board.instances] == ["Who is Ann ?", "Aä ?", "C ?"]
    assert board.rows[0].texts == ("Is it Ann who 's here ?", "Plain é ?", "D ?")
    assert board.judgments.values.ravel().tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("4\tb'x' + b'y'\tb'z'\t1", ":5: begins like bytes in Python's notation and is none"),
        ("4\tb'x\tb'z'\t1", ":5: begins like bytes"),
        ("4\tb'\\xff'\tb'z'\t1", ":5: its bytes are not UTF-8"),
        ("4\tb'\\x'\tb'z'\t1", ":5: begins like bytes"),
        ("4\tb''\tb'z'\t1", ":5: a sentence is empty"),
        ("4\tA\tB\t2", ":5: label must be 0 or 1; found '2'"),
        ("4\tA\tB", ":5: 3 fields where the first line has 4"),
        ("1\tA\tB\t1", ":5: id '1' appears twice, first on line 2"),
        ("4\tb'" + "(" * 100_000 + "'\tA\tx", ":5: label must be 0 or 1"),
    ],
)
def test_a_pair_that_is_none_is_refused_with_its_line(tmp_path: Path, line: str, message: str) -> None:
    made = MAKERS["paws"](tmp_path)
    made.files[0].write_text(made.files[0].read_text("utf-8") + line + "\n", "utf-8")
    with pytest.raises(ImportRefused, match=rf"dev_and_test\.tsv{message}"):
        made.load("paws")


def test_a_sentence_beside_itself_is_left_out(tmp_path: Path) -> None:
    made = MAKERS["paws"](tmp_path)
    made.files[0].write_text(made.files[0].read_text("utf-8") + "4\tb'Same ?'\tSame ?\t1\n", "utf-8")
    imported = made.load("paws")
    assert len(imported.board.instances) == 3
    assert "left out 1 pairs of a sentence with itself" in imported.notes[-1]


@pytest.mark.data
def test_the_real_pairs_of_questions_have_the_size_their_authors_state(shared_data: Path, tmp_path: Path) -> None:
    link(shared_data / "paws_qqp" / "dev_and_test.tsv", tmp_path / "data" / "paws_qqp" / "dev_and_test.tsv")
    board = read("paws", tmp_path).board
    assert Counter(board.judgments.values.ravel().tolist()) == {0.0: 486, 1.0: 191}
    assert not any(text and text.startswith("b'") for text in board.rows[0].texts)


# Error Span Annotation


def test_spoiled_items_stand_apart_and_a_person_has_one_pseudonym(tmp_path: Path) -> None:
    imported = MAKERS["esa"](tmp_path).load("esa")
    board = imported.board
    assert [instance.id for instance in board.instances] == ["12", "13"]
    assert [reference.text for instance in board.instances for reference in instance.references] == [
        "refA 11",
        "refA 12",
    ]
    assert {generator.name: generator.kind for generator in board.generators} == {
        "AIRC": "machine",
        "ONLINE-B": "machine",
        "refA": "human",
    }
    values = human_scores(board.judgments, board.aggregate("esa"), board.dimensions, (3, 2))
    assert values.tolist() == [[69.0, 48.0], [76.0, 55.0], [83.0, 62.0]]
    assert [detail["test"] for detail in board.judgments.details.values() if "test" in detail] == ["BAD"]
    assert board.judgments.annotators == ("W001",)
    assert "6 answers; 1 more to spoiled items stand apart as test questions, and 1 of the tutorial" in " ".join(
        imported.notes
    )


def test_marked_errors_are_weighed_in_a_campaign_of_mqm(tmp_path: Path) -> None:
    made = MAKERS["esa"](tmp_path)
    scores = made.files[0]
    text = scores.read_text("utf-8").replace('""error_type"": null', '""error_type"": [""Accuracy"", ""Addition""]')
    (scores.parent / "240315rc5MQM.scores.csv").write_text(text, "utf-8")
    board = made.load("esa").board
    assert set(board.aggregates) == {"esa", "mqm-campaign"}
    values = human_scores(board.judgments, board.aggregate("mqm-campaign"), board.dimensions, (3, 2))
    assert values.tolist() == [[0.0, -5.0], [-5.0, 0.0], [0.0, -5.0]]
    only = read("esa", tmp_path, campaign="240315rc5MQM").board
    assert set(only.dimensions) == {"mqm"}


@pytest.mark.parametrize(
    ("severity", "kind", "weight"),
    [("minor", "Fluency, Punctuation", 0.1), ("minor", "Addition", 1.0), ("major", "Punctuation", 5.0)],
)
def test_minor_punctuation_weighs_a_tenth_of_another_minor_error(
    tmp_path: Path, severity: str, kind: str, weight: float
) -> None:
    made = MAKERS["esa"](tmp_path)
    marked = f'""severity"": ""{severity}"", ""error_type"": ""{kind}""'
    text = made.files[0].read_text("utf-8").replace('""severity"": ""major"", ""error_type"": null', marked)
    (made.files[0].parent / "240315rc5MQM.scores.csv").write_text(text, "utf-8")
    board = made.load("esa").board
    values = human_scores(board.judgments, board.aggregate("mqm-campaign"), board.dimensions, (3, 2))
    assert values.tolist() == [[0.0, -weight], [-weight, 0.0], [0.0, -weight]]


def test_answers_to_other_batches_are_refused_when_asked_for_and_else_left_out(tmp_path: Path) -> None:
    made = MAKERS["esa"](tmp_path)
    scores = made.files[0]
    (scores.parent / "240520rc6ESA.scores.csv").write_text(scores.read_text("utf-8").replace("doc#", "other#"), "utf-8")
    imported = made.load("esa")
    notes = " ".join(imported.notes)
    assert "left out campaign 240520rc6ESA: " in notes
    assert "240520rc6ESA.scores.csv: its answers are not to the items of any batches at hand (esa)" in notes
    with pytest.raises(ImportRefused, match="fetch this campaign's batches"):
        read("esa", tmp_path, campaign="240520rc6ESA")
    with pytest.raises(UnknownName, match="no campaign named 'ESA'"):
        read("esa", tmp_path, campaign="ESA")


def test_a_campaign_that_fails_in_the_middle_leaves_nothing_behind(tmp_path: Path) -> None:
    made = MAKERS["esa"](tmp_path)
    alone = made.load("esa").board
    scores = made.files[0]
    broken = scores.read_text("utf-8").replace(",48,", ",480,")
    (scores.parent / "240520rc6ESA.scores.csv").write_text(broken, "utf-8")
    imported = made.load("esa")
    assert imported.board.version == alone.version
    assert "left out campaign 240520rc6ESA: " in " ".join(imported.notes)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (0, ",83,", ",900,", r"240315rc5ESA\.scores\.csv:2: score 900 lies outside \[0, 100\]"),
        (1, '"targetText": "AIRC 11"', '"targetText": 5', "batch 1, item 4 lacks its texts or ids"),
        (1, '"_item": "AIRC | 11 | doc"', '"_item": "AIRC | x | doc"', "batch 1, item 4 lacks its texts or ids"),
        (1, '"sourceText": "Source 11', '"sourceText": "Sauce 11', r"scores\.csv:3: segment 12 has two sources"),
    ],
)
def test_a_campaign_that_is_none_is_refused(tmp_path: Path, file: int, old: str, new: str, message: str) -> None:
    made = MAKERS["esa"](tmp_path)
    text = made.files[file].read_text("utf-8")
    assert old in text
    made.files[file].write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(ImportRefused, match=message):
        made.load("esa")


@pytest.mark.data
def test_the_campaign_s_scores_are_those_of_its_published_segments(shared_data: Path) -> None:
    board = read("esa", shared_data / "esa_campaign").board
    assert (len(board.instances), len(board.rows), len(board.judgments)) == (207, 13, 2705 + 397)
    ours = board.judgments.means("score", (13, 207))
    published: dict[tuple[str, int], float] = {}
    counted: Counter[str] = Counter()
    for text in (shared_data / "esa_campaign" / "en-de.ESA-1.seg.score").read_text().splitlines():
        system, score = text.split()
        counted[system] += 1
        if score != "None":
            published[system, counted[system]] = float(score)
    pairs = [
        (published[row.name, int(instance.id)], ours[r, k])
        for r, row in enumerate(board.rows)
        for k, instance in enumerate(board.instances)
    ]
    # Eleven translations stood in two batches; the release has one of their scores, the board the mean of both.
    assert sum(abs(theirs - own) < 1e-9 for theirs, own in pairs) == 2691 - 11
