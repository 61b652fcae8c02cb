"""The call cache around any backbone: nothing is asked twice, whatever the method asks for."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from sero.backbones.base import (
    Backbone,
    BackboneId,
    ChatMessage,
    Completion,
    Request,
    request_key,
)
from sero.backbones.completion_store import CompletionStore
from sero.errors import SeroError

_MEMORY_ENTRIES = 4096

ALIVE = Request(
    messages=(ChatMessage("user", "Reply with the word ok."),),
    temperature=0.0,
    max_tokens=16,
    sample_index=(0,),
    role="probe",
)
"""What a server is asked to find out whether it answers at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    """Logical calls, those answered without the backbone, those sent to it, and its retries.

    Attributes:
        prompt_tokens, completion_tokens: of what was sent and answered.
    """

    calls: int
    hits: int
    requests: int
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class CachedBackbone:
    """Remembers completions by `request_key`, in memory and in a file that runs share.

    Equal requests in flight share one call. New completions are buffered until `commit`, which
    the owner calls once per rollout, before it writes any record that depends on them.

    Args:
        inner: who is asked on a miss; closed with this one.
        path: the SQLite file, made if absent.
        memory_entries: completions held in memory in front of the file.

    Raises:
        StorageError: the file cannot be opened.
    """

    def __init__(
        self, inner: Backbone, path: Path, *, memory_entries: int = _MEMORY_ENTRIES
    ) -> None:
        self._inner = inner
        self._identity = inner.identity
        self._store = CompletionStore(path)
        self._limit = memory_entries
        self._memory: OrderedDict[str, Completion] = OrderedDict()
        self._unsaved: dict[str, Completion] = {}
        self._flights: dict[str, asyncio.Future[Completion | SeroError | None]] = {}
        self._count()
        self._owner = self
        self._lost = 0
        self._closed = False

    def beside(self, inner: Backbone) -> CachedBackbone:
        """Another backbone over the same replies: one `commit` makes the replies of both durable.

        It is closed before this one, and its calls are counted apart.
        """
        other = copy.copy(self)
        other._inner, other._identity = inner, inner.identity
        other._count()
        return other

    def _count(self) -> None:
        self._calls = self._hits = self._requests = self._retries = 0
        self._prompt_tokens = self._completion_tokens = 0

    @property
    def identity(self) -> BackboneId:
        return self._identity

    @property
    def max_prompt_chars(self) -> int | None:
        return self._inner.max_prompt_chars

    @property
    def stats(self) -> CacheStats:
        return CacheStats(
            calls=self._calls,
            hits=self._hits,
            requests=self._requests,
            retries=self._retries,
            prompt_tokens=self._prompt_tokens,
            completion_tokens=self._completion_tokens,
        )

    async def generate(self, request: Request) -> Completion:
        """The known answer, the answer of an equal request in flight, or a new one.

        Raises:
            BackboneError: the backbone failed, for this request or the one it shares.
            StorageError: the file cannot be read.
        """
        self._calls += 1
        key = request_key(self._identity, request)
        while (known := self._known(key)) is None:
            flight = self._flights.get(key)
            if flight is None:
                return await self._ask(key, request)
            # shielded: a waiter that is cancelled must not take the others along
            outcome = await asyncio.shield(flight)
            if isinstance(outcome, SeroError):
                raise outcome
            # with no outcome (its owner was cancelled) one of the waiters asks instead
            if outcome is not None:
                known = outcome
                break
        self._hits += 1
        return known

    async def check_alive(self) -> None:
        """Ask the backbone something trivial, past the cache.

        Raises:
            BackboneError: it does not answer: what failed before was the machine.
        """
        self._requests += 1
        self._account(await self._inner.generate(ALIVE))

    def commit(self) -> int:
        """Make every completion so far durable, in one transaction; free when there is none.

        Returns:
            How many completions of this process were not the first under their key, ever; work
            during which the number grew must be done again (`sero.backbones.settling`).

        Raises:
            StorageError: the disk refused; nothing is lost from memory and it can be called again.
        """
        owner = self._owner
        if not self._unsaved:
            return owner._lost
        for key in self._store.insert(self._unsaved):
            # another process was first: from now on its answer is this one's too
            self._memory.pop(key, None)
            owner._lost += 1
        self._unsaved.clear()
        return owner._lost

    async def close(self) -> None:
        """Commit, then close the file, if it was opened here, and the inner backbone."""
        if self._closed:
            return
        self._closed = True
        try:
            self.commit()
        finally:
            try:
                if self._owner is self:
                    self._store.close()
            finally:
                await self._inner.close()

    async def _ask(self, key: str, request: Request) -> Completion:
        """Ask the backbone on behalf of everyone who wants this key."""
        flight = self._flights[key] = asyncio.get_running_loop().create_future()
        outcome: Completion | SeroError | None = None
        self._requests += 1
        try:
            completion = await self._inner.generate(request)
            self._account(completion)
            outcome = self._keep(key, completion)
            return completion
        except SeroError as error:
            outcome = error
            raise
        finally:
            del self._flights[key]
            flight.set_result(outcome)

    def _account(self, completion: Completion) -> None:
        self._retries += completion.retries
        self._prompt_tokens += completion.usage.prompt_tokens
        self._completion_tokens += completion.usage.completion_tokens

    def _keep(self, key: str, completion: Completion) -> Completion:
        """Remember a new completion; returns it as later callers get it."""
        hit = dataclasses.replace(completion, cached=True, latency_s=0.0, retries=0)
        self._unsaved[key] = hit
        self._remember(key, hit)
        return hit

    def _known(self, key: str) -> Completion | None:
        completion = self._memory.get(key)
        if completion is not None:
            self._memory.move_to_end(key)
            return completion
        completion = self._unsaved.get(key) or self._store.get(key)
        if completion is not None:
            self._remember(key, completion)
        return completion

    def _remember(self, key: str, completion: Completion) -> None:
        self._memory[key] = completion
        if len(self._memory) > self._limit:
            self._memory.popitem(last=False)
