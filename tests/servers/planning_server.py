"""An OpenAI-compatible server that answers NaturalPlan prompts by rule; not a test module.

Every answer is a function of the request alone, so that a resumed run or a second seed meets the
same server. Runs in a thread of the test's process and keeps every body it was sent.
"""

import hashlib
import json
import re

from chat_server import ChatServer

ORACLE, POISON, PLAIN = "oracle", "poison", "plain"
KINDS = (
    ORACLE,
    POISON,
    PLAIN,
    "leak",
    "copy",
    "same-name",
    "malformed",
    "validator",
    "aggregator",
    "crowded",
)
TALK = (
    "plan to visit cities for days in total and only take direct flights to commute between "
    "cities; find a trip plan; schedule a meeting and find a time that works for everyone; meet "
    "as many friends as possible and travel between places"
)


def card(name: str, **changes) -> dict:
    """A card the door accepts; `changes` break it in one way."""
    return {
        "name": name,
        "role_type": "specialist",
        "capability_family": f"{name.split('-')[0]}-planning-{name.split('-')[1]}",
        "capability_tags": ["planning"],
        "communication_protocol": "one line with your finding",
        "system_prompt": [TALK, f"Work by the method called {name}."],
        **changes,
    }


def card_reply(kind: str, mark: str, existing: dict, prompt: str) -> str:
    """What the editor gets: a card of the asked kind, or text that is none."""
    letters = "".join(chr(ord("a") + int(digit, 16)) for digit in mark[:6])
    name = f"{kind.replace('-', '')}-{letters}"
    made = card(name)
    if kind == "leak":
        names = re.findall(r"(?:and|in|to|with|for|are) ([A-Z][a-z]{3,})", prompt)
        made["system_prompt"].append("Think of " + " and ".join(names) + ".")
    elif kind == "copy":
        made |= {key: existing[key] for key in ("capability_tags", "system_prompt")}
        made["capability_family"] = existing["capability_family"]
    elif kind == "same-name":
        made["name"] = existing["name"]
    elif kind == "malformed":
        return '{"name": "broken", "role_type": "critic", "system_prompt": []'
    elif kind in ("validator", "aggregator"):
        made["role_type"] = kind
    elif kind == "crowded":
        made["capability_family"] = existing["capability_family"]
    return "Here it is:\n```json\n" + json.dumps(made) + "\n```"


class PlanningServer(ChatServer):
    """Replies and memory. `answers` maps the beginning of a task's prompt to its gold answer."""

    def __init__(self, answers: dict[str, str], existing: dict) -> None:
        self.answers = answers
        self.existing = existing
        self.bodies: list[dict] = []
        self.url = ""

    def reply(self, body: dict) -> str:
        system, user = body["messages"][0]["content"], body["messages"][-1]["content"]
        mark = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        if system.startswith("You write role cards"):
            return card_reply(KINDS[int(mark[:8], 16) % len(KINDS)], mark[8:], self.existing, user)
        if system.startswith("You are final-answer-writer."):
            known = "### Message from oracle-" in user and "### Message from poison-" not in user
            gold = next(g for start, g in self.answers.items() if user.startswith(start))
            return gold if known else "I cannot say."
        if "VERDICT" in user:
            return "VERDICT: ok\nnothing to add"
        return f"A note on this by {system.split('.')[0]}."
