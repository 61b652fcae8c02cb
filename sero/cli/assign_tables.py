"""How `sero assign` shows scores, an assignment and its cost."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from sero.assignment.config import AssignConfig
from sero.assignment.decision import Decision, Names, assigned, decide
from sero.assignment.forecast import Forecast
from sero.assignment.load import ScoreTable
from sero.assignment.record import Assignment, names_of
from sero.assignment.roster import Roster
from sero.assignment.rules import AssignMode
from sero.reporting.formats import text_table
from sero.reporting.table import Table
from sero.reporting.text import compact, printable

NONE = "–"


def assignment_text(found: Assignment, ahead: Forecast, requests: int) -> str:
    """Everything about one assignment: scores, roles with their reasons, warnings, cost.

    Args:
        requests: what was sent; the rest came from the cache.
    """
    names = found.names
    parts = []
    if found.decision is not None:
        parts.append(_scores(found.decision, names, simulated=found.simulated))
        parts.append(_roles(found.decision, names))
        parts.append(_other_rules(found.decision, names))
    else:
        rows = tuple((role, names.candidates[0]) for role in names.roles)
        parts.append(_table("Assignment: the only candidate", ("role", "candidate"), rows))
    cost = found.cost
    least, most = ahead.calls, ahead.most_calls
    cost_lines = [
        f"cost: {_count(cost.calls, 'logical call')} ({least} to {most} were forecast), "
        f"{compact(cost.prompt_tokens)} prompt and {compact(cost.completion_tokens)} completion "
        f"tokens; {_count(requests, 'request')} sent",
        f"against the debate's {_count(ahead.host_calls, 'call')}: "
        f"{cost.calls / ahead.host_calls:.1f} times",
    ]
    if len(found.cost_by_backbone) > 1:
        cost_lines += [
            f"  {key or 'the chosen backbone'}: {_count(one.calls, 'call')}, "
            f"{compact(one.prompt_tokens)} + {compact(one.completion_tokens)} tokens"
            for key, one in found.cost_by_backbone.items()
        ]
    return "\n\n".join([*parts, *_warnings(found.warnings), _lines(cost_lines)])


def decision_text(table: ScoreTable, roster: Roster, cfg: AssignConfig) -> str:
    """The rules on scores that were given; nobody is asked.

    Where there are as many scores to an entry as the roster has evaluators they are those
    evaluators'; else nobody's own.
    """
    n_evaluators = table.scores.shape[2]
    known = n_evaluators == len(roster.evaluators) > 1
    own = roster.own if known else (None,) * n_evaluators
    evaluators = tuple(f"scores {e + 1}" for e in range(n_evaluators))
    names = dataclasses.replace(names_of(roster), roles=table.roles, candidates=table.candidates)
    if not known:
        names = dataclasses.replace(names, evaluators=evaluators)
    decision = decide(table.scores, own, names, cfg)
    parts = [
        _scores(decision, names, simulated=False),
        _roles(decision, names),
        _other_rules(decision, names),
        *_warnings(decision.warnings),
        "nobody was asked",
    ]
    return "\n\n".join(parts)


def announcement(ahead: Forecast) -> str:
    """What is about to be asked; an answer of a slow model takes its time."""
    most = f" to {ahead.most_calls}" if ahead.most_calls > ahead.calls else ""
    return f"{ahead.calls}{most} logical calls, those in the call cache already are not sent again"


def forecast_text(ahead: Forecast, roster: Roster) -> str:
    """What an assignment would cost; nobody is asked."""
    if len(roster.candidates) == 1:
        return "0 logical calls: the only candidate takes every role"
    rows = (
        ("criteria", str(ahead.criteria)),
        ("proposals", str(ahead.proposals)),
        ("reviews", str(ahead.reviews)),
        ("all", str(ahead.calls)),
        ("all, at most", str(ahead.most_calls)),
        ("the debate itself", str(ahead.host_calls)),
    )
    lines = [
        f"{ahead.over_host:.1f} times the debate's calls"
        + (f"; at most {ahead.most_calls / ahead.host_calls:.1f} times" if ahead.repairs else "")
    ]
    if ahead.own_reviews_saved:
        reviews = _count(ahead.own_reviews_saved, "review")
        lines.append(f"never asked for: {reviews} of one's own proposal")
    for saving in ahead.savings:
        calls = f" {_count(saving.calls, 'call')}" if saving.calls else ""
        lines.append(f"to save{calls}: {saving.how}")
    shown = _table("Logical calls per task, nobody asked", ("step", "calls"), rows)
    return "\n\n".join([shown, _lines(lines)])


def _scores(decision: Decision, names: Names, *, simulated: bool) -> str:
    title = "Suitability: means over criteria and reviewers, 1 to 5"
    notes = []
    if decision.excluded:
        whose = ", ".join(names.evaluators[e] for e in decision.excluded)
        notes.append(f"Without the scores for themselves of {whose}.")
    if decision.corrected:
        notes.append("Each reviewer's severity taken out.")
    rows = tuple(
        (role, *(NONE if math.isnan(mean) else f"{mean:.2f}" for mean in map(float, means)))
        for role, means in zip(names.roles, decision.found.means, strict=True)
    )
    table = Table(
        title=f"{title} · SIMULATED" if simulated else title,
        columns=("role", *names.candidates),
        rows=rows,
        notes=tuple(notes),
    )
    return text_table(table)


def _roles(decision: Decision, names: Names) -> str:
    rows = tuple(
        (role, names.candidates[j], reason)
        for role, j, reason in zip(names.roles, decision.chosen, decision.reasons, strict=True)
    )
    return _table(f"Assignment: {decision.mode}", ("role", "candidate", "why"), rows)


def _other_rules(decision: Decision, names: Names) -> str:
    """What every rule makes of the same means."""
    rows = tuple(
        (str(mode), *(names.candidates[j] for j in assigned(decision.found, decision.low, mode)))
        for mode in AssignMode
    )
    return _table("The same scores under each rule", ("rule", *names.roles), rows)


def _table(title: str, columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> str:
    return text_table(Table(title=title, columns=columns, rows=rows, numeric=False))


def _warnings(lines: Sequence[str]) -> list[str]:
    return [_lines([f"warning: {line}" for line in lines])] if lines else []


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _lines(lines: Sequence[str]) -> str:
    return "\n".join(printable(line) for line in lines)
