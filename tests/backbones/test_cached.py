"""The call cache: keys, hits, shared flights, and what a commit promises."""

import asyncio
import dataclasses

import pytest

from sero.backbones.base import Completion, Usage
from sero.backbones.cached import CachedBackbone, CacheStats
from sero.backbones.scripted import ScriptedBackbone
from sero.errors import MalformedReply, ServerUnavailable, StorageError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "calls.sqlite"


@pytest.fixture
async def cached(path):
    """`cached(inner, **options)`; all are closed at the end."""
    made = []

    def make(inner, **options):
        made.append(CachedBackbone(inner, path, **options))
        return made[-1]

    yield make
    for one in made:
        await one.close()


class Gate(ScriptedBackbone):
    """Answers in order, each when it is opened; an exception among the answers is raised."""

    def __init__(self, *answers):
        self.open = asyncio.Event()
        self.answers = list(answers)
        super().__init__(self._answer)

    async def _answer(self, request):
        answer = self.answers.pop(0)
        await self.open.wait()
        if isinstance(answer, Exception):
            raise answer
        return answer


async def asked(inner, n):
    """Let tasks run until `n` requests have reached `inner`, and a little longer."""
    while len(inner.requests) < n:
        await asyncio.sleep(0)
    for _ in range(5):
        await asyncio.sleep(0)


async def test_an_equal_request_is_not_sent_again(cached, request_of):
    first = Completion(
        text="4",
        finish_reason="length",
        usage=Usage(prompt_tokens=9, completion_tokens=2),
        reasoning="2+2",
        latency_s=0.5,
        retries=1,
    )
    inner = ScriptedBackbone(lambda request: first)
    backbone = cached(inner)
    assert await backbone.generate(request_of()) == first
    hit = dataclasses.replace(first, cached=True, latency_s=0.0, retries=0)
    assert await backbone.generate(request_of(role="somebody else")) == hit
    backbone.commit()
    assert await backbone.generate(request_of()) == hit
    assert len(inner.requests) == 1
    assert backbone.stats == CacheStats(
        calls=3, hits=2, requests=1, retries=1, prompt_tokens=9, completion_tokens=2
    )


async def test_whether_the_backbone_answers_is_asked_past_the_cache(cached):
    inner = Gate("ok", "ok", ServerUnavailable("down"))
    inner.open.set()
    backbone = cached(inner)
    await backbone.check_alive()
    await backbone.check_alive()
    with pytest.raises(ServerUnavailable, match="down"):
        await backbone.check_alive()
    assert [request.role for request in inner.requests] == ["probe"] * 3
    # "Reply with the word ok." is 23 characters, 6 tokens; the third was never answered
    assert backbone.stats == CacheStats(
        calls=0, hits=0, requests=3, prompt_tokens=12, completion_tokens=2
    )


async def test_samples_are_told_apart(cached, request_of):
    inner = ScriptedBackbone(lambda request: str(request.sample_index))
    backbone = cached(inner)
    texts = [
        (await backbone.generate(request_of(temperature=0.7, sample_index=(42, "pre", n, 0)))).text
        for n in (1, 2, 1)
    ]
    assert texts == ["(42, 'pre', 1, 0)", "(42, 'pre', 2, 0)", "(42, 'pre', 1, 0)"]
    assert len(inner.requests) == 2


async def test_another_model_asks_anew(cached, request_of):
    one, other = ScriptedBackbone([], default="a"), ScriptedBackbone([], default="b", name="other")
    first = cached(one)
    await first.generate(request_of())
    first.commit()
    assert (await cached(other).generate(request_of())).text == "b"


async def test_identity_and_room_are_the_inner_ones(cached):
    inner = ScriptedBackbone([], name="m", max_prompt_chars=77)
    backbone = cached(inner)
    assert (backbone.identity, backbone.max_prompt_chars) == (inner.identity, 77)


# ---- requests in flight -------------------------------------------------------------------------


async def test_equal_requests_in_flight_share_one_call(cached, request_of):
    inner = Gate("4", "other")
    backbone = cached(inner)
    tasks = [asyncio.create_task(backbone.generate(request_of())) for _ in range(5)]
    tasks.append(asyncio.create_task(backbone.generate(request_of("other"))))
    await asked(inner, 2)
    inner.open.set()
    got = await asyncio.gather(*tasks)
    assert [one.text for one in got] == ["4"] * 5 + ["other"]
    assert [one.cached for one in got] == [False, True, True, True, True, False]
    # 22 and 13 characters of prompt, 1 and 5 of reply: 6 + 4 and 1 + 2 tokens, sent once each
    assert backbone.stats == CacheStats(
        calls=6, hits=4, requests=2, prompt_tokens=10, completion_tokens=3
    )


