"""The first signal stops the work and lets it save; the second ends the process."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from sero.running.signals import stopping

CHILD = """
import asyncio, sys, time
from sero.running.signals import stopping

async def waits():
    await asyncio.sleep(60)

async def busy():
    end = time.monotonic() + 60
    while time.monotonic() < end:
        sum(range(20000))
        await asyncio.sleep(0)

async def stuck():
    time.sleep(60)

async def main(work, clean_up):
    async with stopping() as stop:
        print("ready", flush=True)
        try:
            await work()
        except asyncio.CancelledError:
            stop.settle()
            print("cancelled", stop.requested, flush=True)
            async with asyncio.timeout(10):
                await asyncio.sleep(0.01)
            await clean_up()
            print("saved", flush=True)

async def quick():
    pass

asyncio.run(main(globals()[sys.argv[1]], globals()[sys.argv[2]]))
print("ended", flush=True)
"""


@pytest.fixture
def child():
    """Start a process that works and cleans up in the named ways; killed at the end."""
    started = []

    def start(work, clean_up="quick"):
        process = subprocess.Popen(
            [sys.executable, "-c", CHILD, work, clean_up], stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("work", ["waits", "busy"])
def test_the_first_signal_cancels_and_the_work_saves(child, work, number):
    process = child(work)
    began = time.monotonic()
    process.send_signal(number)
    assert process.stdout.read() == f"cancelled {number.name}\nsaved\nended\n"
    assert process.wait(timeout=10) == 0
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("clean_up", ["waits", "stuck"])
def test_the_second_signal_exits_at_once(child, clean_up, number):
    process = child("waits", clean_up)
    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == "cancelled SIGTERM\n"
    process.send_signal(number)
    assert process.wait(timeout=10) == 128 + number
    assert process.stdout.read() == ""


def test_the_second_signal_ends_work_that_never_awaits(child):
    process = child("stuck")
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)  # two equal signals at once may arrive as one
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=10) == 130


async def test_handlers_are_put_back_even_after_a_stop():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    cancelled = False
    try:
        async with stopping() as stop:
            assert signal.getsignal(signal.SIGTERM) is not before[1]
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(60)
    except asyncio.CancelledError:
        cancelled = True
    assert cancelled
    assert stop.requested == "SIGTERM"
    assert stop.cancelled
    stop.settle()
    assert asyncio.current_task().cancelling() == 0
    assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)] == before


async def test_a_signal_as_the_work_ends_is_noted_but_cancels_nothing_later():
    async with stopping() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.sleep(0.05)
    assert stop.requested == "SIGTERM"
    assert not stop.cancelled


async def test_a_cancellation_by_others_is_left_alone():
    async def work():
        async with stopping() as stop:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                stop.settle()
                return stop.requested, stop.cancelled, asyncio.current_task().cancelling()

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    assert await task == (None, False, 1)


def test_outside_the_main_thread_nothing_is_installed():
    seen = []

    async def work():
        async with stopping() as stop:
            seen.append((stop.requested, signal.getsignal(signal.SIGTERM)))

    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=lambda: asyncio.run(work()))
    thread.start()
    thread.join()
    assert seen == [(None, before)]
