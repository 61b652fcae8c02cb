"""The chat-completions protocol as pure functions: a request to bytes, bytes to an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sero.backbones.base import Request

OWN_KEYS = frozenset(
    {
        "model",
        "messages",
        "temperature",
        "max_tokens",
        "seed",
        "response_format",
        "chat_template_kwargs",
        "stream",
        "n",
    }
)
"""Keys of a request body that Sero decides; `extra_body` must leave them alone."""

MAX_TOKENS = 10**9
"""More than any context; a server that counts more does not count tokens."""

MIN_SECRET_CHARS = 12
"""Shortest key that is taken out of answers too."""

_CHARS_PER_TOKEN = 4
_EXCERPT_CHARS = 300
_THINK_TAG = re.compile(r"(</?think>)")
_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode


class NotACompletion(ValueError):
    """The bytes are not a chat completion; the message says in which way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a server answered.

    Attributes:
        text: the answer without think blocks; empty for null content or an open block.
        reasoning: think blocks and the server's reasoning field.
        finish_reason: as sent; `unknown` when absent.
        prompt_tokens, completion_tokens: the server's count, None when it sent none or one
            beyond `MAX_TOKENS`.
    """

    text: str
    reasoning: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None


def constant_part(
    model: str, chat_template_kwargs: Mapping[str, Any], extra_body: Mapping[str, Any]
) -> str:
    """The start of every body of a run, encoded once; `encode_body` continues it."""
    body: dict[str, Any] = {"model": model, **extra_body}
    if chat_template_kwargs:
        body["chat_template_kwargs"] = dict(chat_template_kwargs)
    return _encode(body)[:-1]


def encode_body(start: str, request: Request, *, seed: int | None, schema: str | None) -> bytes:
    """The body of one chat completion.

    Args:
        start: from `constant_part`.
        request: what is asked.
        seed: sent when given.
        schema: JSON of the schema that is asked for by `response_format`, under the name of the
            request's; None asks for none.
    """
    varying: dict[str, Any] = {
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
    }
    if seed is not None:
        varying["seed"] = seed
    body = f"{start},{_encode(varying)[1:]}"
    if schema is not None and request.schema is not None:
        # the schema is JSON already; it is set in as it stands
        body = (
            f'{body[:-1]},"response_format":{{"type":"json_schema","json_schema":'
            f'{{"name":{_encode(request.schema.name)},"schema":{schema},'
            '"strict":true}}}'
        )
    return body.encode()


def decode_reply(raw: bytes) -> Reply:
    """Read the answer of a server.

    Raises:
        NotACompletion: no JSON, half of it, or JSON without a choice that holds a message.
    """
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise NotACompletion(f"not JSON ({type(error).__name__})") from None
    choices = data.get("choices") if isinstance(data, dict) else None
    if not isinstance(choices, list) or not choices:
        raise NotACompletion("no choices")
    message = choices[0].get("message") if isinstance(choices[0], dict) else None
    if not isinstance(message, dict):
        raise NotACompletion("the first choice has no message")
    text, thought = split_thinking(whole_characters(_content(message.get("content"))))
    spoken = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(spoken, str) and spoken:
        spoken = whole_characters(spoken)
        thought = f"{spoken}\n{thought}" if thought else spoken
    finish = choices[0].get("finish_reason")
    usage = data.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return Reply(
        text=text,
        reasoning=thought,
        finish_reason=finish if isinstance(finish, str) and finish else "unknown",
        prompt_tokens=_count(counts.get("prompt_tokens")),
        completion_tokens=_count(counts.get("completion_tokens")),
    )


def _content(content: Any) -> str:
    """Content as text: null is empty, a list of typed parts is joined."""
    match content:
        case None:
            return ""
        case str():
            return content
        case list():
            texts = (part.get("text") for part in content if isinstance(part, dict))
            return "".join(text for text in texts if isinstance(text, str))
        case _:
            raise NotACompletion(f"content is {type(content).__name__}, not text")


def _count(value: Any) -> int | None:
    """A token count, or None for what is none (bool is an int in Python)."""
    return value if type(value) is int and 0 <= value <= MAX_TOKENS else None


def split_thinking(content: str) -> tuple[str, str]:
    """An answer and the thinking taken out of it.

    Closed `<think>…</think>` blocks go; a block never closed means no answer. Templates that open
    the block inside the prompt leave a lone `</think>`: all before it was thinking.
    """
    parts = _THINK_TAG.split(content)
    if len(parts) == 1:
        return content, ""
    kept: list[str] = []
    thought: list[str] = []
    inside = False
    for part in parts:
        if part == "<think>":
            inside = True
        elif part == "</think>":
            if not inside:
                thought.extend(kept)
                kept.clear()
            inside = False
        else:
            (thought if inside else kept).append(part)
    return "" if inside else "".join(kept).strip(), "".join(thought).strip()


def whole_characters(text: str) -> str:
    """Text with lone surrogates replaced, so that it can be sent on, stored and hashed.

    JSON can spell half a character (`\\ud83d`); strict servers and UTF-8 refuse it, and a model's
    slip must not fail a later request.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", errors="surrogatepass").decode("utf-16", errors="replace")
    return text


def estimate_tokens(text_chars: int) -> int:
    """Tokens of a text by its length, four characters each, rounded up."""
    return -(-text_chars // _CHARS_PER_TOKEN)


def blotted(raw: bytes, secret: str) -> bytes:
    """A reply's body without the secret, should the server have echoed it.

    A secret of less than `MIN_SECRET_CHARS` is a placeholder (`EMPTY`, `test`) that an answer may
    well hold by itself; it is left, and only `excerpt` blots it out.
    """
    if len(secret) < MIN_SECRET_CHARS:
        return raw
    for spelt in {secret, _encode(secret)[1:-1], secret.replace("/", r"\/")}:
        raw = raw.replace(spelt.encode(), b"***")
    return raw


def excerpt(raw: bytes, secret: str = "") -> str:
    """The gist of a reply for a message, one short line: its `error.message` if it has one.

    Args:
        raw: the reply's body.
        secret: blotted out before anything is cut, whoever put it there.
    """
    text = raw[: 64 * 1024].decode("utf-8", errors="replace")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict):
        found = data.get("error", data.get("message", data.get("detail")))
        if isinstance(found, dict):
            found = found.get("message")
        if isinstance(found, str):
            text = found
    if secret:
        text = text.replace(secret, "***")
    return one_line(text, _EXCERPT_CHARS)


def one_line(text: str, max_chars: int) -> str:
    """A text of the server's for a message: printable, on one line, cut to `max_chars`."""
    line = " ".join(text[: 8 * max_chars].split())
    line = "".join(char if char.isprintable() else "?" for char in line)
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"
