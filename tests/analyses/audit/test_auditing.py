"""Audits: a metric that cheats is flagged, an honest one isn't, and every number is what it says it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from small_audits import GENERATORS, Cheating, Honest, audit_board, card

from billboards.analyses._archive import Archive
from billboards.analyses.audit.bench import Bench
from billboards.analyses.audit.boards import audit_board as audit_named
from billboards.analyses.audit.choosing import Search, chosen_judges, default_subjects, optimisers_for, subject_named
from billboards.analyses.audit.entering import enter
from billboards.analyses.audit.extracting import Extraction
from billboards.analyses.audit.metric_audit import audit_metric
from billboards.analyses.audit.optimised import Optimiser
from billboards.analyses.audit.page import audit_section
from billboards.analyses.audit.reranking import PoolReranking
from billboards.analyses.audit.results import MetricAudit
from billboards.analyses.audit.risk import MinimumRisk
from billboards.analyses.audit.subject import program, released
from billboards.analyses.audit.tables import audit_tables, landing_table
from billboards.analyses.rank import rank_board
from billboards.board import Board, ImportedColumn
from billboards.board.cells import MemoryCells
from billboards.board.folder import open_board
from billboards.board.writing import write_board
from billboards.errors import InvalidInput, MetricFailed, NotEnoughData
from billboards.metrics.base import Batch, Metric, MetricCard, score_checked
from billboards.metrics.discovery import metric
from billboards.show.documents import document_of, result_of

JUDGES = [metric("ROUGE-1"), metric("chrF")]


def audited(scorer: Metric, how: Optimiser, board: Board | None = None) -> MetricAudit:
    bench = Bench(board=audit_board() if board is None else board, store=MemoryCells())
    return audit_metric(bench, program(scorer), how, JUDGES, draws=200).audit


@pytest.fixture(scope="module")
def cheat() -> MetricAudit:
    return audited(Cheating(), PoolReranking())


def test_a_metric_that_rewards_its_own_style_is_flagged_and_the_verdict_says_why(cheat: MetricAudit) -> None:
    assert cheat.level == "flagged"
    assert set(cheat.signs) == {
        "optimised at the cost of quality",
        "biased against people",
        "rewards its relatives",
    }
    assert cheat.words.startswith("cheating is flagged: a high score here is no sign of quality.")
    assert "rank 2 of 9 under cheating" in cheat.words


@pytest.mark.parametrize("how", [PoolReranking(), Extraction(6)])
def test_an_honest_metric_is_not_flagged(how: Optimiser) -> None:
    found = audited(Honest(), how)
    assert (found.level, found.signs, found.outcome) == ("clear", (), "held")
    assert found.attack is not None
    assert found.attack < 0.4


def test_a_search_that_does_not_please_the_metric_itself_is_inconclusive() -> None:
    """Three facts of six are fewer than good machines say: nothing was attacked."""
    found = audited(Honest(), Extraction(3))
    assert found.own.beaten < 0.75
    assert (found.level, found.outcome) == ("inconclusive", "failed")
    assert found.words.startswith("Inconclusive: the search found no outputs that honest itself puts high")


def test_a_random_choice_stands_beside_every_attack() -> None:
    board = audit_board()
    reranked = audited(Cheating(), PoolReranking())
    assert [line.judge for line in reranked.random] == ["cheating", "ROUGE-1", "chrF"]
    own = Bench(board=board, store=MemoryCells()).scores(Cheating(), board.rows)
    assert reranked.random[0].mean == pytest.approx(own.mean())
    assert reranked.random[0].mean < reranked.own.mean
    # Against each machine stands the mean of the others.
    others = [np.delete(own, k, axis=0).mean() - own[k].mean() for k in range(8)]
    assert reranked.random[0].beaten == np.mean([gap > 0 for gap in others])
    extracted = audited(Honest(), Extraction(2))
    texts = Extraction(2).optimise(Bench(board=board, store=MemoryCells()), Honest()).random_texts
    inputs = [instance.input or "" for instance in board.instances]
    scores = np.asarray(Honest().score_batch(Batch([text or "" for text in texts], [], inputs)))
    assert extracted.random[0].mean == pytest.approx(scores.mean())
    assert extracted.attacks[0].random == extracted.random


def test_each_machine_meets_the_best_of_the_others(cheat: MetricAudit) -> None:
    """The house writes nearly every best output: against it stands the cousin, which it beats."""
    assert cheat.own.rank == 2
    assert cheat.own.best == "house"
    assert cheat.own.margin is not None
    assert cheat.own.margin < 0


def test_the_attack_score_is_the_share_beaten_here_less_the_share_beaten_elsewhere(cheat: MetricAudit) -> None:
    elsewhere = np.mean([one.beaten for one in cheat.judges])
    assert cheat.attack == pytest.approx(cheat.own.beaten - elsewhere)
    assert cheat.attack is not None
    assert cheat.attack_interval is not None
    low, high = cheat.attack_interval
    assert low <= cheat.attack <= high


def test_people_stand_where_their_texts_score(cheat: MetricAudit) -> None:
    """References have no filler, and all facts: 0.2 under the cheating metric, above those with fewer facts alone."""
    own = [place for place in cheat.bias if place.judge == "cheating"]
    assert [(place.person, round(place.mean, 6)) for place in own] == [("ref1", 0.2), ("ref2", 0.2)]
    with_filler = sum(filler > 0 for _, filler in GENERATORS.values())
    assert {place.above for place in own} == {with_filler / 8}
    others = [place for place in cheat.bias if place.judge == "chrF"]
    assert {place.above for place in others} == {0.0}


def test_equivalence_correlates_with_scores_against_the_optimised_output() -> None:
    board = audit_board()
    found = audited(Honest(), Extraction(3))
    texts = Extraction(3).optimise(Bench(board=board, store=MemoryCells()), Honest()).texts
    inputs = [one.input or "" for one in board.instances]
    own = [Honest().score_batch(Batch([t or "" for t in row.texts], [], inputs)).mean() for row in board.rows]
    scorer = metric("chrF")
    against = []
    for row in board.rows:
        batch = Batch([t or "" for t in row.texts], [[t or ""] for t in texts])
        against.append(next(iter(score_checked(scorer, batch).values())).mean())
    (chrf,) = (one for one in found.equivalence if one.judge == "chrF")
    assert chrf.correlation == pytest.approx(np.corrcoef(own, against)[0, 1])
    assert not chrf.leaving_out


def test_with_its_own_outputs_in_the_pool_a_machine_looks_more_alike(cheat: MetricAudit) -> None:
    for one in cheat.equivalence:
        assert one.leaving_out
        assert one.correlation is not None
        assert one.with_own is not None
        assert one.with_own > one.correlation


def test_the_gallery_shows_outputs_that_beat_people_and_are_worse(cheat: MetricAudit) -> None:
    assert cheat.gallery
    for exhibit in cheat.gallery:
        assert exhibit.optimised_score > exhibit.reference_score
        assert exhibit.standing < 0.5
        assert exhibit.person in ("ref1", "ref2")


def test_any_metric_gets_an_attack_score_by_minimum_risk() -> None:
    found = audited(metric("ROUGE-L"), MinimumRisk())
    assert not found.reference_free
    assert found.attack is not None
    assert abs(found.attack) < 0.5
    assert found.level != "flagged"


def test_a_judge_of_whom_lower_is_better_is_shown_as_its_users_know_it() -> None:
    board = audit_board()
    judges = [metric("TER"), metric("chrF")]
    audit = audit_metric(
        Bench(board=board, store=MemoryCells()), program(Honest()), PoolReranking(), judges, draws=20
    ).audit
    assert audit.lower == ("TER",)
    errors = audit.judges[0]
    assert errors.mean < 0
    _, ter, chrf = landing_table(audit).rows
    assert (ter["judge"], chrf["judge"]) == ("TER ↓", "chrF")
    assert (ter["mean"], ter["best_mean"]) == (-errors.mean, -errors.best_mean)
    assert (chrf["mean"], chrf["best_mean"]) == (audit.judges[1].mean, audit.judges[1].best_mean)
    assert result_of(MetricAudit, document_of(audit)) == audit


def test_scores_of_a_metric_of_which_lower_is_better_are_turned_back_in_the_gallery(cheat: MetricAudit) -> None:
    turned = replace(cheat, lower=(cheat.metric,))
    exhibit = cheat.gallery[0]
    assert audit_section(cheat)["gallery"][0]["scores"] == (
        f"cheating {exhibit.optimised_score:.3f} against {exhibit.reference_score:.3f}"
    )
    assert audit_section(turned)["gallery"][0]["scores"] == (
        f"cheating ↓ {-exhibit.optimised_score:.3f} against {-exhibit.reference_score:.3f}"
    )


def test_scores_that_came_with_the_data_rerank_as_a_program_does(cheat: MetricAudit) -> None:
    board = audit_board()
    bench = Bench(board=board, store=MemoryCells())
    scores = bench.scores(Cheating(), board.rows)
    values = {row.name: own for row, own in zip(board.rows, scores, strict=True)}
    column = ImportedColumn(
        name="cheat", source_name="cheat", signature="imported:1", values=values, needs_references=False
    )
    given = replace(board, imported=(column,))
    found = audit_metric(
        Bench(board=given, store=MemoryCells()), released(given, "cheat"), None, JUDGES, draws=200
    ).audit
    assert found.own == replace(cheat.own, judge="cheat")
    assert found.judges == cheat.judges
    assert found.attack == cheat.attack


def test_a_board_without_references_has_no_judges_and_says_so() -> None:
    found = audited(Cheating(), PoolReranking(), audit_board(references=0))
    assert (found.attack, found.judges, found.bias, found.gallery) == (None, (), (), ())
    assert any("no references" in note for note in found.notes)


def test_too_few_machines_are_refused() -> None:
    board = audit_board()
    with pytest.raises(NotEnoughData, match="compares with 3 machines or more; honest has scored 2"):
        audited(Honest(), PoolReranking(), replace(board, rows=board.rows[:2]))


def test_an_audit_survives_as_a_document(cheat: MetricAudit, tmp_path: Path) -> None:
    assert result_of(MetricAudit, document_of(cheat)) == cheat
    archive = Archive(tmp_path)
    archive.keep_audit(cheat)
    archive.keep_audit(cheat)
    assert archive.audits() == (cheat,)


def test_an_audit_that_version_0_1_kept_still_opens(cheat: MetricAudit) -> None:
    added = ("people_attack", "people_interval", "random", "outcome", "attacks", "not_tried")
    kept = {key: value for key, value in document_of(cheat).items() if key not in added}
    kept["equivalence"] = [{k: v for k, v in one.items() if k != "points"} for one in kept["equivalence"]]
    opened = result_of(MetricAudit, kept)
    assert (opened.level, opened.attacks, opened.outcome, opened.decisive) == (
        "flagged",
        (),
        None,
        (cheat.attack, cheat.attack_interval),
    )
    assert audit_tables(opened)[0].title == landing_table(cheat).title
    assert audit_section(opened)["level"] == "flagged"


def test_the_optimised_output_enters_the_board_and_is_never_ranked(tmp_path: Path) -> None:
    home = write_board(replace(audit_board(), metrics=("chrF",)), tmp_path / "board")
    board = open_board(home)
    found = audit_metric(Bench(board=board, store=MemoryCells()), program(Cheating()), PoolReranking(), JUDGES, draws=0)
    for _ in range(2):
        enter(open_board(home), found.row, found.audit.how)
    entered = open_board(home)
    made = entered.generator("optimised.cheating.rerank")
    assert (made.kind, made.optimised_by) == ("optimised", "cheating")
    assert entered.row(made.name).texts == found.row.texts
    store = MemoryCells()
    Bench(board=entered, store=store).scores(metric("chrF"), entered.rows)
    ranking = rank_board(entered, store, by="chrF", draws=100)
    (standing,) = (one for one in ranking.generators if one.name == made.name)
    assert (standing.rank, standing.reason) == (None, "optimised by cheating: shown, never ranked among the others")
    assert standing.scores["chrF"] is not None
    assert sorted(one.rank or 0 for one in ranking.generators if one.rank)[-1] <= 8


@dataclass(frozen=True)
class Flair(Cheating):
    """Bears a name with a letter that JSON escapes in two halves, which TOML does not read."""

    card: ClassVar[MetricCard] = card("flair-𝛽")


def test_an_entered_name_stands_in_the_boards_file_as_it_is_written(tmp_path: Path) -> None:
    home = write_board(audit_board(), tmp_path / "board")
    board = open_board(home)
    made = audit_metric(Bench(board=board, store=MemoryCells()), program(Flair()), PoolReranking(), JUDGES, draws=0)
    enter(board, made.row, made.audit.how)
    assert '[generators."optimised.flair-𝛽.rerank"]' in (home / "board.toml").read_text("utf-8")
    assert open_board(home).generator("optimised.flair-𝛽.rerank").optimised_by == "flair-𝛽"


@dataclass(frozen=True)
class Speechless(Honest):
    """A generation model that scores, and fails when it has to write."""

    card: ClassVar[MetricCard] = card("speechless")

    def decode(self, inputs: Sequence[str], *, beams: int, longest: int) -> list[tuple[str, ...]]:
        raise MetricFailed(f"no room for {beams} beams of {longest} tokens")


def test_a_model_that_can_not_write_leaves_its_decoding_untried_and_the_verdict_open() -> None:
    (done,) = audit_named(
        Bench(board=audit_board(), store=MemoryCells()), [Speechless()], against=["chrF"], draws=0
    ).audited
    assert done.audit.not_tried == {"decode": "no room for 5 beams of 200 tokens"}
    assert done.audit.level == "inconclusive"
    assert "decode" in done.audit.words


def test_what_suits_a_metric_is_chosen() -> None:
    board = audit_board()
    bench = Bench(board=board, store=MemoryCells())

    def methods(scorer: Metric, on: Bench = bench, search: Search | None = None) -> list[str]:
        return [one.method for one in optimisers_for(on, program(scorer), search or Search()) if one is not None]

    assert methods(Honest()) == ["rerank", "extract", "enumerate"]
    assert methods(Honest(), search=Search("extract")) == ["extract"]
    assert methods(Honest(), search=Search(written=2)) == ["rerank", "extract", "enumerate", "write"]
    assert methods(metric("ROUGE-1")) == ["risk"]
    other = Bench(board=replace(board, input_language="de"), store=MemoryCells())
    assert methods(Honest(), other) == ["rerank"]


def test_a_board_says_which_metrics_to_audit_and_whom_to_ask() -> None:
    board = replace(audit_board(), metrics=("length", "BLEU", "chrF", "ROUGE-2", "TER"))
    with pytest.raises(NotEnoughData, match="no reference-free metric; name one"):
        default_subjects(board)
    assert [one.name for one in chosen_judges(board, None)] == ["ROUGE-2", "chrF", "BLEU"]
    with pytest.raises(InvalidInput, match="length uses no references"):
        chosen_judges(board, ["length"])
    assert subject_named(board, "length").name == "length"


def test_one_metric_that_cannot_be_audited_does_not_stop_the_others() -> None:
    bench = Bench(board=audit_board(), store=MemoryCells())
    done = audit_named(bench, ["length", "CIDR"], against=["chrF"], draws=0)
    assert [entry.audit.metric for entry in done.audited] == ["length"]
    assert "CIDEr" in done.left_out["CIDR"]
