"""The one place where a candidate or an evaluator is asked."""

from __future__ import annotations

from dataclasses import dataclass

from sero.assignment.roster import Candidate, Panel
from sero.backbones.base import Backbone, CallContext, ChatMessage, OutputSchema, Request
from sero.errors import UserError
from sero.inference.layout import fill, template
from sero.inference.trace import CallKind, RoleMessage, spoken

FILE = "assignment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """Who answers, and where in the run the calls of one assignment stand."""

    panel: Panel
    call: CallContext

    def backbone_of(self, speaker: Candidate) -> Backbone:
        """The backbone on the speaker's seat.

        Raises:
            UserError: the panel has none.
        """
        backbone = self.panel.get(speaker.seat)
        if backbone is None:
            raise UserError(f"'{speaker.name}': no backbone {speaker.backbone!r} on the panel")
        return backbone


async def ask(
    speaker: Candidate,
    prompt: str,
    floor: Floor,
    *,
    kind: CallKind,
    max_tokens: int,
    schema: OutputSchema | None = None,
    attempt: int = 0,
    trimmed: int = 0,
) -> RoleMessage:
    """One call: the prompt strategy as the system message, then the prompt.

    Args:
        attempt: a repetition of what was refused is another sample, at temperature 0 too.
        trimmed: how many texts in the prompt were cut to fit the context, for the record.

    Raises:
        BackboneError: the machine failed.
        UserError: the panel has nobody on the speaker's seat.
    """
    backbone = floor.backbone_of(speaker)
    system = (ChatMessage("system", speaker.prompt),) if speaker.prompt.strip() else ()
    index = floor.call.sample_index(speaker.temperature)
    request = Request(
        messages=(*system, ChatMessage("user", prompt)),
        temperature=speaker.temperature,
        max_tokens=max_tokens,
        sample_index=(*index, "attempt", attempt) if attempt else index,
        schema=schema,
        role=speaker.name,
    )
    completion = await backbone.generate(request)
    return spoken(
        speaker.name,
        kind,
        completion,
        trimmed=trimmed,
        round=attempt + 1,
        backbone=speaker.seat.key,
    )


def text_of(name: str, **values: str) -> str:
    """A template of `prompts/shared/assignment.yaml`, filled."""
    return fill(template(FILE, name), values)


def unstopped(text: str) -> str:
    """A text without its final full stop, for templates that set their own behind it."""
    return text.strip().removesuffix(".")


def one_line(text: str) -> str:
    """A text from a model with all white space as single blanks, and no control character."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
