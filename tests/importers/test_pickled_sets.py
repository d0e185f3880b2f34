"""Sets that are published as pickles, as their repositories are cloned: made-up ones, and the samples."""

from __future__ import annotations

import gzip
import json
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pickled_sets import darr_pairs, pickled_sets, scored
from public_sets import rated_documents, write_json

from billboards.board import Board, human_scores, preferred_pairs
from billboards.board.folder import open_board
from billboards.board.judgment_sources import Imported
from billboards.cli.main import main
from billboards.errors import ImportRefused
from billboards.importers import IMPORTERS

SETS = {name: (file, value) for name, file, value in pickled_sets()}


def dump(path: Path, value: Any, protocol: int = 3) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(value, protocol))
    return path


def load(kind: str, source: Path, **options: Any) -> Imported:
    return IMPORTERS.load(kind)(source, **options)


def people(board: Board, dimension: str | None = None) -> Any:
    shape = (len(board.rows), len(board.instances))
    return human_scores(board.judgments, board.aggregate(dimension), board.dimensions, shape)


def realsumm_clone(root: Path) -> Path:
    dump(
        root / "scores_dicts" / "abs.pkl", scored("abs", ("bart_out.txt", "t5_out_base.txt"), {"t5_out_base.txt": 1.0})
    )
    dump(root / "scores_dicts" / "ext.pkl", scored("ext", ("bart_out.txt", "refresh_out.txt")))
    return root


@pytest.mark.parametrize("name", SETS)
def test_a_clone_its_folder_and_its_file_are_one_board(name: str, tmp_path: Path) -> None:
    file, value = SETS[name]
    path = dump(tmp_path / file, value)
    boards = [load(name, source).board for source in (tmp_path, tmp_path / Path(file).parts[0], path.parent, path)]
    assert all(board.instances == boards[0].instances and len(board.judgments) for board in boards)
    assert [row.texts for row in boards[0].rows] == [row.texts for row in boards[3].rows]
    assert boards[0].missing_facts == ()


@pytest.mark.parametrize("protocol", range(6))
def test_every_protocol_gives_the_same_board(protocol: int, tmp_path: Path) -> None:
    for name, (file, value) in SETS.items():
        ours = load(name, dump(tmp_path / str(protocol) / file, value, protocol)).board
        theirs = load(name, dump(tmp_path / "usual" / file, value)).board
        assert (ours.instances, ours.card, ours.dimensions) == (theirs.instances, theirs.card, theirs.dimensions)
        assert [row.texts for row in ours.rows] == [row.texts for row in theirs.rows]


def test_a_system_in_both_files_of_realsumm_stays_two_and_is_noted(tmp_path: Path) -> None:
    found = load("realsumm", realsumm_clone(tmp_path / "REALSumm"))
    board = found.board
    assert [row.name for row in board.rows] == [
        "bart_out.txt (ext)",
        "bart_out.txt",
        "refresh_out.txt",
        "t5_out_base.txt",
    ]
    assert [row.generator.description for row in board.rows if row.generator] == [
        "extractive",
        "abstractive",
        "extractive",
        "abstractive",
    ]
    assert len(board.judgments) == 8
    places = set(zip(board.judgments.row.tolist(), board.judgments.instance.tolist(), strict=True))
    assert len(places) == 8, "no output is judged twice, so that nobody agrees with a copy"
    assert "equal texts of 2 of 2 documents; the two are kept apart, as bart_out.txt and bart_out.txt (ext)" in (
        " ".join(found.notes)
    )
    np.testing.assert_allclose(people(board), [[25, 50], [25, 50], [25, 50], [75, 100]])


def test_realsumm_s_released_scores_come_along(tmp_path: Path) -> None:
    found = load("realsumm", realsumm_clone(tmp_path))
    columns = {column.source_name: column for column in found.board.imported}
    assert list(columns) == ["bert_f_score", "js-2", "rouge_1_f_score"]
    assert all(column.higher_is_better and column.references == ("original",) for column in columns.values())
    assert columns["js-2"].values["bart_out.txt"].tolist() == [-0.625, -0.5]
    assert columns["bert_f_score"].values["refresh_out.txt"].tolist() == [float(np.float32(0.1))] * 2
    assert "3 metrics' scores came along" in " ".join(found.notes)