async def test_a_failure_is_everybodys_and_is_not_remembered(cached, request_of):
    inner = Gate(ServerUnavailable("down"), "4")
    backbone = cached(inner)
    tasks = [asyncio.create_task(backbone.generate(request_of())) for _ in range(3)]
    await asked(inner, 1)
    inner.open.set()
    got = await asyncio.gather(*tasks, return_exceptions=True)
    assert [str(one) for one in got] == ["down"] * 3
    assert (await backbone.generate(request_of())).text == "4"
    assert backbone.stats == CacheStats(
        calls=4, hits=0, requests=2, prompt_tokens=6, completion_tokens=1
    )


async def test_when_the_owner_is_cancelled_one_waiter_asks_instead(cached, request_of):
    inner = Gate("lost", "4")
    backbone = cached(inner)
    owner, *waiters = [asyncio.create_task(backbone.generate(request_of())) for _ in range(4)]
    await asked(inner, 1)
    owner.cancel()
    await asked(inner, 2)
    inner.open.set()
    got = await asyncio.wait_for(asyncio.gather(*waiters), 5.0)
    assert [one.text for one in got] == ["4"] * 3
    assert owner.cancelled()
    assert backbone.stats == CacheStats(
        calls=4, hits=2, requests=2, prompt_tokens=6, completion_tokens=1
    )


async def test_a_cancelled_waiter_takes_nobody_along(cached, request_of):
    inner = Gate("4")
    backbone = cached(inner)
    owner, gone, stays = [asyncio.create_task(backbone.generate(request_of())) for _ in range(3)]
    await asked(inner, 1)
    gone.cancel()
    await asyncio.sleep(0)
    inner.open.set()
    assert [(await task).text for task in (owner, stays)] == ["4", "4"]
    assert gone.cancelled()
    assert len(inner.requests) == 1


async def test_a_bug_in_the_inner_backbone_leaves_nobody_waiting(cached, request_of):
    inner = Gate(KeyError("bug"), KeyError("bug"))
    backbone = cached(inner)
    tasks = [asyncio.create_task(backbone.generate(request_of())) for _ in range(2)]
    await asked(inner, 1)
    inner.open.set()
    got = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 5.0)
    assert [type(one) for one in got] == [KeyError, KeyError]


# ---- what is kept -------------------------------------------------------------------------------


async def test_a_commit_makes_answers_durable_and_nothing_else_does(cached, path, request_of):
    inner = ScriptedBackbone([], default="4")
    backbone = cached(inner)
    await backbone.generate(request_of())
    fresh = cached(ScriptedBackbone([], default="new"))
    assert (await fresh.generate(request_of())).text == "new"
    backbone.commit()
    later = cached(ScriptedBackbone([], default="never"))
    got = await later.generate(request_of())
    assert (got.text, got.cached) == ("4", True)


async def test_who_comes_second_reads_what_the_first_stored(cached, request_of):
    one, two = (cached(ScriptedBackbone([], default=text)) for text in "ab")
    assert [(await each.generate(request_of())).text for each in (one, two)] == ["a", "b"]
    one.commit()
    two.commit()
    assert [(await each.generate(request_of())).text for each in (one, two)] == ["a", "a"]


async def test_closing_commits(path, request_of):
    inner = ScriptedBackbone([], default="4")
    backbone = CachedBackbone(inner, path)
    await backbone.generate(request_of())
    await backbone.close()
    await backbone.close()
    again = CachedBackbone(ScriptedBackbone([]), path)
    assert (await again.generate(request_of())).text == "4"
    await again.close()


async def test_a_commit_of_nothing_touches_no_file(cached, request_of):
    backbone = cached(ScriptedBackbone([], default="4"))
    await backbone.generate(request_of())
    backbone.commit()
    backbone._store.insert = None  # whoever calls it now fails
    backbone.commit()


async def test_a_refused_commit_can_be_repeated(cached, request_of):
    backbone = cached(ScriptedBackbone([], default="4"))
    await backbone.generate(request_of())
    db = backbone._store._db
    db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0]}")
    for number in range(40):
        await backbone.generate(request_of("x" * 100 + str(number)))
    with pytest.raises(StorageError, match="full"):
        backbone.commit()
    assert (await backbone.generate(request_of())).cached
    db.execute("PRAGMA max_page_count = 100000")
    backbone.commit()
    fresh = cached(ScriptedBackbone([]))
    assert (await fresh.generate(request_of())).text == "4"


async def test_memory_is_bounded_and_forgets_nothing(cached, request_of):
    inner = ScriptedBackbone(lambda request: request.messages[1].content)
    backbone = cached(inner, memory_entries=3)
    for number in range(10):
        await backbone.generate(request_of(str(number)))
    assert len(backbone._memory) == 3
    # before the commit the older ones wait in the buffer, after it they are in the file
    for _ in range(2):
        texts = [(await backbone.generate(request_of(str(number)))).text for number in range(10)]
        assert texts == [str(number) for number in range(10)]
        backbone.commit()
    assert (len(inner.requests), len(backbone._memory)) == (10, 3)


