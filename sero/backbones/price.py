"""What a hosted model's tokens cost; nothing here is needed to run one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

TOKENS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceConfig:
    """The `backbone.price` section: list prices, None where unknown.

    Attributes:
        prompt_usd_per_mtok, completion_usd_per_mtok: US dollars for a million tokens.
        as_of: day the prices were looked up, as YYYY-MM-DD.
    """

    prompt_usd_per_mtok: Annotated[float, Ge(0)] | None
    completion_usd_per_mtok: Annotated[float, Ge(0)] | None
    as_of: str | None

    @property
    def known(self) -> bool:
        return self.prompt_usd_per_mtok is not None and self.completion_usd_per_mtok is not None

    def usd(self, prompt_tokens: float, completion_tokens: float) -> float | None:
        """Price of tokens in US dollars; None while either price is unknown.

        No discount is taken off, so what a provider bills for prompts it has cached is less.
        """
        prompt, completion = self.prompt_usd_per_mtok, self.completion_usd_per_mtok
        if prompt is None or completion is None:
            return None
        return (prompt * prompt_tokens + completion * completion_tokens) / TOKENS
