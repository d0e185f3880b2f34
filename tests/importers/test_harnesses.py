"""What harnesses logged becomes a board: models are generators, samples instances, scores columns."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from importer_sources import MAKERS, make_inspect_log, make_lm_eval
from public_sets import write_json_lines

from billboards.board.writing import write_board
from billboards.errors import InvalidInput
from billboards.importers import IMPORTERS
from billboards.importers._harness import plain_text

HARNESSES = {"helm": "exact_match", "inspect-log": "match", "lm-eval": "exact_match", "openai-evals": "correct"}


@pytest.mark.parametrize("name", [*HARNESSES, "hf-dataset"])
def test_models_are_generators_and_scores_are_columns(name: str, tmp_path: Path) -> None:
    board = MAKERS[name](tmp_path).load(name).board
    by_model = {row.name.rpartition("_")[2]: row for row in board.rows}
    assert set(by_model) == {"good", "poor"}
    assert by_model["good"].texts == ("Paris", "4")
    assert [instance.input for instance in board.instances] == ["capital of France?", "two and two?"]
    assert [[r.text for r in instance.references] for instance in board.instances] == [["Paris"], ["4"]]
    (column,) = board.imported
    assert column.name == HARNESSES.get(name, "exact_match")
    assert list(column.values[by_model["poor"].name]) == [0.0, 0.0]
    if name != "hf-dataset":
        assert list(column.values[by_model["good"].name]) == [1.0, 1.0]


def test_one_filter_of_several_is_read(tmp_path: Path) -> None:
    made = make_lm_eval(tmp_path)
    for path in made.files:
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        strict = [{**line, "filter": "strict", "filtered_resps": ["[none]"], "exact_match": 0.0} for line in lines]
        write_json_lines(path, [*lines, *strict])
    plain = made.load("lm-eval").board
    assert plain.rows[0].texts == ("Paris", "4")
    strict_board = IMPORTERS.load("lm-eval")(made.source, filter="strict").board
    assert strict_board.rows[0].texts == ("[none]", "[none]")


def test_several_tasks_are_refused_with_their_names(tmp_path: Path) -> None:
    made = make_lm_eval(tmp_path)
    made.files[0].with_name("samples_sums_2026-01-01T10-00-00.000000.jsonl").write_bytes(made.files[0].read_bytes())
    with pytest.raises(InvalidInput, match="several tasks; say --task with one of facts, sums"):
        made.load("lm-eval")
    assert IMPORTERS.load("lm-eval")(made.source, task="facts").board.name == "facts"


def test_choices_by_log_likelihood_are_their_numbers(tmp_path: Path) -> None:
    item = {"doc_id": 0, "target": "1", "arguments": [["Which?", " a"], ["Which?", " b"]]}
    item |= {"resps": [[[-3.0, False]], [[-1.0, True]]], "filtered_resps": [[-3.0, False], [-1.0, True]]}
    path = write_json_lines(tmp_path / "model" / "samples_choice_2026-01-01T10-00-00.jsonl", [item])
    (row,) = IMPORTERS.load("lm-eval")(path).board.rows
    assert row.texts == ("1",)


def test_an_eval_archive_says_what_the_json_log_does(tmp_path: Path) -> None:
    made = make_inspect_log(tmp_path / "json")
    sound = made.load("inspect-log").board
    folder = tmp_path / "eval"
    folder.mkdir()
    for path in made.files:
        log = json.loads(path.read_text())
        with zipfile.ZipFile(folder / f"{path.stem}.eval", "w") as archive:
            archive.writestr("header.json", json.dumps({key: log[key] for key in ("version", "status", "eval")}))
            for sample in log["samples"]:
                archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    board = IMPORTERS.load("inspect-log")(folder).board
    assert [(row.name, row.texts) for row in board.rows] == [(row.name, row.texts) for row in sound.rows]
    (folder / "good.eval").write_bytes(b"PK not a zip")
    with pytest.raises(InvalidInput, match="no log of Inspect"):
        IMPORTERS.load("inspect-log")(folder)


def test_a_missing_column_is_named_with_those_that_are_there(tmp_path: Path) -> None:
    path = write_json_lines(tmp_path / "rows.jsonl", [{"prompt": "a", "answer": "b"}])
    with pytest.raises(InvalidInput, match="no column 'reply'; it has prompt, answer"):
        IMPORTERS.load("hf-dataset")(path, output=("model=reply",))
    with pytest.raises(InvalidInput, match="must be GENERATOR:METRIC=COLUMN"):
        IMPORTERS.load("hf-dataset")(path, output=("model=answer",), score=("x=answer",))


def test_what_a_model_was_asked_must_be_the_same_for_all(tmp_path: Path) -> None:
    made = make_lm_eval(tmp_path)
    made.files[0].write_text(made.files[0].read_text().replace("capital of France?", "capital of Spain?"))
    with pytest.raises(InvalidInput, match="has another input or target elsewhere; import one task at a time"):
        made.load("lm-eval")


def test_generators_of_such_a_board_can_be_submitted_to_another(tmp_path: Path) -> None:
    folder = write_board(make_lm_eval(tmp_path / "in").load("lm-eval").board, tmp_path / "board")
    line = json.loads((folder / "generators" / "good.jsonl").read_text().splitlines()[0])
    assert "Paris" in line.values()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"metrics": [["exact_match"], {}]}, None),
        ({"filtered_resps": [[]], "resps": [[[]], [[]]]}, '"filtered_resps" or "resps" must hold a text'),
        ({"filtered_resps": None, "resps": [[["-1"]], [[]]]}, '"filtered_resps" or "resps" must hold a text'),
    ],
)
def test_lists_of_another_shape_are_no_scores_and_no_texts(
    changes: dict[str, object], said: str | None, tmp_path: Path
) -> None:
    item = {"doc_id": 0, "target": "Paris", "resps": [["Paris"]], "filtered_resps": ["Paris"], "exact_match": 1.0}
    path = write_json_lines(tmp_path / "model" / "samples_facts_2026-01-01T10-00-00.jsonl", [{**item, **changes}])
    load = IMPORTERS.load("lm-eval")
    if said is None:
        assert load(path).board.imported == ()
    else:
        with pytest.raises(InvalidInput, match=said):
            load(path)


def test_parts_of_a_message_are_its_text(tmp_path: Path) -> None:
    """What was asked, in parts that say what they are, as a vendor's interface has them."""
    parts = [{"type": "text", "text": "capital of"}, {"content": "France?"}]
    assert plain_text(parts) == "capital of\nFrance?"
    assert plain_text([{"role": "user", "content": [{"type": "text", "text": "two and two?"}]}]) == "two and two?"
    assert plain_text([*parts, {"type": "image"}]) is None


def test_statistics_that_are_no_list_are_none(tmp_path: Path) -> None:
    made = MAKERS["helm"](tmp_path)
    for path in tmp_path.rglob("per_instance_stats.json"):
        entries = json.loads(path.read_text())
        path.write_text(json.dumps([{**entry, "stats": 3} for entry in entries]))
    assert made.load("helm").board.imported == ()


def test_a_score_in_a_column_that_no_row_has_is_refused(tmp_path: Path) -> None:
    path = write_json_lines(tmp_path / "set.jsonl", [{"text": "a", "right": 1}, {"text": "b"}])
    load = IMPORTERS.load("hf-dataset")
    assert load(path, output=("good=text",), score=("good:match=right",)).board.imported[0].name == "match"
    with pytest.raises(InvalidInput, match="--score names 'rihgt', a column that no row has"):
        load(path, output=("good=text",), score=("good:match=rihgt",))