async def test_a_damaged_value_is_asked_anew_and_mended(cached, request_of, caplog):
    backbone = cached(ScriptedBackbone([], default="4"))
    await backbone.generate(request_of())
    backbone.commit()
    backbone._store._db.execute("UPDATE completions SET value = '{'")
    second = cached(ScriptedBackbone([], default="anew"))
    assert (await second.generate(request_of())).text == "anew"
    assert "damaged" in caplog.text
    second.commit()
    third = cached(ScriptedBackbone([]))
    assert (await third.generate(request_of())).text == "anew"


async def test_half_characters_are_kept_as_they_came(cached, request_of):
    backbone = cached(ScriptedBackbone([], default="half \ud83d"))
    await backbone.generate(request_of("also \udc00"))
    backbone.commit()
    fresh = cached(ScriptedBackbone([]))
    assert (await fresh.generate(request_of("also \udc00"))).text == "half \ud83d"


async def test_the_inner_backbone_is_closed_even_if_the_disk_fails(path, request_of):
    inner = ScriptedBackbone([], default="4")
    closed = []

    async def close():
        closed.append(True)

    inner.close = close
    backbone = CachedBackbone(inner, path)
    await backbone.generate(request_of())
    backbone._store._db.close()
    with pytest.raises(StorageError):
        await backbone.close()
    assert closed == [True]


async def test_a_typed_failure_passes_through_unchanged(cached, request_of):
    def broken(request):
        raise MalformedReply("half")

    with pytest.raises(MalformedReply, match="half"):
        await cached(ScriptedBackbone(broken)).generate(request_of())


# ---- two backbones over the same replies --------------------------------------------------------


def named(name, reply=None):
    return ScriptedBackbone(lambda request: reply or f"{name} speaks", name=name)


async def test_one_commit_makes_the_replies_of_both_durable(cached, path, request_of):
    own = cached(named("own"))
    other = own.beside(named("other"))
    assert (await own.generate(request_of())).text == "own speaks"
    assert (await other.generate(request_of())).text == "other speaks"
    own.commit()
    for name in ("own", "other"):
        later = cached(named(name, "asked anew"))
        found = await later.generate(request_of())
        assert (found.text, found.cached) == (f"{name} speaks", True)


async def test_the_other_may_commit_as_well(cached, request_of):
    own = cached(named("own"))
    other = own.beside(named("other"))
    await own.generate(request_of())
    other.commit()
    assert (await cached(named("own", "asked anew")).generate(request_of())).cached


async def test_replies_of_one_are_never_those_of_the_other(cached, request_of):
    own, second = cached(named("own")), named("other")
    other = own.beside(second)
    assert other.identity == second.identity != own.identity
    for _ in range(2):
        await own.generate(request_of())
        await other.generate(request_of())
    assert (await other.generate(request_of())).text == "other speaks"
    assert (own.stats.calls, own.stats.requests, own.stats.hits) == (2, 1, 1)
    assert (other.stats.calls, other.stats.requests, other.stats.hits) == (3, 1, 2)


async def test_one_model_at_two_addresses_shares_its_replies(cached, request_of):
    first, second = named("same", "first"), named("same", "second")
    own = cached(first)
    other = own.beside(second)
    await own.generate(request_of())
    found = await other.generate(request_of())
    assert (found.text, found.cached) == ("first", True)
    assert second.requests == []


async def test_equal_requests_in_flight_to_one_model_share_a_call(cached, request_of):
    slow = Gate("once")
    own = cached(slow)
    other = own.beside(ScriptedBackbone(lambda request: "twice", name=slow.identity.model))
    flights = [asyncio.ensure_future(one.generate(request_of())) for one in (own, other)]
    await asked(slow, 1)
    slow.open.set()
    assert [found.text for found in await asyncio.gather(*flights)] == ["once", "once"]


async def test_who_was_second_is_counted_for_both(cached, path, request_of):
    """A reply that another process stored first is a loss of the whole file's work."""
    rival = cached(named("other", "theirs"))
    own = cached(named("own"))
    other = own.beside(named("other", "ours"))
    assert (await other.generate(request_of())).text == "ours"
    await rival.generate(request_of())
    rival.commit()
    assert (own.commit(), other.commit()) == (1, 1)
    assert (await other.generate(request_of())).text == "theirs"


async def test_the_other_is_closed_first_and_leaves_the_file_open(path, request_of):
    closed = []

    class Closing(ScriptedBackbone):
        async def close(self):
            closed.append(self.identity.model)

    own = CachedBackbone(Closing([], default="a", name="own"), path)
    other = own.beside(Closing([], default="b", name="other"))
    await other.generate(request_of())
    await other.close()
    await own.generate(request_of())
    await own.close()
    assert closed == ["other", "own"]
    later = CachedBackbone(named("own", "asked anew"), path)
    assert (await later.generate(request_of())).text == "a"
    assert (await later.beside(named("other", "asked anew")).generate(request_of())).text == "b"
    await later.close()
