"""Prices of tokens, where they are known."""

import pytest

from sero.backbones.price import PriceConfig


def price(prompt, completion):
    return PriceConfig(
        prompt_usd_per_mtok=prompt, completion_usd_per_mtok=completion, as_of="2026-06-20"
    )


def test_two_prices_for_a_million_tokens_each():
    # 2 million prompt tokens at 0.15 and half a million completion tokens at 0.60
    assert price(0.15, 0.60).usd(2_000_000, 500_000) == pytest.approx(0.30 + 0.30)
    assert price(0.0, 0.0).usd(10**9, 10**9) == 0.0


@pytest.mark.parametrize(("prompt", "completion"), [(None, 0.6), (0.15, None), (None, None)])
def test_with_either_unknown_there_is_no_price(prompt, completion):
    one = price(prompt, completion)
    assert not one.known
    assert one.usd(1, 1) is None
