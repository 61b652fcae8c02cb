"""An OpenAI-compatible server that knows the gold of given tasks; not a test module.

It plays a team of any benchmark: an answer is right with a probability that depends on the roles
whose messages are in the prompt, and the editor gets cards that help, cards that harm, and text
that is no card. Every reply is a function of the request alone, so that a resumed run or a second
seed meets the same server. Runs in a thread of the test's process and keeps what it was sent.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from chat_server import ChatServer

HELPER, POISON, PLAIN, BROKEN = "helper", "poison", "plain", "broken"
EDITOR = "You write role cards"


@dataclass(frozen=True)
class Answers:
    """What the server may say to a task: a response that scores 1, and one that scores 0."""

    right: str
    wrong: str


@dataclass
class GoldServer(ChatServer):
    """Replies and memory.

    Attributes:
        answers: by a task's prompt.
        terminal: name of the role that answers.
        base: probability of a right answer without added roles.
        helped: what a message of a helper adds to it; one of a poison takes it all away.
        cards: which kinds of cards the editor gets, each as often as it is listed.
        bodies: every request, in order.
        planned: by (prompt, response), whether that answer was meant to be right.
    """

    answers: Mapping[str, Answers] = field(default_factory=dict)
    terminal: str = ""
    base: float = 0.05
    helped: float = 0.9
    cards: tuple[str, ...] = (HELPER, HELPER, HELPER, HELPER, POISON, PLAIN, BROKEN)
    bodies: list[dict] = field(default_factory=list)
    planned: dict[tuple[str, str], bool] = field(default_factory=dict)
    url: str = ""

    def reply(self, body: dict) -> str:
        system, user = body["messages"][0]["content"], body["messages"][-1]["content"]
        mark = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        if system.startswith(EDITOR):
            return card_reply(self.cards[int(mark[:8], 16) % len(self.cards)], mark[8:])
        name = system.splitlines()[0].removeprefix("You are ").removesuffix(".")
        if name == self.terminal:
            return self.answer(user)
        if "VERDICT" in user:
            return "VERDICT: ok\nnothing to add"
        return f"A note on this by {name}."

    def answer(self, user: str) -> str:
        """The terminal role's: drawn once per task and set of added roles."""
        prompt = max((p for p in self.answers if user.startswith(p)), key=len)
        added = {kind: f"### Message from {kind}-" in user for kind in (HELPER, POISON)}
        chance = 0.0 if added[POISON] else self.base + self.helped * added[HELPER]
        draw = hashlib.sha256(json.dumps([prompt, added]).encode()).digest()
        right = int.from_bytes(draw[:4], "big") / 2**32 < chance
        said = self.answers[prompt].right if right else self.answers[prompt].wrong
        self.planned[prompt, said] = right
        return said


def card_reply(kind: str, mark: str) -> str:
    """What the editor gets: a card under a name of its own, or text that is none."""
    if kind == BROKEN:
        return '{"name": "broken", "role_type": "critic", "system_prompt": []'
    letters = "".join(chr(ord("a") + int(digit, 16)) for digit in mark[:6])
    card = {
        "name": f"{kind}-{letters}",
        "role_type": "specialist",
        "capability_family": f"{kind}-{letters}",
        "capability_tags": [kind],
        "communication_protocol": "one line with your finding",
        "system_prompt": ["Read the task twice.", f"Work by the method called {letters}."],
    }
    return "Here it is:\n```json\n" + json.dumps(card) + "\n```"