def test_realsumm_s_articles_are_the_lines_beside_equal_references(tmp_path: Path) -> None:
    root = realsumm_clone(tmp_path / "REALSumm")
    folder = root / "selected_docs_for_human_eval" / "abs" / "ptr_generator"
    folder.mkdir(parents=True)
    (folder / "src.txt").write_text("<t> article 0 </t>\n<t> article 1 </t>\n")
    (folder / "ref.txt").write_text("<t> reference 0 .it ends ü . </t>\n<t> reference 1 .it ends ü . </t>\n")
    assert [instance.input for instance in load("realsumm", root).board.instances] == ["article 1", "article 0"]
    (folder / "ref.txt").write_text("<t> reference 0 .it ends ü . </t>\n<t> of another document </t>\n")
    found = load("realsumm", root)
    assert [instance.input for instance in found.board.instances] == [None, None]
    assert "2 documents have no article" in " ".join(found.notes)


def test_realsumm_is_the_same_from_pickles_and_from_json(tmp_path: Path) -> None:
    for kind, systems in (("abs", ("bart_out.txt", "t5_out_base.txt")), ("ext", ("bart_out.txt", "refresh_out.txt"))):
        value = scored(kind, systems)
        dump(tmp_path / "pickles" / f"{kind}.pkl", value)
        lines = [json.dumps(item, default=float) + "\n" for item in value.values()]
        (tmp_path / "json").mkdir(exist_ok=True)
        (tmp_path / "json" / f"realsumm_{kind}.jsonl").write_text("".join(lines))
    ours, theirs = (load("realsumm", tmp_path / name).board for name in ("pickles", "json"))
    assert ours.instances == theirs.instances
    assert [(row.name, row.texts) for row in ours.rows] == [(row.name, row.texts) for row in theirs.rows]
    assert [column.source_name for column in ours.imported] == [column.source_name for column in theirs.imported]
    np.testing.assert_array_equal(people(ours), people(theirs))


def test_summeval_comes_as_a_pickle_with_scores_of_metrics(tmp_path: Path) -> None:
    people_s = dict.fromkeys(("coherence", "consistency", "fluency", "relevance"), 2.0)
    value = rated_documents(("M0", "M17"), {**people_s, "rouge1_f_src_hypo": 0.5, "bart_score_cnn_hypo_ref": -3.0})
    for item in value.values():
        item["ref_summs"] = [item["ref_summ"], "A worker's."]
    found = load("summeval", dump(tmp_path / "SummEval" / "final_p.pkl", value))
    assert [row.name for row in found.board.rows] == ["Lead-3", "T5"]
    assert found.board.reference_names == ("original", "crowd1")
    columns = {column.name: column for column in found.board.imported}
    assert (columns["rouge1_f_src_hypo"].needs_references, columns["rouge1_f_src_hypo"].needs_input) == (False, True)
    assert columns["bart_score_cnn_hypo_ref"].references == ("original", "crowd1")
    assert columns["bart_score_cnn_hypo_ref"].values["T5"].tolist() == [-3.0, -2.5, -2.0]


UNIEVAL: list[Mapping[str, Any]] = [
    {
        "doc_id": f"dm-test-{k}",
        "system_id": system,
        "source": f"Article {k}.",
        "reference": f"Highlights {k}.",
        "system_output": f"{system} {k}.",
        "scores": {"coherence": 2.0, "consistency": 5.0, "fluency": 3.0, "relevance": k + 1.0, "overall": 3.0},
    }
    for k in (0, 1)
    for system in ("M0", "M99")
]


def test_summeval_comes_as_unieval_s_records(tmp_path: Path) -> None:
    path = write_json(tmp_path / "UniEval" / "reproduce" / "data" / "summarization" / "summeval.json", UNIEVAL)
    found = load("summeval", tmp_path)
    assert [row.name for row in found.board.rows] == ["Lead-3", "M99"]
    assert found.board.imported == ()
    assert people(found.board, "relevance").tolist() == [[20.0, 40.0], [20.0, 40.0]]
    assert f"{path}: has one reference for each article" in " ".join(found.notes)
    predicted = [{**record, "predict_scores": {"coherence": 0.5}} for record in UNIEVAL]
    board = load("summeval", write_json(tmp_path / "summeval_result.json", predicted)).board
    assert [column.name for column in board.imported] == ["UniEval-coherence"]


