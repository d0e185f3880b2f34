"""What to have judged next: by worth or by chance, whole instances or outputs, within a budget, and the means after."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from crowded_boards import crowded_board

import billboards as bb
from billboards.__main__ import main
from billboards.analyses._view import View, look_at
from billboards.analyses.estimate import DrawnStudy, estimate_selected
from billboards.analyses.next import Selection, select_items
from billboards.board import Board
from billboards.board.judgments import JudgmentColumns
from billboards.errors import InvalidInput, NotEnoughData, UnknownName
from billboards.show.documents import document_of

FULL = crowded_board(40)


def labelled_on(instances: range | list[int]) -> Board:
    """The board with the labels of all generators on these instances only."""
    kept = JudgmentColumns(("adequacy",))
    whole = FULL.judgments
    for k in np.flatnonzero(np.isin(whole.instance, list(instances)) & (whole.row < 4)).tolist():
        kept.add(
            int(whole.instance[k]), int(whole.row[k]), {"adequacy": float(whole.values[k, 0])}, annotator=f"a{k % 6}"
        )
    return replace(FULL, judgments=kept.build())


SOME = labelled_on(range(10))


def chosen(board: Board, **options: object) -> Selection:
    return bb.next(board, **options).value


def test_the_worthiest_open_instances_are_taken_and_called_biased() -> None:
    result = bb.next(SOME, items=6, metric="good", selector="variance")
    selection = result.value
    scores = look_at(SOME).matrix().scores.of("good")[:4]
    expected = [f"i{k}" for k in sorted(range(10, 40), key=lambda k: -scores[:, k].std())[:6]]
    assert [choice.instance for choice in selection.items] == expected
    assert [choice.worth for choice in selection.items] == pytest.approx(
        [scores[:, int(i[1:])].std() for i in expected]
    )
    assert (selection.draw, selection.open, selection.labelled, selection.cost) == ("top", 30, 40, 24.0)
    assert selection.probabilities == {}
    assert "biased" in str(result)


def test_for_means_instances_are_drawn_by_chances_that_sum_to_their_number() -> None:
    selection = chosen(SOME, aim="means", items=7, metric="good", seed=3)
    assert (selection.draw, selection.selector, len(selection.items)) == ("chance", "gain", 7)
    chances = selection.probabilities["*"]
    assert sum(chances.values()) == pytest.approx(7)
    assert set(chances) == {f"i{k}" for k in range(10, 40)}
    for choice in selection.items:
        assert choice.probability == chances[choice.instance]
        assert choice.weight == pytest.approx(1 / chances[choice.instance])


def test_random_is_an_even_draw() -> None:
    selection = chosen(SOME, selector="random", items=6)
    assert selection.draw == "chance"
    assert set(selection.probabilities["*"].values()) == {0.2}


def test_single_outputs_of_named_generators() -> None:
    selection = chosen(SOME, unit="outputs", items=5, generator=("g1", "g3"), draw="chance", selector="random")
    assert selection.generators == ("g1", "g3")
    assert {choice.generator for choice in selection.items} <= {"g1", "g3"}
    assert {name: len(chances) for name, chances in selection.probabilities.items()} == {"g1": 30, "g3": 30}
    assert sum(map(sum, (chances.values() for chances in selection.probabilities.values()))) == pytest.approx(5)


def test_an_instance_that_lacks_one_generators_label_is_open_for_that_one() -> None:
    board = crowded_board(30, unlabelled=10)
    selection = chosen(board, aim="means", items=4, metric="good")
    assert (selection.open, selection.cost) == (10, 4.0)
    assert {name for name, chances in selection.probabilities.items() if set(chances.values()) == {1.0}} == {
        "g0",
        "g1",
        "g2",
    }


def test_a_budget_buys_what_fits_and_no_more() -> None:
    selection = chosen(SOME, cost="words", budget=200.0, metric="good")
    prices = {f"i{k}": sum(len((row.texts[k] or "").split()) + 3 for row in SOME.rows[:4]) for k in range(10, 40)}
    assert all(choice.cost == prices[choice.instance] for choice in selection.items)
    assert selection.cost == sum(choice.cost for choice in selection.items) <= 200
    drawn = chosen(SOME, cost="words", budget=200.0, metric="good", aim="means")
    expected_cost = sum(chance * prices[name] for name, chance in drawn.probabilities["*"].items())
    assert expected_cost == pytest.approx(200)


def test_a_metrics_scores_may_be_the_cost() -> None:
    selection = chosen(SOME, cost="good", items=3, metric="poor")
    scores = look_at(SOME).matrix().scores.of("good")[:4]
    assert all(choice.cost == pytest.approx(scores[:, int(choice.instance[1:])].sum()) for choice in selection.items)


def test_the_metric_that_agrees_best_with_labels_is_relied_on() -> None:
    assert chosen(SOME, items=2).metric == "good"
    assert chosen(SOME, items=2, metric="poor").metric == "poor"


def test_labels_so_far_change_what_is_chosen_next() -> None:
    first = [choice.instance for choice in chosen(labelled_on([]), items=10, metric="good").items]
    later = labelled_on([int(name[1:]) for name in first])
    assert not set(first) & {choice.instance for choice in chosen(later, items=10, metric="good").items}


def test_standings_come_with_three_labelled_instances() -> None:
    assert chosen(labelled_on(range(2)), items=2, metric="good").standings == ()
    standings = chosen(SOME, items=2, metric="good").standings
    assert [entry.labels for entry in standings] == [10] * 4
    assert sum(entry.standing for entry in standings) == pytest.approx(0, abs=1e-9)
    assert [entry.standing for entry in standings] == sorted((e.standing for e in standings), reverse=True)


def test_means_from_drawn_labels_are_unbiased_over_draws() -> None:
    empty = labelled_on([])
    truth = look_at(FULL).matrix().human[:4].mean(axis=1)
    means = []
    for seed in range(60):
        selection = chosen(empty, aim="means", items=12, metric="good", selector="difficulty", seed=seed)
        later = labelled_on([int(choice.instance[1:]) for choice in selection.items])
        study = estimate_selected(later, None, document_of(selection))
        means.append([next_of(study, name) for name in ("g0", "g1", "g2", "g3")])
    error = np.mean(means, axis=0) - truth
    assert np.abs(error).max() < 3 * np.std(means, axis=0).max() / np.sqrt(60)


def next_of(study: DrawnStudy, name: str) -> float:
    return {entry.generator: entry.mean for entry in study.estimates}[name]


def test_labels_from_before_the_draw_count_once() -> None:
    selection = chosen(SOME, aim="means", items=30, metric="good")
    study = estimate_selected(FULL, None, document_of(selection), generator="g2")
    assert study.estimates[0].mean == pytest.approx(look_at(FULL).matrix().human[2].mean())


def test_an_output_with_neither_label_nor_chance_is_refused() -> None:
    selection = chosen(SOME, aim="means", items=5, metric="good")
    with pytest.raises(InvalidInput, match="neither a label nor a chance"):
        estimate_selected(labelled_on(range(5)), None, document_of(selection))
    with pytest.raises(InvalidInput, match="the draw has no outputs of A"):
        estimate_selected(SOME, None, document_of(selection), generator="A")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"selector": "varience"}, UnknownName, "did you mean variance"),
        ({"metric": "gud"}, UnknownName, "no metric named 'gud'"),
        ({"cost": "minutes"}, UnknownName, "no cost named 'minutes'"),
        ({"generator": ("g1", "g1")}, InvalidInput, "named twice"),
        ({"budget": 1.0, "cost": "words"}, InvalidInput, "buys nothing"),
        ({"budget": 0.0}, InvalidInput, "budget"),
    ],
)
def test_what_cannot_be_chosen_is_refused(options: dict[str, object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        chosen(SOME, **options)


def test_where_everything_is_labelled_nothing_is_next() -> None:
    with pytest.raises(NotEnoughData, match="every output has a label"):
        chosen(FULL, metric="good")


def test_hidden_judgments_choose_as_if_there_were_none() -> None:
    hidden = replace(SOME, judgments=JudgmentColumns(("adequacy",)).build())
    view = View(board=hidden, counted=hidden, judgments_hidden=True)
    masked = select_items(view, items=8, metric="good")
    assert (masked.labelled, masked.open, masked.standings) == (0, 40, ())
    assert document_of(masked) == document_of(select_items(look_at(labelled_on([])), items=8, metric="good"))


def test_only_some_instances_may_be_offered() -> None:
    selection = select_items(look_at(SOME), items=8, metric="good", among=["i0", "i20", "i21"])
    assert {choice.instance for choice in selection.items} == {"i20", "i21"}


def test_the_command_writes_a_draw_that_estimate_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home, drawn = tmp_path / "board", tmp_path / "next.json"
    bb.save(SOME, home)
    assert main(["next", str(home), "--aim", "means", "--items", "6", "--metric", "good", "--json"]) == 0
    drawn.write_text(capsys.readouterr().out, "utf-8")
    document = json.loads(drawn.read_text("utf-8"))
    assert (document["kind"], document["draw"], len(document["items"])) == ("selection", "chance", 6)
    assert main(["next", str(home), "--aim", "means", "--items", "6", "--metric", "good", "--csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "instance,worth,cost,probability,weight"
    assert [line.partition(",")[0] for line in lines[1:7]] == [item["instance"] for item in document["items"]]
    picked = [int(item["instance"][1:]) for item in document["items"]]
    bb.save(labelled_on([*range(10), *picked]), tmp_path / "later")
    assert main(["estimate", str(tmp_path / "later"), "--drawn", str(drawn), "--json"]) == 0
    study = json.loads(capsys.readouterr().out)
    assert study["kind"] == "drawn_estimates"
    assert {entry["generator"] for entry in study["estimates"]} == {"g0", "g1", "g2", "g3"}
    assert all(entry["interval"][0] < entry["mean"] < entry["interval"][1] for entry in study["estimates"])
    assert main(["estimate", str(tmp_path / "later"), "g1", "--drawn", str(drawn)]) == 0
    assert "g1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"draw": "top"}, "choose with --draw chance"),
        ({"probabilities": {}}, "probabilities must be numbers by generator"),
        ({"probabilities": {"*": {"i1": 2}}}, "must be above 0 and at most 1"),
        ({"generators": []}, "generators must be a list"),
        ({"metric": 3}, "metric and aggregate must be names"),
    ],
)
def test_a_draw_that_was_spoiled_is_one_line(
    tmp_path: Path, change: dict[str, object], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    home, drawn = tmp_path / "board", tmp_path / "next.json"
    bb.save(SOME, home)
    document = document_of(chosen(SOME, aim="means", items=4, metric="good"))
    drawn.write_text(json.dumps(document | change), "utf-8")
    assert main(["estimate", str(home), "--drawn", str(drawn)]) == 2
    printed = capsys.readouterr().err
    assert words in " ".join(printed.split())
