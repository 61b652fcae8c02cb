"""Terminal aggregation and the validator's repair (method.md §4.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sero.backbones.base import CallContext
from sero.benchmarks.base import Parsed
from sero.credit import CreditConfig, PoolState, historical
from sero.inference.layout import Upstream, fill, template
from sero.inference.parts import Parts, speak
from sero.inference.retrieval import Team
from sero.inference.trace import CallKind, RoleMessage, put_in_mouth
from sero.inference.verdict import first_verdict
from sero.roles.card import RoleCard, RoleType

VERDICTS = ("ok", "revise")


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairConfig:
    """The `repair` section."""

    enabled: bool
    reserved: bool
    always: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The aggregator's first answer; `empty` when it said nothing and a message stands in."""

    message: RoleMessage
    text: str
    empty: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """What the repair pass did, and the final answer.

    Attributes:
        answer: the final text, the draft's if nothing changed it.
        messages: the pass's calls: none, the check, or the check and the second answer.
        validator: who was asked, None if nobody.
        said_ok, revised: its verdict; both False when it gave none.
        adopted: the second answer differs from the draft.
    """

    answer: str
    messages: tuple[RoleMessage, ...] = ()
    validator: str | None = None
    said_ok: bool = False
    revised: bool = False
    adopted: bool = False


async def aggregate(
    prompt: str,
    aggregator: RoleCard,
    upstream: Sequence[Upstream],
    parts: Parts,
    *,
    call: CallContext,
) -> Draft:
    """ŷ_draft = f(π_agg, x, {m_r}); an empty one falls back to the last non-empty message."""
    said = await speak(aggregator, prompt, upstream, parts, call=call, kind=CallKind.AGGREGATE)
    if said.text.strip():
        return Draft(message=said, text=said.text, empty=False)
    fallback = next((m.text for m in reversed(upstream) if m.text.strip()), "")
    return Draft(message=said, text=fallback, empty=True)


def choose_validator(
    state: PoolState, team: Team, cfg: RepairConfig, credit_cfg: CreditConfig
) -> RoleCard | None:
    """The validator with the highest c_r that is not in A_t, else the best in the pool, if any."""
    if not cfg.enabled:
        return None
    inside = set(team.names)

    def rank(card: RoleCard) -> tuple[bool, float]:
        return (card.name in inside, -historical(state.credit[card.name], credit_cfg))

    best = min(state.pool.of_type(RoleType.VALIDATOR), key=rank, default=None)
    return None if best is None else team.card_of(best)


def needs_repair(
    prompt: str, draft: Draft, parse: Callable[[str, str], Parsed], cfg: RepairConfig
) -> bool:
    """The draft is empty, fails the benchmark's format check, or `repair.always`."""
    return cfg.always or draft.empty or parse(prompt, draft.text).answer is None


def read_verdict(report: str) -> str | None:
    """`ok` or `revise` from the report's first line, None when it holds no verdict."""
    found = first_verdict(report, VERDICTS)
    return found.word if found else None


async def repair(
    prompt: str,
    draft: Draft,
    upstream: Sequence[Upstream],
    validator: RoleCard | None,
    aggregator: RoleCard,
    parts: Parts,
    cfg: RepairConfig,
    *,
    call: CallContext,
    replace: Mapping[str, str] | None = None,
) -> Repair:
    """At most one repair: the validator checks, and on `revise` the aggregator answers once more.

    A report without a verdict changes nothing; an empty second answer keeps the draft.

    Args:
        replace: texts that stand for roles' reports instead of asking them (counterfactuals).
    """
    if validator is None or not needs_repair(prompt, draft, parts.parse, cfg):
        return Repair(answer=draft.text)
    shown = fill(template("repair", "draft"), {"text": draft.text})
    if replace is not None and validator.name in replace:
        check = put_in_mouth(validator.name, CallKind.VALIDATE, replace[validator.name])
    else:
        check = await speak(
            validator,
            prompt,
            upstream,
            parts,
            call=call,
            kind=CallKind.VALIDATE,
            suffix=shown + template("repair", "check"),
        )
    verdict = read_verdict(check.text)
    if verdict != "revise":
        return Repair(
            answer=draft.text,
            messages=(check,),
            validator=validator.name,
            said_ok=verdict == "ok",
        )
    report = fill(
        template("repair", "report"),
        {"name": validator.name, "family": validator.capability_family, "text": check.text},
    )
    second = await speak(
        aggregator,
        prompt,
        upstream,
        parts,
        call=call,
        kind=CallKind.REVISE,
        suffix=shown + report + template("repair", "revise"),
    )
    final = second.text if second.text.strip() else draft.text
    return Repair(
        answer=final,
        messages=(check, second),
        validator=validator.name,
        revised=True,
        adopted=final.strip() != draft.text.strip(),
    )
