r"""The careful judge: equal texts and plain numbers at once, everything else in a worker.

What is decided where the benchmark leaves it open:

- Closed forms have to be equal. With a decimal point on either side 1e-8 may be missing, but no
  more than 1e-6 of the gold; an `error` is an absolute tolerance, ends included, for each number of
  the answer, and belongs to the gold in whose place it stands.
- `50\%` is 0.5. In an item whose unit is `%` the mark may also be left out: 4.2 and `4.2\%`.
- `60^\circ` is 60, and `\pi/3` where the other side is written with a `\pi`.
- `n \equiv 10 \pmod 7` names the residue class of `3 \pmod 7`; a bare 3 does not.
- Conditions joined by commas hold together: `x > 1, x < 3` is an interval. Where they can never
  hold at once, as in `x < 1, x > 3`, they are a union.
- A unit may be left out. A given one is the item's, or converts to it exactly; 3 m is not 3 km.
- Several answers are matched one to one, by name where all have names; a tuple keeps its order and
  its brackets; a union is a set of real numbers.
- The integers or rationals of an interval are not the interval, unless the gold says so too; a gold
  such as `k \ge 3` is about integers already.
- What is set equal to a bare gold is not looked into, for the question may ask for it: `a+b=7`
  and `\frac{AB}{CD}=2` answer 7 and 2, as they do for the published judge.
- A chain such as `41/12 \approx 3.417` is right when one side is the gold and no other side
  contradicts it. What hedges (`42 or 43`), excludes (`\ne 42`) or bounds (`\ge 42`) is wrong.

`careful_verdict` does the work, with a reader of its own. No text is evaluated as code, no computer
algebra is asked, and the arithmetic is imported only where it runs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sero.benchmarks import bounded
from sero.benchmarks.base import TIMED_OUT, Score
from sero.benchmarks.olympiadbench.careful_text import tidy

SECONDS = 5.0
_IMPORTS = ("sero.benchmarks.olympiadbench.careful_verdict",)
MAX_LENGTH = 4000
_SHOWN = 60
_WHOLE_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,400})\Z")


def careful_score(
    candidate: str | None,
    gold: str | Sequence[str],
    answer_type: str | None,
    error: str | None,
    unit: str | None,
    is_multiple: bool,
) -> Score:
    """0 or 1 for a candidate answer, as `answer_text.extract` gives it. Total.

    Args:
        gold: the item's `final_answer`; several texts are several answers.
        answer_type: one of the benchmark's types, or a comma list, one for each answer.
        error: absolute tolerance, or a comma list in the order of the gold's answers.
        unit: of the item; an answer may repeat it or leave it out.
    """
    text = gold if isinstance(gold, str) else ", ".join(gold)
    if candidate is None:
        return Score(value=0.0, reason="no answer")
    given, wanted = tidy(candidate[:MAX_LENGTH]), tidy(text)
    if len(candidate) > MAX_LENGTH:
        return Score(value=0.0, reason=f"{len(candidate)} characters are no answer")
    if given and given == wanted:
        return Score(value=1.0, reason="the gold answer")
    unlike = f"got {_short(candidate)}; gold is {_short(text)}"
    if _WHOLE_NUMBER.match(given) and _WHOLE_NUMBER.match(wanted) and not error:
        return Score(value=0.0, reason=unlike)
    kind = answer_type or ""
    outcome = bounded.call(
        *(decide, candidate, text, kind, error, unit, is_multiple),
        seconds=SECONDS,
        imports=_IMPORTS,
    )
    if outcome.timed_out:
        return Score(value=0.0, reason=f"{outcome.failure}; {unlike}", metrics={TIMED_OUT: 1.0})
    if outcome.failure:
        return Score(value=0.0, reason=f"{outcome.failure}; {unlike}")
    if outcome.value:
        return Score(value=1.0, reason=f"{_short(candidate)} equals the gold {_short(text)}")
    return Score(value=0.0, reason=unlike)


def decide(
    candidate: str,
    gold: str,
    answer_type: str,
    error: str | None,
    unit: str | None,
    is_multiple: bool,
) -> bool:
    """`careful_verdict.right`, imported where it runs: the caller stays without its arithmetic."""
    from sero.benchmarks.olympiadbench.careful_verdict import right

    return right(candidate, gold, answer_type, error, unit, is_multiple)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN else flat[: _SHOWN - 3] + "..."
