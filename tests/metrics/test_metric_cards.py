"""Cards in words: what is stated, what follows from the metric, and what the command line prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from billboards.cli.main import main
from billboards.metrics.base import MetricCard
from billboards.metrics.cards import card_facts, markdown
from billboards.metrics.discovery import metric


@pytest.mark.parametrize(
    ("name", "fact", "expected"),
    [
        ("BLEU", "needs", "references"),
        ("BLEU", "several references", "all at once, by the metric's own definition"),
        ("ROUGE-1", "several references", "the best score over them"),
        ("ROUGE-1(references=mean)", "several references", "all at once, by the metric's own definition"),
        ("CIDEr-D", "needs", "references; all outputs of a generator at once"),
        ("SARI", "needs", "references; the input"),
        ("length", "needs", "the output alone"),
        ("TER", "range", "0 to no bound"),
        ("TER", "direction", "lower is better (a board turns it only inside)"),
        ("CIDEr", "range", "0 to 10"),
        ("METEOR", "languages", "en"),
        ("SARI", "options", "`tokenizer=13a`, `definition=original`"),
    ],
)
def test_a_fact_is_stated_or_derived(name: str, fact: str, expected: str) -> None:
    assert card_facts(metric(name))[fact] == expected


def test_a_card_says_what_it_lacks() -> None:
    assert MetricCard(name="mine").missing() == ("summary", "range", "training data", "licence", "paper", "failures")
    half = MetricCard(
        name="mine", summary="counts", range=(0, None), training_data=" ", licence="MIT", paper="-", failures="-"
    )
    assert half.missing() == ("training data",)


def test_a_section_begins_with_what_is_measured() -> None:
    lines = markdown([metric("SARI")]).splitlines()
    assert lines[0] == "### SARI"
    assert lines[2].startswith("How well an output keeps, deletes and adds")
    assert "- **Range**: 0 to 100" in lines


def test_the_command_line_prints_a_card_and_its_signature(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics", "ROUGE-2"]) == 0
    out = capsys.readouterr().out
    assert "measures            F measure of the pairs of words" in out
    assert "signature           ROUGE-2|stemmer:False|" in out


def test_the_card_of_a_metric_of_ones_own_lists_no_option_without_a_default(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def score(outputs, references, inputs):\n    return [0.0 for _ in outputs]\n")
    facts = card_facts(metric(file))
    assert "options" not in facts
    assert "MISSING" not in str(facts)


def test_the_list_says_which_metrics_can_run_here(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BILLBOARDS_SPICE", raising=False)
    assert main(["metrics"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["BLEU"].split()[1] == lines["ngram-perplexity"].split()[1] == "yes"
    assert lines["SPICE"].split()[1] == "no"
    assert lines["SPICE"].endswith(" (needs its authors' program, and BILLBOARDS_SPICE is not set)")


def test_a_metric_that_can_not_run_here_says_why_and_does_not_hide_the_others(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BILLBOARDS_SPICE", raising=False)
    assert main(["metrics", "SPICE"]) == 0
    assert "can not run here    SPICE needs its authors' program" in capsys.readouterr().out
    assert main(["metrics", "--json"]) == 0
    found = {card["name"]: card for card in json.loads(capsys.readouterr().out)}
    assert found["SPICE"]["signature"] is None
    assert found["SPICE"]["absent"].startswith("SPICE needs its authors' program")
    assert found["BLEU"]["absent"] is None


def test_every_card_can_be_printed_for_a_page(capsys: pytest.CaptureFixture[str], small_wordnet: Path) -> None:
    assert main(["metrics", "--markdown"]) == 0
    assert capsys.readouterr().out.count("\n### ") >= 25