def test_articles_come_with_summeval_s_annotations_once_they_are_paired(tmp_path: Path) -> None:
    from public_sets import make_summeval

    plain = make_summeval(tmp_path).files[0]
    lines = [json.loads(line) for line in plain.read_text().splitlines()]
    paired = tmp_path / "model_annotations.aligned.paired.jsonl"
    paired.write_text("".join(json.dumps(line) + "\n" for line in lines))
    plain.write_text("".join(json.dumps({k: v for k, v in line.items() if k != "text"}) + "\n" for line in lines))
    assert load("summeval", tmp_path).board.instances[0].input == "A long article é 1."
    paired.unlink()
    assert load("summeval", tmp_path).board.instances[0].input is None


def test_a_record_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportRefused, match="M0 on document 'dm-test-0' appears twice"):
        load("summeval", write_json(tmp_path / "summeval.json", [*UNIEVAL, UNIEVAL[0]]))


def test_keys_that_become_one_id_are_refused(tmp_path: Path) -> None:
    file, value = SETS["qags"]
    with pytest.raises(ImportRefused, match="document '1' appears twice"):
        load("qags", dump(tmp_path / file, {**value, "1": value[1]}))


def test_ratings_off_the_scale_or_missing_are_refused_with_their_place(tmp_path: Path) -> None:
    for rating, reason in ((7.0, r"coherence 7 lies outside \[1, 5\]"), ("2", "coherence '2' is not a number")):
        value = json.loads(json.dumps(SETS["newsroom"][1]))
        value["d1"]["sys_summs"]["lede3"]["scores"]["coherence"] = rating
        with pytest.raises(ImportRefused, match=rf"data\.pkl: document 'd1', lede3: {reason}"):
            load("newsroom", dump(tmp_path / "data.pkl", value))


def test_qags_has_no_references_and_one_system(tmp_path: Path) -> None:
    file, value = SETS["qags"]
    found = load("qags", dump(tmp_path / file, value).parent)
    assert (found.board.name, [row.name for row in found.board.rows]) == ("qags-xsum", ["BART"])
    assert (found.board.reference_names, found.board.instances[0].input) == ((), "é 0")
    assert "the references of 3 documents are the sources themselves and are left out" in " ".join(found.notes)
    assert people(found.board).tolist() == [[0.0, 50.0, 100.0]]


def test_qags_asks_which_articles_where_it_can_t_tell(tmp_path: Path) -> None:
    file, value = SETS["qags"]
    dump(tmp_path / file, value)
    dump(tmp_path / file.replace("XSUM", "CNN"), value)
    with pytest.raises(ImportRefused, match=r"several sets of QAGS: .*choose by --articles"):
        load("qags", tmp_path)
    assert load("qags", tmp_path, articles="cnn").board.card.title == "QAGS, CNN/DailyMail"
    with pytest.raises(ImportRefused, match="doesn't tell whose articles"):
        load("qags", dump(tmp_path / "x" / "scores.pkl", value))


def test_rank19_prefers_the_correct_sentence_and_does_not_tell_it_by_its_place(tmp_path: Path) -> None:
    value = rated_documents(("correct", "incorrect"), {"fact": 0.5, "bert_score_f_src_hypo": 0.5})
    value["d1"]["sys_summs"]["correct"]["sys_summ"] = "zebra"
    board = load("rank19", dump(tmp_path / "data.pkl", value)).board
    pairs = preferred_pairs(board, board.aggregate())
    texts = [board.rows[row].texts[at] for row, at in zip(pairs.better, pairs.instance, strict=True)]
    assert texts == ["correct says 0.", "zebra", "correct says 2."]
    assert pairs.better.tolist() == [0, 1, 0]
    assert board.generators == ()
    assert [column.name for column in board.imported] == ["bert_score_f_src_hypo"]


def test_dialogue_acts_share_an_instance_and_their_references_count_once(tmp_path: Path) -> None:
    file, value = SETS["bagel"]
    found = load("bagel", dump(tmp_path / file, {**value, 4: value[0]}))
    assert [instance.input for instance in found.board.instances] == ["inform(near='0')", "inform(near='1')"]
    assert [[reference.text for reference in each.references] for each in found.board.instances] == [
        ["One.", "Two."]
    ] * 2
    assert len(found.board.judgments) == 5
    notes = " ".join(found.notes)
    assert "5 references repeat another of their instance and are left out" in notes
    assert "1 outputs equal another of their instance; they are kept apart" in notes


