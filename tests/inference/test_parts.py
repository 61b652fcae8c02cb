"""One role call, and running several at once."""

import asyncio

import pytest

from sero.backbones.base import ChatMessage, Completion, OutputSchema, Usage
from sero.backbones.scripted import ScriptedBackbone
from sero.errors import ServerUnavailable
from sero.inference.layout import TRIMMED, Upstream
from sero.inference.parts import speak, together
from sero.inference.trace import CallKind


class TestSpeak:
    async def test_the_request(self, card, parts, call):
        backbone = ScriptedBackbone([], default="hm")
        await speak(card("s1"), "TASK", (), parts(backbone), call=call, kind=CallKind.DRAFT)
        (request,) = backbone.requests
        assert request.messages == (
            ChatMessage(
                "system", "You are s1.\n\nPrompt of s1.\n\nFormat of your reply:\nOne line."
            ),
            ChatMessage("user", "TASK"),
        )
        assert (request.temperature, request.max_tokens) == (0.0, 64)
        assert (request.role, request.schema) == ("s1", None)

    @pytest.mark.parametrize(
        ("temperature", "sample_index"),
        # greedy: the repeat alone; else run seed, phase, episode, repeat
        [(0.0, (0,)), (0.4, (7, "pre", 3, 0))],
    )
    async def test_the_sample_index(self, card, parts, call, temperature, sample_index):
        backbone = ScriptedBackbone([], default="hm")
        role = card("s1", temperature=temperature)
        await speak(role, "TASK", (), parts(backbone), call=call, kind=CallKind.DRAFT)
        (request,) = backbone.requests
        assert (request.temperature, request.sample_index) == (temperature, sample_index)

    async def test_a_sample_may_be_named_and_a_prompt_be_bare(self, card, parts, call):
        backbone = ScriptedBackbone([], default="hm")
        await speak(
            card("s1", temperature=0.4),
            "TASK",
            (Upstream("s2", "f", "new"),),
            parts(backbone),
            call=call,
            kind=CallKind.SAMPLE,
            own="old",
            suffix="\n\nGo on.",
            bare=True,
            sample_index=(7, 2),
            schema=OutputSchema("form", "{}"),
        )
        (request,) = backbone.requests
        assert (request.sample_index, request.schema) == ((7, 2), OutputSchema("form", "{}"))
        assert [m.content for m in request.messages] == [
            "Prompt of s1.",
            "TASK\n\n### Message from s2 (f)\nnew\n\n### Your previous message\nold\n\nGo on.",
        ]

    async def test_the_message(self, card, parts, call):
        reply = Completion(
            text="half a",
            finish_reason="length",
            usage=Usage(prompt_tokens=11, completion_tokens=7),
            cached=True,
            latency_s=0.5,
            retries=2,
        )
        got = await speak(
            card("s1"),
            "TASK",
            (),
            parts(ScriptedBackbone(lambda request: reply)),
            call=call,
            kind=CallKind.MESSAGE,
            round=2,
        )
        assert (got.role, got.kind, got.round, got.text) == ("s1", "message", 2, "half a")
        assert (got.finish_reason, got.cached, got.latency_s, got.retries) == (
            "length",
            True,
            0.5,
            2,
        )
        assert (got.prompt_tokens, got.completion_tokens, got.trimmed) == (11, 7, 0)
        assert not got.replaced

    async def test_what_the_context_does_not_hold_is_cut_and_counted(self, card, parts, call):
        backbone = ScriptedBackbone([], default="hm", max_prompt_chars=200)
        upstream = [Upstream("s2", "f", "x" * 300), Upstream("s3", "f", "new")]
        got = await speak(
            card("s1"), "TASK", upstream, parts(backbone), call=call, kind=CallKind.MESSAGE
        )
        assert got.trimmed == 1
        (request,) = backbone.requests
        assert sum(len(m.content) for m in request.messages) <= 200
        assert TRIMMED in request.messages[1].content
        assert request.messages[1].content.endswith("### Message from s3 (f)\nnew")


class TestTogether:
    async def test_results_in_the_order_of_the_work(self):
        async def work(n):
            for _ in range(5 - n):
                await asyncio.sleep(0)
            return n

        assert await together(work(n) for n in range(5)) == [0, 1, 2, 3, 4]
        assert await together([]) == []

    async def test_all_of_it_runs_at_once(self):
        barrier = asyncio.Barrier(4)
        async with asyncio.timeout(5):
            await together(barrier.wait() for _ in range(4))

    async def test_a_failure_stops_the_others_and_is_raised_itself(self):
        ended = []

        async def wait():
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                ended.append("cleaned up")

        async def fail():
            await asyncio.sleep(0)
            raise ServerUnavailable("down")

        async with asyncio.timeout(5):
            with pytest.raises(ServerUnavailable, match="down"):
                await together([wait(), fail(), wait()])
        assert ended == ["cleaned up"] * 2  # before the error went up

    async def test_of_several_failures_the_first_counts(self):
        async def fail(n):
            for _ in range(n):
                await asyncio.sleep(0)
            raise ServerUnavailable(str(n))

        with pytest.raises(ServerUnavailable, match="1"):
            await together([fail(3), fail(1), fail(2), fail(1)])

    async def test_who_is_cancelled_cancels(self):
        started, cancelled = asyncio.Barrier(3), []

        async def wait(n):
            try:
                await started.wait()
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(n)
                raise

        whole = asyncio.ensure_future(together([wait(0), wait(1)]))
        async with asyncio.timeout(5):
            await started.wait()
            whole.cancel()
            with pytest.raises(asyncio.CancelledError):
                await whole
        assert sorted(cancelled) == [0, 1]
