"""Drafts and the DAG: who speaks when, and who hears whom."""

import asyncio
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sero.backbones.base import CallContext, Phase
from sero.backbones.scripted import ScriptedBackbone
from sero.encoders import HashingConfig, HashingEncoder
from sero.errors import ServerUnavailable
from sero.inference.execution import bootstrap, run_dag, upstream_of
from sero.inference.graph import Dag
from sero.inference.layout import Upstream
from sero.inference.parts import Parts
from sero.inference.trace import CallKind
from sero.roles.card import RoleCard, RoleType

CALL = CallContext(run_seed=7, phase=Phase.PRE, episode=3, item="task_1")
HEARD = re.compile(r"### Message from (\w+) \(f\)\n(.*)")
OWN = re.compile(r"### Your previous message\n(.*)")


def role(name):
    return RoleCard(
        name=name,
        role_type=RoleType.SPECIALIST,
        capability_family="f",
        communication_protocol="p",
        system_prompt=("s",),
    )


def dag(*predecessors):
    """Roles A, B, C ... with the positions of their predecessors."""
    order = tuple(role(chr(ord("A") + i)) for i in range(len(predecessors)))
    return Dag(order=order, predecessors=predecessors)


def around(answering):
    encoder = HashingEncoder(HashingConfig(dim=8))
    backbone = ScriptedBackbone(answering)
    return Parts(backbone=backbone, encoder=encoder, parse=lambda *_: None, max_tokens=64)


def run(graph, answering, *, rounds=1, replace=None):
    parts = answering if isinstance(answering, Parts) else around(answering)
    return run_dag("TASK", graph, parts, rounds=rounds, call=CALL, replace=replace)


def user(request):
    return request.messages[1].content


class TestBootstrap:
    async def test_everybody_drafts_alone_and_at_once(self):
        barrier = asyncio.Barrier(3)

        async def answering(request):
            await barrier.wait()
            return f"draft of {request.role}"

        parts = around(answering)
        members = [role(name) for name in "CAB"]
        async with asyncio.timeout(5):
            drafts = await bootstrap("TASK", members, parts, call=CALL)
        assert [(m.role, m.text, m.kind) for m in drafts] == [
            (name, f"draft of {name}", CallKind.DRAFT) for name in "CAB"
        ]
        assert all(user(request) == "TASK" for request in parts.backbone.requests)

    async def test_a_team_of_nobody(self):
        assert await bootstrap("TASK", (), around(lambda request: ""), call=CALL) == []


class TestWhenARoleStarts:
    async def test_when_its_predecessors_are_done_not_when_a_level_is(self):
        # A → C, B → D; A and B are level 0, C and D level 1. B ends only after C has started.
        c_started = asyncio.Event()

        async def answering(request):
            if request.role == "B":
                await c_started.wait()
            if request.role == "C":
                c_started.set()
            return request.role

        async with asyncio.timeout(5):
            said = await run(dag((), (), (0,), (1,)), answering)
        assert [m.text for m in said] == ["A", "B", "C", "D"]

    async def test_siblings_run_at_once(self):
        barrier = asyncio.Barrier(2)

        async def answering(request):
            if request.role in "BC":
                await barrier.wait()
            return ""

        async with asyncio.timeout(5):
            await run(dag((), (0,), (0,)), answering)

    @settings(deadline=None)
    @given(st.data())
    def test_never_before_them_and_it_hears_exactly_them(self, data):
        n = data.draw(st.integers(0, 6))
        predecessors = tuple(
            tuple(sorted(data.draw(st.sets(st.integers(0, j - 1))))) if j else () for j in range(n)
        )
        delays = data.draw(st.lists(st.integers(0, 6), min_size=n, max_size=n))
        graph = dag(*predecessors)
        clock, started, ended, heard = [0], {}, {}, {}

        async def answering(request):
            i = ord(request.role) - ord("A")
            started[i] = clock[0] = clock[0] + 1
            heard[i] = HEARD.findall(user(request))
            for _ in range(delays[i]):
                await asyncio.sleep(0)
            ended[i] = clock[0] = clock[0] + 1
            return f"m{i}"

        said = asyncio.run(run(graph, answering))
        assert [m.text for m in said] == [f"m{i}" for i in range(n)]
        for j, preds in enumerate(predecessors):
            assert heard[j] == [(graph.order[i].name, f"m{i}") for i in preds]
            assert all(ended[i] < started[j] for i in preds)

    async def test_the_virtual_time_is_the_critical_path(self):
        # durations 3 1 1 5 1: A C E = 5, B D = 6; by levels it would be 3 + 5 + 1 = 9
        took = dict(zip("ABCDE", (3, 1, 1, 5, 1), strict=True))
        now, waiting = [0], []

        async def answering(request):
            done = asyncio.get_running_loop().create_future()
            waiting.append((now[0] + took[request.role], request.role, done))
            await done
            return ""

        whole = asyncio.ensure_future(run(dag((), (), (0,), (1,), (2,)), answering))
        while not whole.done():
            for _ in range(10):
                await asyncio.sleep(0)
            if waiting:
                waiting.sort(key=lambda entry: entry[:2])
                now[0], _, done = waiting.pop(0)
                done.set_result(None)
        assert now[0] == 6


