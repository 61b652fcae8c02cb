"""Values of terms: exact where that is possible, else with many digits.

A value that is undefined, out of reach or too costly raises `Undefined`; nothing here takes long
on its own, so that the deadline of the process is the last defence and not the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import mpmath

from sero.benchmarks.olympiadbench.careful_arithmetic import (
    CONSTANTS,
    MAX_BITS,
    OPERATIONS,
    Undefined,
    Value,
    add,
    as_mp,
    bits,
    integers,
    multiply,
)
from sero.benchmarks.olympiadbench.careful_terms import TRIGONOMETRIC, Apply, Number, Symbol, Term

MAX_SERIES = 1_000
MAX_STEPS = 4_000
_FAILURES = (ZeroDivisionError, ValueError, OverflowError, TypeError, mpmath.libmp.NoConvergence)


@dataclass(slots=True, kw_only=True)
class Setting:
    """Where a term is evaluated.

    Attributes:
        values: of the symbols.
        real: stay in the real numbers: no root or logarithm of a negative number.
        bare_degrees: a degree sign outside trigonometric functions is only a mark.
        steps: how much work is left.
    """

    values: Mapping[str, Fraction] = field(default_factory=dict)
    real: bool = True
    bare_degrees: bool = False
    steps: int = MAX_STEPS


def evaluate(term: Term, setting: Setting) -> Value:
    """The value of a term at the working precision of mpmath.

    Raises:
        Undefined: it has none.
    """
    try:
        value = _evaluate(term, setting)
    except _FAILURES as error:
        raise Undefined(str(error)) from error
    if not isinstance(value, Fraction) and not mpmath.isfinite(value):
        raise Undefined("not finite")
    return value


def _evaluate(term: Term, setting: Setting) -> Value:
    setting.steps -= 1
    if setting.steps < 0:
        raise Undefined("too much work")
    if isinstance(term, Number):
        return term.value
    if isinstance(term, Symbol):
        if term.name not in setting.values:
            raise Undefined(f"{term.name} has no value")
        return setting.values[term.name]
    if term.op in ("sum", "prod"):
        return _series(term, setting)
    if term.op in TRIGONOMETRIC and setting.bare_degrees:
        inner = Setting(values=setting.values, real=setting.real, steps=setting.steps)
        args = [_evaluate(arg, inner) for arg in term.args]
        setting.steps = inner.steps
    else:
        args = [_evaluate(arg, setting) for arg in term.args]
    if term.op == "degrees":
        return args[0] if setting.bare_degrees else as_mp(args[0]) * mpmath.pi / 180
    if term.op in CONSTANTS:
        return CONSTANTS[term.op]()
    if term.op not in OPERATIONS:
        raise Undefined(f"{term.op} has no value")
    value = OPERATIONS[term.op](*args)
    if setting.real and isinstance(value, mpmath.mpc):
        raise Undefined("not real")
    if isinstance(value, Fraction) and bits(value) > MAX_BITS:
        raise Undefined("too large")
    return value


def _series(term: Apply, setting: Setting) -> Value:
    index, low_term, high_term, body = term.args
    assert isinstance(index, Symbol)
    low, high = integers(_evaluate(low_term, setting), _evaluate(high_term, setting))
    if high - low > MAX_SERIES:
        raise Undefined("a long series")
    total: Value = Fraction(0 if term.op == "sum" else 1)
    combine = add if term.op == "sum" else multiply
    inner = Setting(
        values=dict(setting.values),
        real=setting.real,
        bare_degrees=setting.bare_degrees,
        steps=setting.steps,
    )
    for i in range(low, high + 1):
        inner.values = {**setting.values, index.name: Fraction(i)}
        total = combine(total, _evaluate(body, inner))
    setting.steps = inner.steps
    return total
