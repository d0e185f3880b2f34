"""Generators that are copies and metrics that have seen the judgments: each attack with its outcome.

- references sent as outputs: no rank, with the reason (prevented), unless the owner admits them
- references with typos, tokenised, in lower case, with noise appended: the same
- another generator's outputs, with changed full stops: told to the sender, then marked on the board (visible)
- outputs in another order: marked (visible)
- a new version that is the old one: told to the sender (visible)
- a copy of a row that the sender may not know of: told without its name (visible, nothing leaks)
- the judgments as scores, with and without noise: above what annotators' agreement allows, on probation (prevented)
- a look-up of the public judgments where a share is private: exposed by the difference (prevented)
- a look-up of old judgments: measured on new ones with everybody, and the drop is shown (visible)
- another metric's scores, stretched and moved: marked (visible)
- a metric that its audit flags: on probation, not in the ensemble (prevented)
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from fastapi.testclient import TestClient
from small_campaigns import by_reference, distinct_board, people
from small_sites import Harbour, MakeHarbour, make_board

from billboards.board import Board, Dimension, Generator, Instance, Reference, human_scores, row_of
from billboards.board.judgments import JudgmentColumns
from billboards.board.private_share import private_instances
from billboards.campaigns.plan import CampaignPlan
from billboards.site.boards.live import live_board
from billboards.site.campaigns.lifecycle import close_campaign, create_campaign, open_campaign
from billboards.site.submissions import sending as submitting
from billboards.site.submissions.outcome import outcome_of
from billboards.site.submissions.records import Submission
from billboards.site.web.app import create_app
from billboards.site.work.worker import work_until_done

SENTENCE = """harbour ferry island lantern captain tide anchor village market bridge winter garden letter
window mountain railway station baker teacher doctor painter river forest morning evening silver copper wooden"""
WORDS = SENTENCE.split()


def long_board(instances: int = 40, generators: int = 4, annotators: int = 2) -> Board:
    """Texts that are long enough to tell where they come from, judged by people who agree well, not perfectly."""
    chance, numbers = random.Random(5), np.random.default_rng(5)
    tested = tuple(
        Instance(
            f"i{k}",
            references=(Reference("Ada", " ".join(chance.choices(WORDS, k=14)).capitalize() + "."),),
            input=f"input {k}",
            document=f"d{k // 2}",
        )
        for k in range(instances)
    )
    judged, rows = JudgmentColumns(("adequacy",)), []
    for g in range(generators):
        texts = []
        for k, instance in enumerate(tested):
            kept = instance.references[0].text.rstrip(".").lower().split()
            good = int(numbers.integers(3, 11))
            for place in chance.sample(range(14), 14 - good):
                kept[place] = chance.choice(WORDS)
            texts.append(" ".join(kept).capitalize() + ".")
            shared = float(numbers.normal()) * 0.8
            for a in range(annotators):
                rating = float(np.clip(good / 2.2 + shared + numbers.normal() * 0.25, 1, 5))
                judged.add(k, g, {"adequacy": rating}, annotator=f"ann{a}")
        rows.append(row_of(Generator(f"g{g}"), tested, tuple(texts)))
    return replace(
        make_board(),
        name="ferry",
        instances=tested,
        rows=tuple(rows),
        judgments=judged.build(),
        dimensions={"adequacy": Dimension("adequacy", range=(1, 5))},
        metrics=("chrF", "ROUGE-1", "ROUGE-L"),
    )


@pytest.fixture
def port(make_harbour: MakeHarbour) -> Harbour:
    return make_harbour(long_board())


def send(harbour: Harbour, texts: list[str], name: str = "sly", *, team: str = "ann") -> Submission:
    person = harbour.person(team)
    sent = submitting.submit_generator(harbour.site, person, "ferry", name, "\n".join(texts).encode())
    work_until_done(harbour.site)
    return harbour.now(sent.submission)


def references(harbour: Harbour) -> list[str]:
    return [instance.references[0].text for instance in harbour.board.instances]


def standing(harbour: Harbour, name: str, kind: str = "generators") -> dict[str, object]:
    document = live_board(harbour.site, "ferry").document
    assert document is not None
    entries: list[dict[str, object]] = document["ranking"][kind]
    return next(entry for entry in entries if entry["name"] == name)


def page(harbour: Harbour, address: str) -> str:
    return TestClient(create_app(harbour.site), base_url="http://127.0.0.1").get(address).text


def with_typos(text: str) -> str:
    return text.replace("er", "re", 1)


def tokenised(text: str) -> str:
    return text.replace(".", " .")


def with_noise(text: str) -> str:
    return text + " Xyzzy plugh."


@pytest.mark.parametrize(
    "disguise", [str, with_typos, tokenised, str.lower, with_noise], ids=["plain", "typos", "tokens", "lower", "noise"]
)
def test_references_sent_as_outputs_get_no_rank_and_everybody_reads_why(
    port: Harbour, disguise: Callable[[str], str]
) -> None:
    sent = send(port, [disguise(text) for text in references(port)])
    assert sent.state == "scored"
    entry = standing(port, "sly")
    assert entry["rank"] is None
    assert "are references, or nearly" in str(entry["reason"])
    assert "are references, or nearly" in page(port, "/boards/ferry")
    assert "are references, or nearly" in page(port, "/boards/ferry/generators/sly")
    assert "gets no rank" in page(port, f"/submissions/{sent.id}")


def test_an_owner_who_has_looked_lets_it_count(port: Harbour) -> None:
    submitting.change_settings(port.site, port.owner, "ferry", {"trust": {"admits": ["sly"]}})
    send(port, references(port))
    entry = standing(port, "sly")
    assert entry["rank"] == 1
    assert entry["doubts"]


def test_an_owner_bars_by_rules_and_by_name_with_a_public_reason(port: Harbour) -> None:
    rules = {"bars": ["copies a generator"], "barred": {"g3": "was trained on the test set"}}
    submitting.change_settings(port.site, port.owner, "ferry", {"trust": rules})
    send(port, list(port.board.row("g1").texts))  # type: ignore[arg-type]
    assert standing(port, "sly")["rank"] is None
    assert standing(port, "g1")["rank"] is not None
    assert standing(port, "g3")["reason"] == "kept out by the board's owner: was trained on the test set"


def test_a_copied_generator_is_told_to_the_sender_and_marked_on_the_board(port: Harbour) -> None:
    texts = [str(text).replace(".", "!") for text in port.board.row("g2").texts]
    sent = send(port, texts)
    assert "are another row" in page(port, f"/submissions/{sent.id}")
    assert "(g2)" in page(port, f"/submissions/{sent.id}")
    assert standing(port, "sly")["rank"] is not None
    assert "are another row" in page(port, "/boards/ferry")


def test_outputs_in_another_order_are_marked(port: Harbour) -> None:
    texts = [str(text) for text in port.board.row("g0").texts]
    sent = send(port, [*texts[1:], texts[0]])
    assert any(doubt["kind"] == "other order" for doubt in sent.settings["doubts"])
    assert "fit another instance better" in page(port, "/boards/ferry/generators/sly")


def test_a_second_version_that_is_the_first_is_told(port: Harbour) -> None:
    texts = [" ".join(random.Random(k).choices(WORDS, k=14)) for k in range(len(port.board.instances))]
    first = send(port, texts)
    assert not any(doubt["kind"].startswith("copies") for doubt in first.settings.get("doubts", ()))
    second = send(port, [f"{text}!" for text in texts])
    assert [doubt["about"] for doubt in second.settings["doubts"] if doubt["kind"] == "copies an earlier version"] == [
        "version 1"
    ]


def test_a_copy_of_a_hidden_row_is_told_without_its_name(port: Harbour) -> None:
    phase = {"phases": [{"name": "task", "blind": True}]}
    submitting.change_settings(port.site, port.owner, "ferry", phase)
    texts = [" ".join(random.Random(k).choices(WORDS, k=14)) for k in range(len(port.board.instances))]
    send(port, texts, "secretive", team="bob")
    sent = send(port, texts, "sly", team="ann")
    ann = TestClient(create_app(port.site), base_url="http://127.0.0.1")
    # On this machine's own site everybody is the owner, who sees whose rank it shares: the remarks are for the team.
    page = ann.get(f"/submissions/{sent.id}").text.split("Is this what you meant to send?")[1]
    facts = {**ann.get(f"/api/v1/submissions/{sent.id}").json(), "outcome": None}
    for text in (page, json.dumps(facts, ensure_ascii=False)):
        assert "are another row" in text
        assert "secretive" not in text
    told = outcome_of(sent, live_board(port.site, "ferry", audience="public"))
    assert told is not None
    assert (told.state, told.rank, told.cluster) == ("hidden", None, ())


def lookup(board: Board, *, noise: float, seen: np.ndarray | None = None) -> bytes:
    """A program that looks an output up among the judgments it has seen."""
    shape = (len(board.rows), len(board.instances))
    people = human_scores(board.judgments, board.aggregate(), board.dimensions, shape)
    numbers = np.random.default_rng(3)
    table = {}
    for g, row in enumerate(board.rows):
        for k, text in enumerate(row.texts):
            if text is not None and (seen is None or seen[k]):
                table[text] = float(people[g, k] + noise * np.nanstd(people) * numbers.normal())
    mean = float(np.mean(list(table.values())))
    return f"""\
