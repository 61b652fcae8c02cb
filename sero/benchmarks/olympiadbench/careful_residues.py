"""Equality of rationals too large to write out, by residues: `2^{1000000}` and `4^{500000}`."""

from __future__ import annotations

from sero.benchmarks.olympiadbench.careful_arithmetic import Undefined, is_exact
from sero.benchmarks.olympiadbench.careful_numbers import Setting, evaluate
from sero.benchmarks.olympiadbench.careful_terms import Apply, Term

_PRIMES = (10**18 + 3, 10**18 + 9)


def same_residues(gold: Term, answer: Term) -> bool:
    """Whether two numbers agree modulo large primes; for those whose leading digits agree.

    Raises:
        Undefined: a part is not rational.
    """
    return all(_residue(gold, prime) == _residue(answer, prime) for prime in _PRIMES)


def _residue(term: Term, prime: int) -> int:
    if isinstance(term, Apply) and term.op in ("add", "neg", "mul", "div"):
        parts = [_residue(arg, prime) for arg in term.args]
        match term.op:
            case "add":
                return sum(parts) % prime
            case "neg":
                return -parts[0] % prime
            case "div":
                return parts[0] * _inverse(parts[1], prime) % prime
            case "mul":
                product = 1
                for part in parts:
                    product = product * part % prime
                return product
    if isinstance(term, Apply) and term.op == "pow":
        base, exponent = _residue(term.args[0], prime), evaluate(term.args[1], Setting())
        if not is_exact(exponent) or exponent.denominator != 1:
            raise Undefined("not rational")
        base = base if exponent >= 0 else _inverse(base, prime)
        return pow(base, abs(exponent.numerator), prime)
    value = evaluate(term, Setting())
    if not is_exact(value):
        raise Undefined("not rational")
    return int(value.numerator * _inverse(value.denominator, prime) % prime)


def _inverse(value: int, prime: int) -> int:
    if value % prime == 0:
        raise Undefined("no inverse")
    return pow(value, -1, prime)