class TestRounds:
    async def test_from_the_second_round_on_a_role_sees_its_own_last_message(self):
        count = dict.fromkeys("AB", 0)

        def answering(request):
            count[request.role] += 1
            return f"{request.role}{count[request.role]}"

        parts = around(answering)
        said = await run(dag((), (0,)), parts, rounds=3)
        assert [(m.role, m.round, m.text) for m in said] == [
            ("A", 1, "A1"),
            ("B", 1, "B1"),
            ("A", 2, "A2"),
            ("B", 2, "B2"),
            ("A", 3, "A3"),
            ("B", 3, "B3"),
        ]
        seen = [
            (r.role, HEARD.findall(user(r)), OWN.findall(user(r))) for r in parts.backbone.requests
        ]
        assert seen == [
            ("A", [], []),
            ("B", [("A", "A1")], []),
            ("A", [], ["A1"]),
            ("B", [("A", "A2")], ["B1"]),  # predecessors of this round, itself of the last
            ("A", [], ["A2"]),
            ("B", [("A", "A3")], ["B2"]),
        ]

    async def test_a_round_begins_when_the_last_one_is_over(self):
        running, rounds_seen = set(), []

        async def answering(request):
            number = 2 if OWN.search(user(request)) else 1
            running.add((request.role, number))
            rounds_seen.append({n for _, n in running})
            for _ in range(9 if request.role == "B" else 1):
                await asyncio.sleep(0)
            running.remove((request.role, number))
            return "x"

        await run(dag((), ()), answering, rounds=2)
        assert all(len(numbers) == 1 for numbers in rounds_seen)

    async def test_nobody_says_nothing_in_any_round(self):
        assert await run(dag(), lambda request: "", rounds=2) == []


class TestFailure:
    async def test_it_stops_the_siblings_and_is_raised_itself(self):
        # A fails while B works; C waits for A, D for B: neither is ever asked
        asked, stopped = [], []

        async def answering(request):
            asked.append(request.role)
            if request.role == "A":
                await asyncio.sleep(0)
                raise ServerUnavailable("down", status=503)
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                stopped.append(request.role)
                raise

        async with asyncio.timeout(5):
            with pytest.raises(ServerUnavailable, match="down") as caught:
                await run(dag((), (), (0,), (1,)), answering)
        assert caught.value.status == 503
        assert (asked, stopped) == (["A", "B"], ["B"])
        assert len(asyncio.all_tasks()) == 1  # nobody is left behind

    async def test_it_comes_through_a_chain(self):
        def answering(request):
            if request.role == "C":
                raise ServerUnavailable("C failed")
            return ""

        async with asyncio.timeout(5):
            with pytest.raises(ServerUnavailable, match="C failed"):
                await run(dag((), (0,), (1,), (2,), (3,)), answering)

    async def test_a_cancelled_run_leaves_nobody_behind(self):
        whole = asyncio.ensure_future(
            run(dag((), (), (0,)), lambda request: asyncio.Event().wait())
        )
        await asyncio.sleep(0.01)
        whole.cancel()
        async with asyncio.timeout(5):
            with pytest.raises(asyncio.CancelledError):
                await whole
        assert len(asyncio.all_tasks()) == 1


class TestReplace:
    async def test_a_text_is_put_in_a_mouth_and_the_others_hear_it(self):
        parts = around(lambda request: f"from {request.role}")
        said = await run(dag((), (0,), (1,)), parts, replace={"B": "neutral"})
        assert [(m.role, m.text, m.replaced) for m in said] == [
            ("A", "from A", False),
            ("B", "neutral", True),
            ("C", "from C", False),
        ]
        assert [request.role for request in parts.backbone.requests] == ["A", "C"]
        assert HEARD.findall(user(parts.backbone.requests[1])) == [("B", "neutral")]
        assert (said[1].prompt_tokens, said[1].completion_tokens, said[1].cached) == (0, 0, False)
        assert said[1].finish_reason == "replaced"

    async def test_in_every_round(self):
        parts = around(lambda request: "said")
        said = await run(dag((), (0,)), parts, rounds=2, replace={"A": "neutral"})
        assert [(m.role, m.round, m.replaced) for m in said if m.role == "A"] == [
            ("A", 1, True),
            ("A", 2, True),
        ]
        assert [request.role for request in parts.backbone.requests] == ["B", "B"]

    async def test_an_empty_text_is_a_text(self):
        said = await run(dag(()), lambda request: "said", replace={"A": ""})
        assert (said[0].text, said[0].replaced) == ("", True)

    async def test_who_is_not_in_the_team_is_not_heard(self):
        said = await run(dag(()), lambda request: "said", replace={"Z": "x"})
        assert [m.role for m in said] == ["A"]


async def test_the_sink_sees_everybody_in_stage_order(message):
    graph = dag((), (0,))
    final = [message("A", "one"), message("B", "two")]
    assert upstream_of(graph, final) == [Upstream("A", "f", "one"), Upstream("B", "f", "two")]
    with pytest.raises(ValueError):
        upstream_of(graph, final[:1])
