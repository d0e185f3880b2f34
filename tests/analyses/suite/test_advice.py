"""Which metric to use: the answer of many boards, its door on the command line, and what it leaves out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_suites import valued_board, written_suite

import billboards as bb
from billboards.analyses.suite.advice import (
    Advice,
    Question,
    advice_tables,
    advice_words,
    advise,
    collections,
    laid_out,
    mean_elsewhere,
    score_held_out,
)
from billboards.analyses.suite.dimension_agreement import load_columns, people_say
from billboards.analyses.suite.evidence import (
    NOT_HERE,
    SCORES_ONLY,
    SHARED,
    BoardAgreement,
    Evidence,
    MetricFacts,
    cost_of,
    error_of_interval,
    installed_cost,
    language_code,
    task_of,
)
from billboards.analyses.suite.keeping import read_results
from billboards.analyses.suite.languages import alike, language_family
from billboards.analyses.suite.open import open_suite
from billboards.board import ImportedColumn
from billboards.board.judgments import JudgmentColumns
from billboards.board.writing import write_board
from billboards.cli.main import main
from billboards.errors import NotEnoughData, UnknownName
from billboards.metrics.discovery import metric, metric_class
from billboards.show.documents import document_of, result_of

TASKS = ("translation", "summarization")
METRICS = ("good", "fair", "poor", "free")


def made_evidence(boards: int = 10, *, seed: int = 0) -> Evidence:
    """Boards on which `good` leads translation, `fair` summarization, and `free`, without references, nothing."""
    random = np.random.default_rng(seed)
    agreements = []
    for k in range(boards):
        task = TASKS[k % 2]
        means = {"good": 0.5 + 0.1 * (k % 2 == 0), "fair": 0.5 + 0.1 * (k % 2), "poor": 0.2, "free": 0.3}
        level = random.normal(0, 0.1)
        values = [float(np.tanh(mean + level + random.normal(0, 0.02))) for mean in means.values()]
        language = ("en", "de", "ru")[k % 3]
        agreements.append(
            BoardAgreement(
                board=f"b{k}", task=task, language=language, metrics=METRICS, values=tuple(values), errors=(0.03,) * 4
            )
        )
    facts = (
        MetricFacts(name="good", cost="gpu", speed=50.0),
        MetricFacts(name="fair", cost="instant"),
        MetricFacts(name="poor", cost="instant", languages=("en",)),
        MetricFacts(name="free", needs_references=False, cost="paid", warnings=("uses no references: it is blind",)),
    )
    return Evidence(source="made", boards=tuple(agreements), metrics=facts)


def named(advice: Advice) -> list[str]:
    return [entry.metric for entry in advice.metrics]


def test_the_best_metric_of_the_task_comes_first_with_what_it_rests_on() -> None:
    evidence = made_evidence()
    translation = advise(evidence, Question(task="machine translation", language="German"))
    assert named(translation)[0] == "good"
    assert named(advise(evidence, Question(task="Summarise a text")))[0] == "fair"
    first = translation.metrics[0]
    assert first.interval[0] < first.agreement < first.interval[1]
    assert first.best is not None
    assert first.best > 0.9
    assert first.near is not None
    assert first.near >= first.best
    assert first.behind is not None
    assert first.behind < 0.01
    assert (first.boards, first.alike, first.cost, first.speed) == (10, 1, "gpu", 50.0)
    assert sum(entry.best or 0.0 for entry in translation.metrics) == pytest.approx(1)
    assert (translation.question.task, translation.question.language) == ("translation", "de")
    assert (translation.boards, translation.same_task, translation.same_language) == (10, 5, 3)


def test_a_language_that_nobody_judged_has_an_answer_with_a_wider_interval() -> None:
    evidence = made_evidence()
    widths = {}
    for language in ("de", "sv", "th"):
        first = advise(evidence, Question(task="translation", language=language)).metrics[0]
        assert first.metric == "good"
        widths[language] = first.interval[1] - first.interval[0]
    assert widths["de"] < widths["th"]
    words = " ".join(advice_words(advise(evidence, Question(language="th"))))
    assert "No board is in th" in words
    assert "No board is about poetry" in " ".join(advice_words(advise(evidence, Question(task="poetry"))))


def test_references_cost_and_languages_leave_metrics_out_and_say_why() -> None:
    evidence = made_evidence()
    without = advise(evidence, Question(references=False))
    assert named(without) == ["free"]
    assert without.left_out["good"] == "needs references"
    cheap = advise(evidence, Question(cost="instant", language="de"))
    assert named(cheap) == ["fair"]
    assert cheap.left_out == {"good": "costs more: gpu", "poor": "is made for en", "free": "costs more: paid"}
    assert set(named(advise(evidence, Question(cost="gpu")))) == {"good", "fair", "poor"}
    nothing = advise(evidence, Question(cost="instant", references=False))
    assert nothing.metrics == ()
    assert advice_words(nothing)[0].startswith("No metric fits")
    unsaid = replace(evidence, metrics=(replace(evidence.metrics[0], cost=None), *evidence.metrics[1:]))
    assert advise(unsaid, Question(cost="paid")).left_out["good"] == "nobody says what it costs"


def test_what_can_not_be_used_is_listed_last_without_a_probability() -> None:
    evidence = made_evidence()
    lone = replace(evidence.metrics[0], usable=False, warnings=(SCORES_ONLY,))
    advice = advise(replace(evidence, metrics=(lone, *evidence.metrics[1:])), Question(task="translation"))
    assert named(advice)[-1] == "good"
    assert (advice.metrics[-1].best, advice.metrics[-1].near, advice.metrics[-1].behind) == (None, None, None)
    assert advice_words(advice)[0].startswith("Use fair")
    assert any("good: came as scores only" in note for note in advice_tables(advice)[0].notes)
    barred = advise(replace(evidence, metrics=(lone,)), Question())
    assert [entry.best for entry in barred.metrics] == [None]


def test_a_board_that_is_named_counts_with_what_was_measured_there() -> None:
    evidence = made_evidence()
    there = advise(evidence, Question(board="b0")).metrics[0]
    new = advise(evidence, Question(task="translation", language="en")).metrics[0]
    assert there.interval[1] - there.interval[0] < 0.7 * (new.interval[1] - new.interval[0])
    assert there.agreement == pytest.approx(evidence.boards[0].values[0], abs=0.03)
    with pytest.raises(UnknownName, match="b77"):
        advise(evidence, Question(board="b77"))


def test_a_single_board_and_a_metric_on_few_boards_widen_and_never_fail() -> None:
    evidence = made_evidence()
    single = advise(replace(evidence, boards=evidence.boards[:1]), Question(task="translation"))
    assert single.held_out is None
    assert single.metrics[0].interval[1] - single.metrics[0].interval[0] > 0.5
    rare = tuple(
        replace(board, metrics=board.metrics[1:], values=board.values[1:], errors=board.errors[1:]) if k else board
        for k, board in enumerate(evidence.boards)
    )
    entries = {e.metric: e for e in advise(replace(evidence, boards=rare), Question(task="summarization")).metrics}
    assert entries["good"].boards == 1
    width = {name: entry.interval[1] - entry.interval[0] for name, entry in entries.items()}
    assert width["good"] > 1.05 * width["fair"]
    with pytest.raises(NotEnoughData, match="no board has metrics"):
        advise(replace(evidence, boards=()), Question())


def test_held_out_boards_say_how_far_to_believe_it() -> None:
    held = advise(made_evidence(16), Question()).held_out
    assert held is not None
    assert (held.boards, held.agreements) == (16, 64)
    assert held.error < held.mean_error
    assert held.regret <= held.mean_regret
    assert 0.85 <= held.coverage <= 1


def test_held_out_numbers_are_those_of_a_plain_count() -> None:
    boards = made_evidence(4).boards
    lone = replace(boards[0], metrics=("good", "own", "poor", "free"))
    given = (lone, *boards[1:])
    assert mean_elsewhere(given, [1])["fair"] == pytest.approx((boards[2].values[1] + boards[3].values[1]) / 2)
    means = [np.full(4, 0.1) for _ in given]
    drawn = [np.array([[0.0] * 4, [0.4] * 4]) for _ in given]
    groups = [[0], [1], [2], [3]]
    held = score_held_out(given, groups, dict(enumerate(drawn)), dict(enumerate(means)))
    assert held is not None
    # `own` stands on one board only: what nobody else measured can't be predicted.
    assert held.agreements == 15
    predicted = np.tanh(0.1)
    values = [v for board in given for n, v in zip(board.metrics, board.values, strict=True) if n != "own"]
    assert held.error == pytest.approx(np.sqrt(np.mean([(v - predicted) ** 2 for v in values])))
    low, high = np.quantile([0.0, np.tanh(0.4)], (0.025, 0.975))
    assert held.coverage == pytest.approx(np.mean([low <= v <= high for v in values]))
    # All predictions are equal, so the first metric is chosen.
    counted = [[v for n, v in zip(b.metrics, b.values, strict=True) if n != "own"] for b in given]
    assert held.regret == pytest.approx(np.mean([max(values) - values[0] for values in counted]))
    assert score_held_out([lone], [[0]], {0: drawn[0]}, {0: means[0]}) is None
    # Boards of one collection don't count as elsewhere.
    pairs = score_held_out(given, [[0, 1], [2, 3]], dict(enumerate(drawn)), dict(enumerate(means)))
    assert pairs is not None
    assert pairs.error == pytest.approx(held.error)
    assert pairs.mean_error != pytest.approx(held.mean_error)
    named_so = [replace(board, collection=name) for board, name in zip(given, "aab", strict=False)]
    assert collections((*named_so, given[3])) == [[0, 1], [2], [3]]
    assert collections(named_so[:2]) == [[0], [1]]


def test_errors_go_together_as_resampling_says_or_as_public_boards_do() -> None:
    evidence = made_evidence(2)
    together = tuple(tuple(1.0 if i == j else 0.25 for j in range(4)) for i in range(4))
    names, laid = laid_out((evidence.boards[0], replace(evidence.boards[1], correlations=together)))
    assert names == METRICS
    assert laid.noise[0, 0] == pytest.approx(0.03**2)
    assert laid.noise[0, 1] == pytest.approx(SHARED * 0.03**2)
    assert laid.noise[4, 5] == pytest.approx(0.25 * 0.03**2)
    assert laid.noise[0, 4] == 0
    unknown = tuple(replace(board, task=None, language=None) for board in evidence.boards)
    assert laid_out(unknown)[1].task.tolist() == [[1, 0], [0, 1]]


def test_tables_and_the_document_hold_the_answer() -> None:
    advice = advise(made_evidence(), Question(task="translation", references=True, cost="paid"))
    metrics, effects = advice_tables(advice)
    assert metrics.title == "made: which metric for translation, in any language, with references, cost at most paid"
    assert [row["name"] for row in metrics.rows] == named(advice)
    assert {row["mark"] for row in metrics.rows if row["name"] == "free"} == {"†"}
    assert len(effects.rows) == 9
    assert result_of(Advice, json.loads(json.dumps(document_of(advice)))) == advice
    assert advise(made_evidence(), Question(task="translation")) == advise(
        made_evidence(), Question(task="translation")
    )


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("Translate news from Lithuanian to English, sentence by sentence", "translation"),
        ("Summarise a news article in a few sentences", "summarization"),
        ("summarisation", "summarization"),
        ("Rewrite a sentence so that it is easier to understand", "simplification"),
        ("Describe a photograph in one sentence", "captioning"),
        ("Put one to five RDF triples into words", "data to text"),
        ("Put a dialogue act about hotels into words", "data to text"),
        ("Answer an open question in a few words", "question answering"),
        ("Say a question in other words", "paraphrase"),
        ("  Write  POEMS ", "write poems"),
        ("", None),
        (None, None),
    ],
)  # fmt: skip
def test_tasks_are_known_by_the_words_of_data_cards(text: str | None, task: str | None) -> None:
    assert task_of(text) == task


def test_languages_are_alike_within_their_family() -> None:
    assert [alike(a, b) for a, b in (("de", "de"), ("de", "sv"), ("de", "ru"), ("xx", "yy"), (None, None))] == [
        1.0, 0.5, 0.0, 0.0, 0.0,
    ]  # fmt: skip
    assert (language_family("uk"), language_family("xx"), language_code("German"), language_code(None)) == (
        "Slavic", None, "de", None,
    )  # fmt: skip


def test_cost_is_what_a_metric_declares() -> None:
    names = ("chrF", "SPICE", "BERTScore", "judge-DA", "judge-panel")
    assert [cost_of(metric_class(name)) for name in names] == ["instant", "slow", "gpu", "paid", "paid"]
    assert cost_of(metric("chrF(beta=1)")) == "instant"
    assert [installed_cost(name) for name in ("chrF(beta=1)", "ROUGE-L[recall]", "COMET-9000")] == [
        "instant", "instant", None,
    ]  # fmt: skip


def test_the_error_of_an_interval_is_that_of_z() -> None:
    low, high = np.tanh(0.5 - 1.959964 * 0.1), np.tanh(0.5 + 1.959964 * 0.1)
    assert error_of_interval((float(low), float(high)), 50) == pytest.approx(0.1)
    assert error_of_interval(None, 103) == pytest.approx(0.1)
    assert error_of_interval((0.5, 0.5), 2) == 1.0


# From the boards of a suite.


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    suite = written_suite(tmp_path_factory.mktemp("advice"))
    open_suite(suite).run(draws=60)
    return suite


def test_evidence_is_each_boards_agreement_with_resampled_errors(scored: Path) -> None:
    suite = open_suite(scored)
    evidence = suite.evidence(draws=400, seed=3)
    assert [(b.board, b.task, b.language, b.metrics) for b in evidence.boards] == [
        ("One", "notes", "en", ("ROUGE-1", "chrF")),
        ("Two", "letters", "en", ("ROUGE-1", "chrF")),
        ("Pairs", "songs", "en", ("ROUGE-1", "chrF")),
    ]
    table = suite.tables(draws=0).value
    column = {column.label: column for column in table.columns if column.role == "correctness"}
    row = next(row for row in table.rows if (row.metric, row.block) == ("chrF", "all"))
    cells = {label: table.cell(row, column[label]) for label in ("One", "Pairs")}
    assert cells["One"] is not None
    assert cells["Pairs"] is not None
    assert evidence.boards[0].values[1] == pytest.approx(cells["One"].measures["pearson"].value)
    # Preferences: Kendall's tau by Greiner's relation, cut where z would have no end.
    tau = cells["Pairs"].measures["preferences"].value
    assert evidence.boards[2].values[1] == pytest.approx(min(np.sin(np.pi / 2 * tau), 0.999))
    assert 0.02 < evidence.boards[0].errors[1] < 0.4
    assert 0 < evidence.boards[0].correlations[0][1] <= 1
    assert np.allclose(np.diag(evidence.boards[0].correlations), 1)
    assert [(f.name, f.cost, f.usable) for f in evidence.metrics] == [
        ("ROUGE-1", "instant", True),
        ("chrF", "instant", True),
    ]
    assert all((facts.speed or 0) > 0 for facts in evidence.metrics)


def test_errors_equal_a_plain_bootstrap_of_fishers_z(scored: Path) -> None:
    suite = open_suite(scored)
    board = suite.evidence(draws=3000).boards[0]
    member = suite.boards[0]
    values = load_columns(member, "all", suite.chosen[:2]).values
    human = people_say(member, "truth")
    random, drawn = np.random.default_rng(9), []
    for _ in range(1500):
        picked = random.integers(human.shape[1], size=human.shape[1])
        drawn.append([np.arctanh(np.corrcoef(v[:, picked].ravel(), human[:, picked].ravel())[0, 1]) for v in values])
    covariance = np.cov(np.array(drawn).T)
    assert board.errors == pytest.approx(np.sqrt(np.diag(covariance)), rel=0.1)
    together = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    assert board.correlations[0][1] == pytest.approx(together, abs=0.06)


def test_a_run_keeps_what_advice_is_made_from(scored: Path) -> None:
    suite = open_suite(scored)
    kept = read_results(suite.suite)
    assert kept is not None
    assert kept.evidence is not None
    assert kept.evidence == suite.evidence(draws=60)
    path = scored.with_suffix(".results.json")
    document = json.loads(path.read_text())
    del document["evidence"]
    older = scored.parent / "older.toml"
    older.write_text(scored.read_text())
    older.with_suffix(".results.json").write_text(json.dumps(document))
    earlier = read_results(open_suite(older).suite)
    assert earlier is not None
    assert earlier.evidence is None


def test_the_command_says_which_metric_in_words_tables_and_json(
    scored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["suite", "advise", str(scored), "--task", "letters", "--language", "de", "--draws", "60"]
    assert main([*asked, "--wide"]) == 0
    shown = capsys.readouterr()
    assert "Ports of call: which metric for letters, in de, with references" in shown.out
    assert "What agreement depends on" in shown.out
    assert shown.err.startswith("Use ")
    assert "No board is in de" in shown.err
    assert main([*asked, "--cost", "instant", "--references", "no", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["metrics"]) == ("advice", [])
    assert document["left_out"] == {"ROUGE-1": "needs references", "chrF": "needs references"}
    assert main([*asked, "--board", "One", "--metric", "chrF", "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("chrF,")


def test_python_gives_a_result_that_prints_and_turns_into_frames(scored: Path) -> None:
    result = bb.open_suite(scored).advise("letters", cost="instant", draws=60)
    assert result.value.metrics[0].metric in ("ROUGE-1", "chrF")
    assert result.words[0].startswith(f"Use {result.value.metrics[0].metric}")
    assert list(result.to_pandas()["name"]) == [entry.metric for entry in result.value.metrics]


def test_scores_that_came_with_a_board_count_unless_metrics_are_named(tmp_path: Path) -> None:
    board = valued_board("came", 10, seed=4)
    random = np.random.default_rng(1)
    rows = {row.name: random.normal(size=10) for row in board.rows}
    names = (("Learned-9000", False), ("Sent", True))
    columns = tuple(
        ImportedColumn(
            name=name, source_name=name, signature=name, values=rows, references=board.references, scores_only=lone
        )
        for name, lone in names
    )
    write_board(replace(board, imported=columns), tmp_path / "came")
    (tmp_path / "s.toml").write_text('metrics = ["chrF"]\n[[boards]]\nfolder = "came"\n')
    suite = open_suite(tmp_path / "s.toml")
    suite.score()
    facts = {facts.name: facts for facts in suite.evidence(draws=20).metrics}
    assert set(facts) == {"chrF", "Learned-9000", "Sent"}
    assert (facts["Learned-9000"].warnings, facts["Learned-9000"].cost, facts["Learned-9000"].usable) == (
        (NOT_HERE,),
        None,
        True,
    )
    assert (facts["Sent"].warnings, facts["Sent"].usable) == ((SCORES_ONLY,), False)
    assert {facts.name for facts in suite.evidence(imported=False, draws=20).metrics} == {"chrF"}


def test_a_board_with_one_judged_instance_has_the_error_of_few_outputs(tmp_path: Path) -> None:
    whole = valued_board("thin", 10, seed=5)
    judged = JudgmentColumns(("truth", "style"))
    for row, value in enumerate((5.0, 3.0, 1.0)):
        judged.add(4, row, {"truth": value}, annotator="a")
    write_board(replace(whole, judgments=judged.build()), tmp_path / "thin")
    (tmp_path / "s.toml").write_text('metrics = ["chrF", "ROUGE-1"]\n[[boards]]\nfolder = "thin"\n')
    suite = open_suite(tmp_path / "s.toml")
    with pytest.raises(NotEnoughData, match="score and rank boards"):
        suite.advise("letters", draws=20)
    suite.score()
    board = suite.evidence(draws=20).boards[0]
    assert board.errors == (1.0, 1.0)
    assert board.correlations == ((1.0, 0.0), (0.0, 1.0))
    assert suite.advise(draws=20).value.metrics[0].boards == 1
