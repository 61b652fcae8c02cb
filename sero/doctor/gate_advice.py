"""What measured flips mean for the gate: a table of false commits, and the setting to choose."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from sero.doctor.finding import Finding, Level, ok
from sero.doctor.flips import Flips, Share
from sero.evolution.gate_noise import Setting, chances, cheapest, settings
from sero.evolution.sections import GateConfig

TASKS = (1, 2, 4, 8)
REPEATS = (1, 2, 4)
MOST = 0.5
"""Two independent answers that score 0 or 1 do not differ more often."""


def gate_advice(
    flips: Flips, gate: GateConfig, *, level: float, effect: float, mend: str
) -> Finding:
    """The table for the measured flip rate, and what to set.

    Score flips count where some were seen; else text flips, as an upper bound on them.

    Args:
        flips: as measured.
        gate: the run's setting.
        level: the highest chance that an edit without effect is committed, as the user wants it.
        effect: δ, the gain and loss of the table's other columns.
        mend: what lowers the flip rate itself.
    """
    if flips.texts.k == 0:
        _, high = flips.texts.interval
        return ok("gate", f"no noise was seen; a flip rate up to {high:.2f} cannot be ruled out")
    if gate.kind == "none":
        return ok("gate", "gate.kind=none commits every edit, noise or not")
    scored = flips.scores is not None and flips.scores.k > 0
    share = flips.scores if scored and flips.scores is not None else flips.texts
    rate, low, high = (min(MOST, value) for value in (share.rate, *share.interval))
    found = settings(rate, effect, tasks=TASKS, repeats=REPEATS)
    now = chances(rate, tasks=gate.tasks, repeats=gate.repeats).strict
    ends = [chances(end, tasks=gate.tasks, repeats=gate.repeats).strict for end in (low, high)]
    own = f"gate.tasks={gate.tasks} gate.repeats={gate.repeats}"
    said = (
        f"at {own} an edit without effect is committed with {now:.3f} ({ends[0]:.3f} to "
        f"{ends[1]:.3f}) under R > 0"
    )
    best = cheapest(found, level, lambda setting: setting.no_effect.strict)
    overrides = []
    if best is not None and now > level:
        overrides.append(best.overrides)
    if best is not None and gate.warmup == "nonharmful":
        overrides.append("gate.warmup=strict")
    advice = " ".join(overrides) if best is not None else mend
    return Finding(
        name="gate",
        level=Level.WARN if advice else Level.OK,
        said=said,
        mend=advice,
        details=(
            *_basis(share, scored, rate),
            *_table(found, effect),
            *_conclusions(found, best, gate, level, effect, high),
        ),
        figures={
            "flip_rate": rate,
            "interval": (low, high),
            "of": "scores" if scored else "texts",
            "level": level,
            "effect": effect,
            "recommended": None if best is None else overrides,
            "settings": [_plain(setting) for setting in found],
        },
    )


def _basis(share: Share, scored: bool, rate: float) -> list[str]:
    bound = (
        ""
        if scored
        else ", an upper bound for one answer's score: a changed text may score the same"
    )
    return [
        f"flip rate {rate:.3f}, from {share.of('scores' if scored else 'texts')}{bound}.",
        "A rollout makes several calls, so its final answer may flip more often than one answer.",
    ]


def _table(found: Sequence[Setting], effect: float) -> list[str]:
    gain, loss = f"+{effect:g}", f"-{effect:g}"
    head = f"{'':30}|{'committed by R > 0, effect':^28}|{'by R >= 0, effect':^19}"
    names = (
        f"{'tasks':>6}{'repeats':>8}{'extra rollouts':>16}|{'none':>10}{gain:>9}{loss:>9}"
        f"|{'none':>10}{loss:>9}"
    )
    rows = [
        f"{s.tasks:>6}{s.repeats:>8}{s.extra_rollouts:>16}|{s.no_effect.strict:>10.3f}"
        f"{s.gain.strict:>9.3f}{s.loss.strict:>9.3f}|{s.no_effect.nonharmful:>10.3f}"
        f"{s.loss.nonharmful:>9.3f}"
        for s in found
    ]
    return [head, names, *rows]


def _conclusions(
    found: Sequence[Setting],
    best: Setting | None,
    gate: GateConfig,
    level: float,
    effect: float,
    high: float,
) -> list[str]:
    lines = []
    if best is None:
        least = found[0].no_effect.strict
        lines.append(
            f"No gate.tasks and gate.repeats bring edits without effect under {level:g}: the least "
            f"is {least:.3f}, of one task once, and averaging raises it towards 0.5, since a mean "
            "of many noisy differences is hardly ever exactly 0. Only fewer flips help."
        )
    else:
        top = chances(high, tasks=best.tasks, repeats=best.repeats).strict
        held = "also" if top <= level else "not"
        under = [setting for setting in found if setting.no_effect.strict <= level]
        most = max(under, key=lambda setting: setting.gain.strict)
        lines.append(
            f"Under {level:g} for edits without effect: {best.overrides} "
            f"(+{best.extra_rollouts} rollouts an edit), with {best.no_effect.strict:.3f}; {held} "
            f"at the interval's upper end, with {top:.3f}. It sees a gain of {effect:g} with "
            f"{best.gain.strict:.3f}."
        )
        if most is not best:
            lines.append(
                f"Of the settings under {level:g}, {most.overrides} (+{most.extra_rollouts} "
                f"rollouts) sees most gains, {most.gain.strict:.3f} of them, and commits "
                f"{most.no_effect.strict:.3f} of the edits without effect."
            )
    worst = cheapest(found, level, lambda setting: setting.loss.strict)
    lines.append(
        f"Under {level:g} for edits that lose {effect:g}: "
        + (
            f"{worst.overrides}, with {worst.loss.strict:.3f}."
            if worst is not None
            else f"none of these; the least is {min(s.loss.strict for s in found):.3f}."
        )
    )
    if gate.warmup == "nonharmful":
        lines.append(
            "Warm-up commits at R >= 0 (gate.warmup=nonharmful), at least half of the edits "
            "without effect whatever the setting; gate.warmup=strict applies R > 0 there too."
        )
    return lines


def _plain(setting: Setting) -> dict[str, Any]:
    return {**dataclasses.asdict(setting), "extra_rollouts": setting.extra_rollouts}
