"""A further backbone of a run: its errors name its own keys, not those of the run's own."""

from __future__ import annotations

import re
from collections.abc import Callable

from sero.backbones.base import Backbone, BackboneId, Completion, Request
from sero.errors import SeroError

_KEY = re.compile(r"\bbackbone\.(?=[a-z])")


def under_its_name(name: str, build: Callable[[], Backbone]) -> Backbone:
    """The backbone that `build` makes, known to its user as `backbones.<name>`.

    Raises:
        SeroError: what `build` raises, under that name.
    """
    try:
        return FurtherBackbone(name, build())
    except SeroError as error:
        raise _renamed(error, name) from None


class FurtherBackbone:
    """Passes everything on; what it raises speaks of `backbones.<name>.KEY`."""

    def __init__(self, name: str, inner: Backbone) -> None:
        self._name = name
        self._inner = inner

    @property
    def identity(self) -> BackboneId:
        return self._inner.identity

    @property
    def max_prompt_chars(self) -> int | None:
        return self._inner.max_prompt_chars

    async def generate(self, request: Request) -> Completion:
        try:
            return await self._inner.generate(request)
        except SeroError as error:
            raise _renamed(error, self._name) from None

    async def close(self) -> None:
        await self._inner.close()


def _renamed(error: SeroError, name: str) -> SeroError:
    """The same error; its words are about the further backbone."""
    own = f"backbones.{name.partition('#')[0]}" if name[:1] != "#" else "backbone"
    text = _KEY.sub(f"{own}.", str(error))
    error.args = (text if text.startswith(own) else f"{own}: {text}",)
    return error
