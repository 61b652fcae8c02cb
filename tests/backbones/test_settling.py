"""An outcome rests on stored replies only, whoever stored them first."""

import pytest

from sero.backbones.base import ChatMessage, Request
from sero.backbones.cached import CachedBackbone
from sero.backbones.scripted import ScriptedBackbone
from sero.backbones.settling import settled
from sero.errors import ServerUnavailable, StorageError

REQUEST = Request(
    messages=(ChatMessage("user", "which?"),), temperature=0.0, max_tokens=8, sample_index=(0,)
)


class Steps:
    """Counts what is asked and committed; `lost` is what each commit answers, in turn."""

    def __init__(self, *lost):
        self.lost = list(lost)
        self.log = []

    def commit(self):
        self.log.append("commit")
        return self.lost.pop(0)

    async def ask(self):
        self.log.append("ask")
        return self.log.count("ask")


@pytest.mark.parametrize(
    ("lost", "asked"),
    [
        ((0, 0), 1),
        ((5, 5), 1),  # what was lost before is somebody else's
        ((0, 1, 1), 2),
        ((2, 3, 4, 4), 3),
    ],
)
async def test_work_is_done_again_until_nothing_more_is_lost(lost, asked):
    steps = Steps(*lost)
    assert await settled(steps.ask, steps.commit) == asked
    assert steps.log == ["commit", *["ask", "commit"] * asked]
    assert steps.lost == []


async def test_a_broken_machine_comes_through_and_nothing_is_repeated():
    steps = Steps(0)

    async def breaks():
        steps.log.append("ask")
        raise ServerUnavailable("down")

    with pytest.raises(ServerUnavailable):
        await settled(breaks, steps.commit)
    assert steps.log == ["commit", "ask"]


async def test_an_outcome_whose_replies_cannot_be_stored_is_not_given():
    steps = Steps(0)

    def commit():
        if steps.log:
            raise StorageError("the disk is full")
        return steps.commit()

    with pytest.raises(StorageError):
        await settled(steps.ask, commit)


async def test_the_reply_another_process_stored_first_is_the_one_used(tmp_path):
    ours = CachedBackbone(ScriptedBackbone([], default="ours"), tmp_path / "c.sqlite")
    theirs = CachedBackbone(ScriptedBackbone([], default="theirs"), tmp_path / "c.sqlite")
    seen = []

    async def ask():
        text = (await ours.generate(REQUEST)).text
        if not seen:  # the other process asks the same meanwhile, and is first to store it
            await theirs.generate(REQUEST)
            theirs.commit()
        seen.append(text)
        return text

    assert await settled(ask, ours.commit) == "theirs"
    assert seen == ["ours", "theirs"]
    await ours.close()
    await theirs.close()


async def test_work_settles_beside_work_that_loses(tmp_path):
    """A loss of one rollout makes the other rollouts of the process repeat at most once."""
    lost, log = 0, []

    async def loses():
        nonlocal lost
        log.append("loses")
        lost += log.count("loses") == 1
        return "a"

    async def wins():
        log.append("wins")
        return await settled(loses, lambda: lost) if log.count("wins") == 1 else "b"

    assert await settled(wins, lambda: lost) == "b"
    assert log == ["wins", "loses", "loses", "wins"]