TABLE = {json.dumps(table)}
def score(outputs, references, inputs):
    return [TABLE.get(text, {mean} + len(text) % 7) for text in outputs]
""".encode()


DECLARED = {"higher_is_better": True, "needs": ["references"], "training_data": "none"}


def send_metric(harbour: Harbour, program: bytes, name: str) -> Submission:
    sent = submitting.submit_metric(
        harbour.site, harbour.person("ann"), "ferry", program, name=name, manifest=DECLARED
    ).submission
    work_until_done(harbour.site)
    assert harbour.now(sent).state == "scored", harbour.now(sent).reason
    return harbour.now(sent)


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_look_up_of_judgments_agrees_better_than_people_do_and_is_on_probation(port: Harbour, noise: float) -> None:
    send_metric(port, lookup(port.board, noise=noise), "oracle")
    document = live_board(port.site, "ferry").document
    assert document is not None
    entry = standing(port, "oracle", "metrics")
    assert float(str(entry["correlation"])) > 0.95
    assert (entry["rank"], entry["counts"]) == (None, False)
    assert document["ranking"]["ranked_by"] != "oracle"
    assert "oracle" not in (document["ranking"]["ensemble"] or {"weights": {}})["weights"]
    for address in ("/boards/ferry", "/boards/ferry/metrics/oracle"):
        assert "better with people than even a perfect judge would" in page(port, address)
    submitting.change_settings(port.site, port.owner, "ferry", {"trust": {"flagged": "count"}})
    work_until_done(port.site)
    assert standing(port, "oracle", "metrics")["rank"] == 1


def test_a_look_up_of_public_judgments_is_exposed_by_the_private_share(port: Harbour) -> None:
    settings = submitting.change_settings(
        port.site, port.owner, "ferry", {"trust": {"private_share": 0.4, "private_seed": 11}}
    )
    assert settings.trust is not None
    private = private_instances(replace(port.board, trust=settings.trust.rules))
    assert private is not None
    send_metric(port, lookup(port.board, noise=0.6, seen=~private), "learned")
    entry, honest = standing(port, "learned", "metrics"), standing(port, "chrF", "metrics")
    assert float(str(entry["public"])) > 0.7
    assert float(str(entry["correlation"])) < 0.5
    assert (entry["rank"], entry["counts"]) == (None, False)
    assert honest["counts"]
    assert float(str(honest["exposure"])) > 0.05
    assert "has it seen the public ones?" in page(port, "/boards/ferry/metrics/learned")


def test_private_judgments_and_their_seed_are_shown_to_nobody_but_owners(port: Harbour) -> None:
    submitting.change_settings(port.site, port.owner, "ferry", {"trust": {"private_share": 0.4, "private_seed": 4711}})
    work_until_done(port.site)
    live = live_board(port.site, "ferry")
    private = private_instances(live.board)
    assert private is not None
    assert not private[live.shown.judgments.instance].any()
    assert len(live.shown.judgments) == int((~private[live.board.judgments.instance]).sum())
    assert len(live_board(port.site, "ferry", audience="owners").shown.judgments) == len(live.board.judgments)
    facts = live.settings.public_document()
    assert facts["trust"]["private_share"] == 0.4
    assert "4711" not in json.dumps(facts)


def test_a_seed_is_chosen_where_the_owner_chooses_none_and_stays(port: Harbour) -> None:
    first = submitting.change_settings(port.site, port.owner, "ferry", {"trust": {"private_share": 0.4}})
    second = submitting.change_settings(port.site, port.owner, "ferry", {"trust": {"flagged": "count"}})
    assert first.trust is not None
    assert second.trust is not None
    assert first.trust.private_seed
    assert (second.trust.private_seed, second.trust.private_share) == (first.trust.private_seed, 0.4)


def test_new_judgments_measure_everybody_again_and_the_drop_of_a_look_up_is_shown(make_harbour: MakeHarbour) -> None:
    board = distinct_board()
    numbers = np.random.default_rng(6)
    judged = JudgmentColumns(("liking",))
    for g in range(len(board.rows)):
        for k in range(len(board.instances)):
            judged.add(k, g, {"liking": float(numbers.integers(1, 100))})
    board = replace(
        board, judgments=judged.build(), dimensions={"liking": Dimension("liking", range=(1, 100))}, ranks="liking"
    )
    harbour = make_harbour(board)
    submitting.change_settings(harbour.site, harbour.owner, "ferry", {"draws": 10})
    send_metric(harbour, lookup(board, noise=0.0), "oracle")
    assert float(str(standing(harbour, "oracle", "metrics")["correlation"])) > 0.9
    plan = CampaignPlan(instances=12, positive=0.0, negative=0.0)
    rows = [row.name for row in board.rows][:3]
    made = create_campaign(
        harbour.site, harbour.owner, "ferry", "again", "genie-translation", generators=rows, plan=plan
    )
    open_campaign(harbour.site, harbour.owner, made.id)
    (ann,) = people(harbour, made, by_reference)
    ann.answer_all()
    close_campaign(harbour.site, harbour.owner, made.id, ranks=True)
    work_until_done(harbour.site)
    entry = standing(harbour, "oracle", "metrics")
    assert float(str(entry["before"])) > 0.9
    assert float(str(entry["correlation"])) < 0.6
    assert "on the judgments before" in page(harbour, "/boards/ferry/metrics/oracle")


STRETCHED = """
def score(outputs, references, inputs):
    return [7 * max(shared(output, text) for text in texts) - 3 for output, texts in zip(outputs, references)]

def shared(output, text):
    return len(set(output.split()) & set(text.split()))
"""
PLAIN = STRETCHED.replace("7 * max", "max").replace(" - 3", "")


@pytest.mark.long
def test_a_metric_that_gives_anothers_scores_is_marked(port: Harbour) -> None:
    send_metric(port, PLAIN.encode(), "first")
    send_metric(port, STRETCHED.encode(), "second")
    assert standing(port, "second", "metrics")["flags"] == ["gives the scores of first, or nearly"]
    assert standing(port, "second", "metrics")["counts"]
    assert "gives the scores of first" in page(port, "/boards/ferry/metrics/second")
