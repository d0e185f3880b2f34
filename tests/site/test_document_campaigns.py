"""Documents that one annotator judges as a whole: dealt in order, held together, answered one by one, answered anew."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_campaigns import Person
from small_sites import Clock, Harbour
from starlette.testclient import TestClient
from translated_documents import HARBOUR, LANTERN, document_board

from billboards.analyses.spans import study_errors
from billboards.board import Instance
from billboards.board.writing import write_board
from billboards.campaigns.items import LONGEST_DOCUMENT, documents_of, plan_items, sample
from billboards.campaigns.plan import CampaignPlan
from billboards.campaigns.template_files import open_template, template_source
from billboards.errors import InvalidInput, Refused
from billboards.formats import add_file
from billboards.site.accounts.access import local_viewer
from billboards.site.campaigns import answer_records
from billboards.site.campaigns.annotator_work import enter, give_back, next_item, save_answer, submit_answer, undo
from billboards.site.campaigns.annotators import invite
from billboards.site.campaigns.campaign import Campaign
from billboards.site.campaigns.campaign_files import campaign_file, written_formats
from billboards.site.campaigns.error_results import campaign_errors
from billboards.site.campaigns.lifecycle import create_campaign, open_campaign
from billboards.site.campaigns.results import campaign_answers
from billboards.site.campaigns.shown_items import Shown
from billboards.site.site import open_site
from billboards.site.web.app import create_app


@pytest.fixture
def quay(tmp_path: Path) -> Iterator[Harbour]:
    """A site with the two documents, on a clock that a test turns."""
    board, clock = document_board(), Clock()
    write_board(board, tmp_path / "boards" / "harbour")
    site = replace(open_site(tmp_path), clock=clock)
    yield Harbour(site, clock, local_viewer(site), board)
    site.close()


def _campaign(harbour: Harbour, template: str = "mqm-document", **plan: Any) -> Campaign:
    settings = CampaignPlan(**{"instances": 15, "positive": 0.0, "negative": 0.0, **plan})
    made = create_campaign(harbour.site, harbour.owner, "harbour", "first", template, plan=settings)
    return open_campaign(harbour.site, harbour.owner, made.id)


def _people(harbour: Harbour, campaign: Campaign, count: int) -> list[Person]:
    links = invite(harbour.site, harbour.owner, campaign.id, [f"person {k}" for k in range(count)])
    return [Person(harbour, enter(harbour.site, link.token), lambda shown, chance: []) for link in links]  # type: ignore[arg-type, return-value]


def _honestly(shown: Shown, chance: Any) -> Any:
    """No error, but where the output is the reference of another source."""
    references = {source: reference for source, reference, _ in (*HARBOUR, *LANTERN)}
    (output,) = shown.outputs
    if output == references[shown.input or ""] or output not in references.values():
        return []
    return [{"output": 0, "start": 0, "end": len(output), "severity": "major", "category": "Non-translation"}]


def _sources(person: Person) -> list[str]:
    return [segment.shown.input or "" for segment in person.turn().segments if segment.state == "open"]


def _states(person: Person) -> list[str]:
    return [segment.state for segment in person.turn().segments]


def test_a_document_is_dealt_whole_and_in_order_to_one_annotator(quay: Harbour) -> None:
    campaign = _campaign(quay)
    first, second = _people(quay, campaign, 2)
    documents = {len(HARBOUR): [source for source, _, _ in HARBOUR]}
    mine, theirs = _sources(first), _sources(second)
    assert len(mine) in (3, 12)
    assert documents.get(len(mine), mine) == mine
    assert _sources(first) == mine, "asking again gives the same"
    outputs = {segment.shown.outputs for segment in first.turn().segments}
    assert outputs.isdisjoint({segment.shown.outputs for segment in second.turn().segments}), "nothing is given twice"
    assert theirs
    first.answer_all()
    second.answer_all()
    lines = list(campaign_answers(quay.site, quay.owner, campaign.id))
    assert len(lines) == 2 * 15
    for who in {line.annotator for line in lines}:
        dealt = [(line.outputs[0], line.instance.split("::")[0]) for line in lines if line.annotator == who]
        runs = [key for k, key in enumerate(dealt) if k == 0 or dealt[k - 1] != key]
        assert len(runs) == len(set(runs)), "an annotator finishes a document of a generator before another one"


def test_segments_are_answered_one_by_one_and_may_be_answered_again(quay: Harbour) -> None:
    campaign = _campaign(quay)
    (person,) = _people(quay, campaign, 1)
    turn = person.answer()
    assert _states(person)[:2] == ["answered", "open"]
    assert turn.item is not None
    mark = {"output": 0, "start": 0, "end": 3, "severity": "major", "category": "Style/Awkward"}
    again = {"mqm": [mark]}
    saved = submit_answer(quay.site, person.participant, turn.item.assignment, "again", again, seconds=5)
    assert submit_answer(quay.site, person.participant, turn.item.assignment, "again", again, seconds=5).repeated
    assert saved.kind == "submitted"
    (line,) = campaign_answers(quay.site, quay.owner, campaign.id)
    assert (line.answers, line.values[0]) == (again, {"mqm": -5.0})
    history = list(campaign_answers(quay.site, quay.owner, campaign.id, history=True))
    assert [one.state for one in history] == ["superseded", "valid"]
    assert person.turn().progress.done == 1
    with pytest.raises(Refused, match="has been answered"):
        save_answer(quay.site, person.participant, turn.item.assignment, "draft", again, seconds=5)


def test_a_single_item_may_not_be_answered_again(quay: Harbour) -> None:
    campaign = _campaign(quay, "mqm")
    (person,) = _people(quay, campaign, 1)
    turn = person.answer()
    assert turn.item is not None
    assert turn.segments == ()
    with pytest.raises(Refused, match="has been answered"):
        submit_answer(quay.site, person.participant, turn.item.assignment, "again", {"mqm": []}, seconds=5)


def test_a_document_is_held_as_a_whole_while_one_works_at_it(quay: Harbour) -> None:
    campaign = _campaign(quay, lease_seconds=100.0)
    first, second = _people(quay, campaign, 2)
    mine = _sources(first)
    first.seconds = 60.0
    for _ in range(len(mine) - 1):
        first.answer()  # longer in all than a lease, each within it
    assert first.turn().segments[-1].state == "open"
    first.answer()
    assert first.turn().progress.done == len(mine)
    # Who leaves in the middle loses what is left to others, and keeps what was answered.
    held = _sources(first)
    first.answer()
    quay.clock.now += 200
    taken: set[str] = set()
    for _ in range(200):
        turn = second.turn()
        if turn.item is None:
            break
        taken |= {f"{segment.shown.outputs}" for segment in turn.segments if segment.state == "open"}
        second.answer()
    assert len(taken) == 30 - len(mine) - 1
    assert first.turn().item is None
    assert len(held) > 1
    lines = list(campaign_answers(quay.site, quay.owner, campaign.id))
    assert len({(line.instance, line.outputs) for line in lines}) == len(lines) == 30


def test_what_others_judged_of_a_document_is_there_to_be_read(quay: Harbour) -> None:
    campaign = _campaign(quay, instances=3)
    first, second = _people(quay, campaign, 2)
    turn = first.answer()
    assert turn.item is not None
    rest = first.turn().item
    assert rest is not None
    give_back(quay.site, first.participant, rest.assignment)
    seen = []
    for _ in range(10):
        turn = second.turn()
        if turn.item is None:
            break
        seen.append([segment.state for segment in turn.segments])
        second.answer()
    assert ["context", "open", "open"] in seen, "the whole document is in sight, the rest of it to be judged"


def test_undoing_opens_the_last_segment_and_keeps_the_others(quay: Harbour) -> None:
    campaign = _campaign(quay)
    (person,) = _people(quay, campaign, 1)
    person.answer()
    person.answer()
    undo(quay.site, person.participant, "back")
    assert _states(person)[:3] == ["answered", "open", "open"]
    # From the next document one comes back into the last one, and then on again.
    left = len(_sources(person))
    for _ in range(left):
        person.answer()
    later = _sources(person)
    undo(quay.site, person.participant, "back again")
    assert _states(person)[-1] == "open"
    person.answer()
    assert _sources(person) == later


def _documents_with_tests(harbour: Harbour, campaign: Campaign, person: Person, kind: str) -> set[str]:
    """The documents that an annotator has test questions of a kind left on."""
    annotator = person.participant.annotator.id
    with harbour.site.database.reading() as connection:
        left = answer_records.unseen_items(connection, campaign.id, annotator, "test", kind)
    return {item.instance.split("::")[0] for item in left}


def test_test_questions_stand_among_the_segments_on_sources_of_the_document(quay: Harbour) -> None:
    campaign = _campaign(quay, positive=0.1, negative=0.1)
    (person,) = _people(quay, campaign, 1)
    person.answering = _honestly
    for _ in range(100):
        turn = person.turn()
        if turn.item is None:
            break
        asked = [segment for segment in turn.segments if segment.batch is not None]
        (document,) = {segment.shown.document for segment in asked}
        assert len({segment.shown.input for segment in asked}) in (3, 12)
        # A test question on another document's source comes only where this one has none left of its kind.
        for stranger in turn.segments:
            if stranger.shown.document != document:
                kind = "positive" if _honestly(stranger.shown, None) == [] else "negative"
                assert document not in _documents_with_tests(quay, campaign, person, kind)
        for _ in turn.segments:
            person.answer()
    lines = list(campaign_answers(quay.site, quay.owner, campaign.id))
    tests = [line for line in lines if line.purpose == "test"]
    assert len(lines) - len(tests) == 30
    assert len(tests) >= 6
    assert {line.test for line in tests} == {"positive", "negative"}
    assert {line.is_right for line in tests} == {True}


def test_money_is_there_for_a_whole_document_or_it_is_not_given(quay: Harbour) -> None:
    campaign = _campaign(quay, pay=1.0, budget=4.0)
    (person,) = _people(quay, campaign, 1)
    turn = person.turn()
    if turn.item is None:
        assert turn.state == "budget"
    else:
        assert len(turn.segments) == 3
        person.answer_all(3)
        assert person.turn().state == "budget"


def test_qualification_questions_come_one_by_one(quay: Harbour) -> None:
    campaign = _campaign(quay, qualification=2, pass_mark=0.5, instances=3)
    (person,) = _people(quay, campaign, 1)
    for _ in range(2):
        turn = person.answer()
        assert [segment.state for segment in turn.segments] == ["open"]
    assert len(person.turn().segments) in (3, 12)


def test_two_generators_side_by_side_are_the_same_two_through_the_document(quay: Harbour) -> None:
    campaign = _campaign(quay, "mqm-contrastive")
    (person,) = _people(quay, campaign, 1)
    for _ in range(10):
        turn = person.turn()
        if turn.item is None:
            break
        assert {len(segment.shown.outputs) for segment in turn.segments} == {2}
        before = len(list(campaign_answers(quay.site, quay.owner, campaign.id)))
        for _ in turn.segments:
            person.answer()
        lines = list(campaign_answers(quay.site, quay.owner, campaign.id))[before:]
        assert len({line.outputs for line in lines}) == 1, "in the same order, too"
    assert len(list(campaign_answers(quay.site, quay.owner, campaign.id))) == 15


def test_overlap_takes_whole_documents() -> None:
    board, template = document_board(), open_template("mqm-document")
    plan = CampaignPlan(instances=15, overlap=0.5)
    items = plan_items(board, template, plan, board.rows[:2], sample(board, template, plan))
    wanted = {batch: {item.wanted for item in items if item.batch == batch} for batch in {i.batch for i in items}}
    assert sorted(map(sorted, wanted.values())) == [[1], [1], [2], [2]]


def test_whole_documents_are_sampled_and_long_ones_come_in_parts() -> None:
    board, template = document_board(), open_template("mqm-document")
    assert {len(sample(board, template, CampaignPlan(instances=n, seed=s))) for n in (1, 3) for s in range(8)} == {
        3,
        12,
    }
    assert len(sample(board, template, CampaignPlan(instances=15))) == 15
    long = tuple(Instance(f"i{k}", input="x", document="d") for k in range(2 * LONGEST_DOCUMENT + 1))
    parts = documents_of(replace(board, instances=long, rows=()), [instance.id for instance in long])
    assert [len(part) for part in parts.values()] == [27, 27, 27]
    assert [one for part in parts.values() for one in part] == [instance.id for instance in long]
    alone = tuple(replace(instance, document=None) for instance in long)
    assert len(documents_of(replace(board, instances=alone, rows=()), [one.id for one in alone])) == len(long)


@pytest.mark.parametrize("settings", [{"selector": "random"}, {"stop": "decided"}])
def test_what_goes_by_single_instances_does_not_go_with_documents(quay: Harbour, settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="asks about whole documents"):
        _campaign(quay, **settings)


def test_marks_in_the_source_are_checked_against_it(quay: Harbour) -> None:
    campaign = _campaign(quay)
    (person,) = _people(quay, campaign, 1)
    turn = person.turn()
    assert turn.item is not None
    assert turn.item.input is not None
    span = {"output": 0, "start": 0, "end": len(turn.item.input), "source": True, "severity": "major"}
    span["category"] = "Accuracy/Omission"
    save_answer(quay.site, person.participant, turn.item.assignment, "one", {"mqm": [span]}, seconds=1)
    longer = {**span, "end": len(turn.item.input) + 1}
    with pytest.raises(InvalidInput, match="the source has"):
        save_answer(quay.site, person.participant, turn.item.assignment, "two", {"mqm": [longer]}, seconds=1)


def _marked(quay: Harbour, template: str = "mqm-document") -> Campaign:
    """A campaign in which two people marked the first characters of each output, in their own way."""
    campaign = _campaign(quay, template, labels=2)
    for k, person in enumerate(_people(quay, campaign, 2)):
        for _ in range(100):
            turn = person.turn()
            if turn.item is None:
                break
            is_word = len(set(turn.item.outputs[0].split()) & {"a"}) == 0
            here = {"output": 0, "start": 0, "end": 4 + 2 * k, "severity": "minor", "category": "Fluency/Punctuation"}
            left_out = {"output": 0, "start": 1, "end": 3, "severity": "major", "category": "Accuracy/Omission"}
            marks = [here, {**left_out, "source": True, "comment": 'why, "oh"\tx'}]
            submit_answer(
                quay.site, person.participant, turn.item.assignment, person.new_id() + str(k),
                {"mqm": marks if is_word else marks[:1]}, seconds=3,
            )  # fmt: skip
    return campaign


def test_results_tell_errors_by_generator_category_and_domain_and_whether_people_agree(quay: Harbour) -> None:
    campaign = _marked(quay)
    study = campaign_errors(quay.site, quay.owner, campaign.id)
    assert study is not None
    assert study.dimension == "mqm-document.mqm"
    assert {one.generator for one in study.generators} == {"word", "plain"}
    assert all(one.judgments == 30 and one.outputs == 15 for one in study.generators)
    # Four characters and six: two thirds of 10 are shared twice, beside whole agreement on the source.
    (pair,) = study.agreement
    assert pair.outputs == 30
    in_source = sum(count.count for count in study.counts if count.category == "Accuracy/Omission")
    shared, marked = 4 * 30 + 2 * in_source / 2, 10 * 30 + 2 * in_source
    assert pair.f1 == pytest.approx(2 * shared / marked)
    assert pair.f1_with_severity == pair.f1
    assert {one.domain for one in study.domains} == {"fiction", "news"}
    points = {(one.category, one.severity): one.points / (one.per_100 / 100) for one in study.counts}
    assert points == {
        ("Fluency/Punctuation", "minor"): pytest.approx(0.1),
        ("Accuracy/Omission", "major"): pytest.approx(5.0),
    }
    (difference,) = study.differences
    assert (difference.instances, difference.documents) == (15, 2)
    assert difference.p in (0.5, 1.0), "two documents tell no more"


def test_what_is_written_as_mqm_comes_back_with_equal_spans(quay: Harbour, tmp_path: Path) -> None:
    campaign = _marked(quay)
    assert "mqm" in written_formats()
    path = tmp_path / "marked.tsv"
    path.write_text(campaign_file(quay.site, quay.owner, campaign.id, "mqm"), encoding="utf-8")
    read = add_file(document_board(), path, "mqm", "again").board
    study, own = study_errors(read, draws=20), campaign_errors(quay.site, quay.owner, campaign.id, draws=20)
    assert own is not None
    assert replace(study, source=own.source, dimension=own.dimension, seed=own.seed) == own
    ids, rows = tuple(one.id for one in read.instances), tuple(row.name for row in read.rows)
    comments = {span.get("comment") for one in read.judgments.each(ids, rows) for span in one.details["spans"]}
    assert comments == {None, 'why, "oh" x'}


def test_a_campaign_without_marks_has_no_such_results(quay: Harbour) -> None:
    campaign = _campaign(quay, "direct-assessment")
    assert campaign_errors(quay.site, quay.owner, campaign.id) is None
    other = next_item(quay.site, _people(quay, campaign, 1)[0].participant)
    assert other.segments == ()


def test_without_scripts_each_segment_is_a_plain_form(quay: Harbour, tmp_path: Path) -> None:
    source = template_source("direct-assessment").replace('"direct-assessment"', '"da-document"', 1)
    path = tmp_path / "da.toml"
    path.write_text(source.replace("task =", 'unit = "document"\ntask =', 1), encoding="utf-8")
    campaign = _campaign(quay, str(path), instances=3)
    (link,) = invite(quay.site, quay.owner, campaign.id, 1)
    client = TestClient(create_app(quay.site), base_url="http://127.0.0.1")
    page = client.get(link.path).text
    forms = re.findall(r'name="assignment" value="(\w+)">\s*<input type="hidden" name="answer_id" value="(\w+)">', page)
    field = re.findall(r'name="(answer:[^"]+)"', page)[0]
    assert len(forms) == page.count('class="segment open"') >= 3
    for k, (assignment, answer_id) in enumerate(forms):
        sent = {"assignment": assignment, "answer_id": answer_id, "stage": "0", field: str(50 + k)}
        answered = client.post(f"{link.path}/answer", data=sent, follow_redirects=False)
        assert answered.status_code == 303, answered.text
    lines = list(campaign_answers(quay.site, quay.owner, campaign.id))
    assert [next(iter(line.answers.values())) for line in lines] == [50.0 + k for k in range(len(forms))]
