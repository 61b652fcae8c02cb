"""Which failures are tried again, after which pause, and how often."""

import random
from datetime import UTC, datetime

import pytest

from sero.backbones.retrying import Transient, pause_s, retry_after_s, retryable, try_again

NOON = datetime(2026, 3, 4, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_statuses_that_may_pass(status):
    assert retryable(status)


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 413, 422])
def test_statuses_that_stay(status):
    assert not retryable(status)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        ("0.25", 0.25),
        ("-3", 0.0),
        ("Wed, 04 Mar 2026 12:01:30 GMT", 90.0),
        ("Wed, 04 Mar 2026 11:00:00 GMT", 0.0),
        ("Wed, 04 Mar 2026 12:00:05 -0000", 5.0),  # parsed without a zone
        ("soon", None),
        ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", None),
        ("Wed, 04 Mar 2026 12:00:00 +99999999999999999999999", None),
        ("Mon, 01 Jan 0001 00:00:00 +2359", 0.0),
        ("", None),
        ("nan", None),
    ],
)
def test_what_a_server_asks_to_wait(header, seconds):
    assert retry_after_s(header, NOON) == seconds


@pytest.mark.parametrize(
    ("attempt", "ceiling"),
    [(1, 0.5), (2, 1.0), (3, 2.0), (4, 3.0), (10_000, 3.0)],  # doubling up to three seconds
)
def test_pauses_double_up_to_a_bound(attempt, ceiling):
    jitter = random.Random(0)
    drawn = [
        pause_s(attempt, None, backoff_s=0.5, backoff_max_s=3.0, jitter=jitter) for _ in range(200)
    ]
    assert 0.5 * ceiling <= min(drawn) < 0.55 * ceiling
    assert 0.95 * ceiling < max(drawn) <= ceiling


def test_a_pause_is_never_shorter_than_asked():
    jitter = random.Random(0)
    drawn = [pause_s(9, 20.0, backoff_s=0.5, backoff_max_s=3.0, jitter=jitter) for _ in range(200)]
    assert min(drawn) >= 20.0
    assert max(drawn) <= 20.5


async def again(outcomes, *, max_retries, left_s=60.0, asked_s=None):
    """Attempts made after the first failure, and what came of them."""
    made = []

    async def attempt():
        made.append(len(made))
        outcome = outcomes[len(made) - 1]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    try:
        got = await try_again(
            Transient("first", retry_after_s=asked_s),
            attempt,
            max_retries=max_retries,
            backoff_s=0.001,
            backoff_max_s=0.002,
            left_s=left_s,
            jitter=random.Random(0),
        )
    except Transient as error:
        got = error.reason
    return len(made), got


async def test_attempts_go_on_until_one_succeeds():
    assert await again([Transient("second"), "answer"], max_retries=5) == (2, "answer")


@pytest.mark.parametrize(("max_retries", "last"), [(0, "first"), (1, "0"), (3, "2")])
async def test_attempts_are_bounded(max_retries, last):
    outcomes = [Transient(str(n)) for n in range(9)]
    assert await again(outcomes, max_retries=max_retries) == (max_retries, last)


async def test_a_pause_past_the_deadline_is_not_begun():
    assert await again(["answer"], max_retries=5, left_s=1.0, asked_s=30.0) == (0, "first")


async def test_other_errors_end_it_at_once():
    with pytest.raises(KeyError):
        await again([KeyError("bug"), "answer"], max_retries=5)