def test_sfhot_comes_from_unieval_too(tmp_path: Path) -> None:
    records = [
        {
            "doc_id": k,
            "source": "confirm(area='x')",
            "reference": "X?",
            "system_output": f"{k}",
            "scores": {"informativeness": 4.5, "naturalness": 3.5, "overall": 4.0},
        }
        for k in (0, 1)
    ]
    board = load("sfhot", write_json(tmp_path / "sfhot.json", records)).board
    assert list(board.dimensions) == ["quality", "informativeness", "naturalness"]
    assert people(board, "quality").tolist() == [[60.0], [60.0]]


def test_pickled_pairs_of_translations_are_those_of_json(tmp_path: Path) -> None:
    value = darr_pairs()
    path = dump(tmp_path / "WMT" / "gu-en" / "data.pkl", value)
    lines = [
        {
            "src": pair["src"],
            "ref": pair["ref"],
            "better_sys": pair["better"]["sys_name"],
            "better": pair["better"]["sys"],
            "worse_sys": pair["worse"]["sys_name"],
            "worse": pair["worse"]["sys"],
        }
        for pair in value.values()
    ]
    text = tmp_path / "json" / "gu-en.jsonl"
    text.parent.mkdir()
    text.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ours, theirs = load("wmt19-darr", path).board, load("wmt19-darr", text).board
    assert (ours.name, ours.instances, ours.card) == (theirs.name, theirs.instances, theirs.card)
    assert [row.texts for row in ours.rows] == [row.texts for row in theirs.rows]
    assert preferred_pairs(ours, ours.aggregate()).better.tolist() == [0, 0, 0, 0]


def test_scores_of_translations_that_are_written_as_text_come_along(tmp_path: Path) -> None:
    board = load("wmt19-darr", dump(tmp_path / "gu-en" / "scores.pkl", darr_pairs(scores=True))).board
    columns = {column.name: column.values for column in board.imported}
    assert columns["bleu"]["NEU.1"].tolist() == [0.5, 1.5]
    assert columns["prism"]["online-0.0"].tolist() == [-2.0, -2.0]


def test_a_metric_s_score_that_is_no_number_is_absent_and_one_in_an_array_is_a_number(tmp_path: Path) -> None:
    value = rated_documents(("lede3",), dict.fromkeys(("coherence", "fluency", "informativeness", "relevance"), 2.0))
    for score, document in zip((float("nan"), np.array([0.5]), float("-inf")), value.values(), strict=True):
        document["sys_summs"]["lede3"]["scores"] |= {"prism": score, "fluency": np.array(3.0)}
    found = load("newsroom", dump(tmp_path / "data.pkl", value))
    np.testing.assert_array_equal(found.board.imported[0].values["lede3"], [np.nan, 0.5, np.nan])
    assert people(found.board, "fluency").tolist() == [[50.0, 50.0, 50.0]]
    assert "2 scores of metrics are no finite numbers and count as absent" in " ".join(found.notes)


def test_a_sentence_translated_in_two_ways_by_one_system_is_two_instances(tmp_path: Path) -> None:
    value = darr_pairs()
    value[1]["better"]["sys"] = "NEU says something else."
    found = load("wmt19-darr", dump(tmp_path / "gu-en" / "data.pkl", value))
    assert [instance.input for instance in found.board.instances] == ["ગુજ 0", "ગુજ 0", "ગુજ 1"]
    assert "1 sentences were translated in several ways by one system; each way is an instance" in " ".join(found.notes)


def test_several_language_pairs_ask_for_one(tmp_path: Path) -> None:
    for pair in ("gu-en", "kk-en"):
        dump(tmp_path / "WMT" / pair / "data.pkl", darr_pairs())
    with pytest.raises(ImportRefused, match="pairs of several languages: gu-en, kk-en; say --language-pair"):
        load("wmt19-darr", tmp_path)
    assert load("wmt19-darr", tmp_path, language_pair="kk-en").board.name == "wmt19-darr-kk-en"


