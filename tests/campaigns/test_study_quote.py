from __future__ import annotations

from datetime import UTC, datetime

import pytest

from billboards.campaigns.crowd.prolific import FEES
from billboards.campaigns.crowd.publication import next_weekday_at_ten
from billboards.campaigns.crowd.quote import quote_in_words, quote_study
from billboards.campaigns.plan import SENTENCE
from billboards.campaigns.quote import count_answers
from billboards.errors import InvalidInput


def test_a_quote_counts_items_places_rewards_fees_and_the_standard_error() -> None:
    _, answers = count_answers(800, SENTENCE)
    quote = quote_study("prolific", FEES, answers=answers, generators=1, instances=800, hourly=1200)
    # 800 labels are 90% of 889 answers; 45 places of 10 minutes at 2.00.
    assert (quote.answers, quote.places, quote.minutes, quote.reward) == (889, 45, 10, 200)
    assert (quote.rewards, quote.fee, quote.total) == (9000, 3852, 12852)
    assert quote.worst_standard_error == pytest.approx(0.01768, abs=1e-5)
    assert (
        quote_in_words(quote)[2] == "rewards 90.00 USD + fees of 42.8% 38.52 USD = 128.52 USD, 128.52 USD a generator"
    )


def test_a_wage_below_the_platform_s_least_is_refused_and_one_below_its_advice_is_said() -> None:
    with pytest.raises(InvalidInput, match=r"at least 8.00 USD an hour, not 5.00 USD"):
        quote_study("prolific", FEES, answers=334, generators=1, instances=300, hourly=500)
    lines = quote_in_words(quote_study("prolific", FEES, answers=334, generators=1, instances=300, hourly=900))
    assert lines[-1] == "below the 12.00 USD an hour that prolific advises"


def test_nothing_to_judge_has_no_price() -> None:
    with pytest.raises(InvalidInput, match="at least one of instances, not 0"):
        quote_study("prolific", FEES, answers=1, generators=1, instances=0, hourly=1200)


@pytest.mark.parametrize(
    ("now", "zone", "expected"),
    [
        (datetime(2026, 11, 13, 14, 59, tzinfo=UTC), "America/New_York", "2026-11-13T10:00:00-05:00"),
        (datetime(2026, 11, 13, 15, 0, tzinfo=UTC), "America/New_York", "2026-11-16T10:00:00-05:00"),
        (datetime(2026, 11, 15, 12, 0, tzinfo=UTC), "Europe/London", "2026-11-16T10:00:00+00:00"),
        # Clocks go forward in the night to Sunday 8 March 2026.
        (datetime(2026, 3, 6, 23, 0, tzinfo=UTC), "America/New_York", "2026-03-09T10:00:00-04:00"),
    ],
)
def test_studies_are_published_on_a_weekday_at_ten_where_annotators_live(
    now: datetime, zone: str, expected: str
) -> None:
    assert next_weekday_at_ten(now, zone).isoformat() == expected


def test_an_unknown_time_zone_is_named() -> None:
    with pytest.raises(InvalidInput, match="'Mars/Olympus' is no time zone"):
        next_weekday_at_ten(datetime.now(UTC), "Mars/Olympus")
