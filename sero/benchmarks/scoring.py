"""Responses from outside, one JSON object a line, scored by a benchmark: in order, as they come.

A line that cannot be scored is a fault of the file and costs no other line its score.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from sero.benchmarks.base import TIMED_OUT, Benchmark
from sero.benchmarks.files import parse_object
from sero.errors import DataError

AHEAD = 8
"""Lines per worker that are read before the oldest open one has its verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line with something on it.

    Attributes:
        number: in the file, from 1, blank lines counted; for messages.
        index: among the lines that are not blank, from 0; for results.
    """

    number: int
    index: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of a line: a score, or the faults that kept it from getting one.

    Attributes:
        score: in [0, 1]; None with faults.
        parsed: the canonical answer read from the response, None where there is none.
        timed_out: the scorer was stopped at its deadline; the score is 0 for that reason.
    """

    index: int
    score: float | None
    parsed: str | None = None
    reason: str = ""
    timed_out: bool = False
    faults: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """One line of output; `timed_out` stands there only where it is true."""
        fields: dict[str, Any] = {
            "index": self.index,
            "score": self.score,
            "parsed": self.parsed,
            "reason": self.reason,
        }
        return {**fields, "timed_out": True} if self.timed_out else fields


def numbered(lines: Iterable[bytes]) -> Iterator[Line]:
    """The lines that are not blank; a byte-order mark is no part of the first."""
    index = 0
    for number, data in enumerate(lines, 1):
        if number == 1:
            data = data.removeprefix(b"\xef\xbb\xbf")
        if data.strip():
            yield Line(number=number, index=index, data=data)
            index += 1


def judge(benchmark: Benchmark, line: Line) -> Verdict:
    """Score one line: `item` as published and the raw `response`; other keys are passed over."""
    where = f"line {line.number}"
    try:
        item, response = _item_and_response(line.data)
        task = benchmark.task_from_data(item, where)
    except DataError as error:
        faults = tuple(fault.removeprefix(f"{where}: ") for fault in error.faults)
        return Verdict(index=line.index, score=None, faults=tuple(f"{where}: {f}" for f in faults))
    parsed = benchmark.parse(task.prompt, response)
    score = benchmark.score(parsed, task)
    return Verdict(
        index=line.index,
        score=score.value,
        parsed=parsed.answer,
        reason=score.reason,
        timed_out=bool(score.metrics.get(TIMED_OUT)),
    )


def verdicts(benchmark: Benchmark, lines: Iterable[bytes], *, workers: int) -> Iterator[Verdict]:
    """A verdict for every line that is not blank, in their order.

    With several workers further lines are read and scored meanwhile, at most `AHEAD` per worker;
    a verdict is given out as soon as those before it are, whether or not more input is there.
    """
    if workers == 1:
        for line in numbered(lines):
            yield judge(benchmark, line)
        return
    waiting: queue.Queue[Future[Verdict] | Exception | None] = queue.Queue(AHEAD * workers)
    pool = ThreadPoolExecutor(workers, "scorer")

    def read() -> None:
        try:
            for line in numbered(lines):
                waiting.put(pool.submit(judge, benchmark, line))
            waiting.put(None)
        except (OSError, ValueError, RuntimeError) as error:  # unreadable, or the pool is shut
            waiting.put(error)

    # A daemon: it may wait for input that never comes.
    threading.Thread(target=read, name="scorer-input", daemon=True).start()
    try:
        while (head := waiting.get()) is not None:
            if isinstance(head, Exception):
                raise head
            yield head.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        with contextlib.suppress(queue.Empty):
            while True:  # makes room for a reader that waits, which then finds the pool shut
                waiting.get_nowait()


def _item_and_response(data: bytes) -> tuple[dict[str, Any], str]:
    """The two fields of a line.

    Raises:
        DataError: with every fault.
    """
    try:
        record = parse_object(data.decode("utf-8").strip())
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 text (byte {error.start})") from None
    item, response = record.get("item"), record.get("response")
    faults = []
    if not isinstance(item, dict):
        faults.append(_wanted(record, "item", "the published fields of an item are"))
    if not isinstance(response, str):
        faults.append(_wanted(record, "response", "the text of a response is"))
    if faults:
        raise DataError("; ".join(faults), faults)
    assert isinstance(item, dict)
    assert isinstance(response, str)
    return item, response


def _wanted(record: dict[str, Any], key: str, what: str) -> str:
    found = f"got {type(record[key]).__name__}" if record.get(key) is not None else "missing"
    return f"{key}: {found}; {what} wanted"