def test_one_of_realsumm_s_files_alone_is_noted(tmp_path: Path) -> None:
    path = dump(tmp_path / "ext.pkl", scored("ext", ("bart_out.txt",)))
    notes = " ".join(load("realsumm", tmp_path).notes)
    assert f"{path}: holds the extractive systems alone; the abstractive ones are in a file abs" in notes


def test_a_pickle_whose_folder_is_no_language_pair_is_refused(tmp_path: Path) -> None:
    path = dump(tmp_path / "WMT" / "data.pkl", darr_pairs())
    with pytest.raises(ImportRefused, match="the folder's name must be its language pair, as in gu-en/data"):
        load("wmt19-darr", path)
    assert load("wmt19-darr", path, language_pair="gu-en").board.input_language == "gu"


def test_a_gzipped_pickle_is_read(tmp_path: Path) -> None:
    path = tmp_path / "data.pkl.gz"
    path.write_bytes(gzip.compress(pickle.dumps(SETS["newsroom"][1])))
    assert len(load("newsroom", path).board.judgments) == 3


SAMPLES = {
    ("realsumm", "REALSumm"): (3, 75, 75, 14),
    ("summeval", "BARTScore/SUM/SummEval"): (3, 48, 48, 0),
    ("newsroom", "BARTScore/SUM/Newsroom"): (3, 21, 21, 0),
    ("qags", "BARTScore/SUM/QAGS_CNN"): (3, 3, 3, 0),
    ("bagel", "BARTScore/D2T/BAGEL"): (3, 3, 3, 0),
    ("wmt19-darr", "BARTScore/WMT/gu-en"): (1, 4, 3, 0),
}


@pytest.mark.data
def test_the_whole_of_summeval_is_the_same_from_its_pickle(shared_data: Path, tmp_path: Path) -> None:
    source = shared_data / "summeval" / "summeval_src_refs_scores.jsonl"
    items = [json.loads(line) for line in source.read_text("utf-8").splitlines()]
    value = {item["doc_id"]: {name: part for name, part in item.items() if name != "doc_id"} for item in items}
    ours = load("summeval", dump(tmp_path / "SUM" / "SummEval" / "data.pkl", value)).board
    theirs = load("summeval", source).board
    assert (len(ours.instances), len(ours.rows), len(ours.judgments)) == (100, 16, 1_600)
    assert ours.instances == theirs.instances
    assert [(row.name, row.texts) for row in ours.rows] == [(row.name, row.texts) for row in theirs.rows]
    np.testing.assert_array_equal(people(ours), people(theirs))


@pytest.mark.data
def test_all_pairs_of_a_language_are_the_same_from_their_pickle(shared_data: Path, tmp_path: Path) -> None:
    source = shared_data / "wmt19_darr" / "kk-en.jsonl.gz"
    items = [json.loads(line) for line in gzip.decompress(source.read_bytes()).decode().splitlines()]
    value = {
        k: {"src": item["src"], "ref": item["ref"]}
        | {side: {"sys_name": item[f"{side}_sys"], "sys": item[side], "scores": {}} for side in ("better", "worse")}
        for k, item in enumerate(items)
    }
    ours = load("wmt19-darr", dump(tmp_path / "WMT" / "kk-en" / "data.pkl", value)).board
    theirs = load("wmt19-darr", source).board
    assert (ours.name, ours.instances, len(ours.judgments)) == (theirs.name, theirs.instances, 9_728)
    pairs = [preferred_pairs(board, board.aggregate()) for board in (ours, theirs)]
    np.testing.assert_array_equal(pairs[0].better, pairs[1].better)
    np.testing.assert_array_equal(pairs[0].instance, pairs[1].instance)


@pytest.mark.data
@pytest.mark.parametrize(("kind", "folder"), SAMPLES)
def test_the_plain_command_imports_a_clone_as_it_is(
    kind: str, folder: str, samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", kind, str(samples / folder), "-o", str(tmp_path / "board")]) == 0
    board = open_board(tmp_path / "board")
    outputs = sum(text is not None for row in board.rows for text in row.texts)
    assert (len(board.instances), outputs, len(board.judgments), len(board.imported)) == SAMPLES[kind, folder]
    assert board.missing_facts == ()
    assert f"{len(board.instances)} instances, {outputs} outputs" in "".join(capsys.readouterr())
