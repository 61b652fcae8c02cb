from collections import Counter

import pytest

from sero.backbones.base import ChatMessage, OutputSchema, Request
from sero.inference.layout import fill, template
from sero.roles.load import card_from_json
from sero.skillworld.cards import named_card, seed_pool
from sero.skillworld.editor import NO_ANCHOR, pick
from sero.skillworld.sheet import Kind, Truth
from sero.skillworld.text import case_prompt, read_sheet_code

SYSTEM = template("add_role", "system")
N = 2000


def card_request(anchor, case, families, n, reasons=None):
    """What the editor sends: excerpt, pool, families, anchor; request number n."""
    user = fill(
        template("add_role", "user"),
        {
            "excerpt": case_prompt(case)[:800],
            "pool": "- router (setup)\n- seed-0 (f0)",
            "present": ", ".join(families),
            "missing": "none",
            "failures": "none",
            "removed": "none",
            "anchor_name": anchor.name,
            "anchor_tags": ", ".join(anchor.capability_tags),
            "anchor_protocol": anchor.communication_protocol,
        },
    )
    if reasons:
        user += fill(template("add_role", "retry"), {"reasons": reasons})
    return Request(
        messages=(ChatMessage("system", SYSTEM), ChatMessage("user", user)),
        temperature=0.7,
        max_tokens=1024,
        sample_index=(42, n, 0),
        schema=OutputSchema("role_card", "{}"),
    )


@pytest.fixture
def propose(world, tools):
    """The card and its truth for request n."""

    def proposal(backbone, *args, **kwargs):
        text = tools.run(backbone.generate(card_request(*args, **kwargs))).text
        card, faults = card_from_json(text, max_prompt_chars=4000)
        assert card is not None, faults
        return card, world.truth(read_sheet_code(card.prompt_text))

    return proposal


@pytest.mark.parametrize(
    ("editor", "anchor_name", "mix"),
    [
        ("benign", "seed-0", (0.55, 0.20, 0.15, 0.10)),  # a good anchor
        ("benign", "seed-2", (0.30, 0.20, 0.35, 0.15)),  # a harmful one
        ("benign", "seed-3", (0.30, 0.20, 0.35, 0.15)),  # medium is not good
        ("hostile", "seed-0", (0.20, 0.15, 0.50, 0.15)),
        ("hostile", "seed-4", (0.10, 0.15, 0.60, 0.15)),
    ],
)
def test_quality_follows_the_anchors_truth(editor, anchor_name, mix, world, propose, tools):
    pool, case = seed_pool(world, noise=0.0), world.case("train-000")
    backbone, anchor = tools.backbone(editor=editor), pool[anchor_name]
    code = read_sheet_code(anchor.prompt_text)
    found = Counter()
    for n in range(N):
        card, truth = propose(backbone, anchor, case, pool.families, n)
        copied = read_sheet_code(card.prompt_text) == code
        found["duplicate" if copied else truth.kind.value] += 1
    for outcome, p in zip(("good", "medium", "harmful", "duplicate"), mix, strict=True):
        assert tools.likely(found[outcome], N, p)
    assert sum(found.values()) == N


def new_families(world, propose, backbone, case, present):
    """Families of the new cards, duplicates left out (the anchor's family is theirs)."""
    anchor = seed_pool(world, noise=0.0)["seed-0"]
    code = read_sheet_code(anchor.prompt_text)
    families = []
    for n in range(N):
        card, truth = propose(backbone, anchor, case, present, n)
        if read_sheet_code(card.prompt_text) != code:
            assert card.capability_family == f"f{truth.family}"
            families.append(truth.family)
    return families


def test_missing_families_of_the_task_come_first(world, propose, tools):
    case = world.case("train-000")
    assert set(case.required) > {0, 4}
    present = [f"f{k}" for k in range(6) if k != 4] + ["setup", "validation", "aggregation"]
    families = new_families(world, propose, tools.backbone(), case, present)
    n = len(families)
    assert tools.likely(families.count(4), n, 0.7 + 0.3 / 6)
    assert all(tools.likely(families.count(k), n, 0.3 / 6) for k in (0, 1, 2, 3, 5))


def test_without_a_missing_family_any_required_one_is_chosen(world, propose, tools):
    case = world.case("train-000")
    families = new_families(world, propose, tools.backbone(), case, [f"f{k}" for k in range(6)])
    for k in range(6):
        p = 0.3 / 6 + (0.7 / 3 if k in case.required else 0.0)
        assert tools.likely(families.count(k), len(families), p)


def test_a_card_looks_like_the_seed_cards(world, propose, tools):
    pool, case = seed_pool(world, noise=0.0), world.case("train-000")
    names = set()
    for n in range(200):
        card, truth = propose(tools.backbone(), pool["seed-0"], case, pool.families, n)
        code = read_sheet_code(card.prompt_text)
        like = named_card(world, card.name, truth, noise=0.0)
        twin = read_sheet_code(like.prompt_text)
        assert repr(card).replace(code, twin) == repr(like)
        stem, _, letters = card.name.partition("-")
        assert stem == card.capability_family
        assert len(letters) == 6
        assert letters.isalpha()
        names.add(card.name)
    assert len(names) == 200


def test_a_duplicate_is_the_anchors_text_under_a_new_name(world, propose, tools):
    pool, case = seed_pool(world, noise=0.0), world.case("train-000")
    anchor = pool["seed-2"]
    copies = [
        card
        for n in range(100)
        for card, _ in [propose(tools.backbone(), anchor, case, pool.families, n)]
        if card.prompt_text == anchor.prompt_text
    ]
    assert copies
    for card in copies:
        assert card.identity_text == anchor.identity_text
        assert card.communication_protocol == anchor.communication_protocol
        assert card.name != anchor.name


def test_equal_requests_get_equal_cards_and_retries_others(world, propose, tools):
    pool, case = seed_pool(world, noise=0.0), world.case("train-000")
    args = (pool["seed-0"], case, pool.families)
    first, again = (propose(tools.backbone(), *args, 5) for _ in range(2))
    assert first == again
    retry = propose(tools.backbone(), *args, 5, reasons="- near-duplicate")
    other = propose(tools.backbone(), *args, 6)
    assert len({first[0].name, retry[0].name, other[0].name}) == 3


def test_cards_carry_the_noise(world, propose, tools):
    pool, case = seed_pool(world, noise=0.3), world.case("train-000")
    card, _ = propose(tools.backbone(noise=0.3), pool["seed-0"], case, pool.families, 1)
    assert card.temperature == 0.3


def test_the_terminal_as_anchor_gives_no_protected_card(world, propose, tools):
    pool, case = seed_pool(world, noise=0.0), world.case("train-000")
    cards = [
        propose(tools.backbone(), pool.terminal, case, pool.families, n)[0] for n in range(100)
    ]
    assert {card.role_type.value for card in cards} == {"specialist", "aggregator"}
    assert not any(card.protected for card in cards)


def test_an_unreadable_anchor_cannot_be_copied(world, tools):
    stranger = named_card(world, "x", Truth(kind=Kind.GOOD, family=0), noise=0.0)
    case, backbone = world.case("train-000"), tools.backbone(world=8)
    texts = [
        tools.run(backbone.generate(card_request(stranger, case, ["f0"], n))).text for n in range(N)
    ]
    assert tools.likely(texts.count(NO_ANCHOR), N, 0.15)  # the duplicates of a bad anchor


def test_a_request_without_its_parts_still_gets_a_card(tools):
    request = Request(
        messages=(ChatMessage("system", SYSTEM), ChatMessage("user", "### Task excerpt\n")),
        temperature=0.7,
        max_tokens=1024,
        sample_index=(1,),
    )
    text = tools.run(tools.backbone().generate(request)).text
    assert text == NO_ANCHOR or card_from_json(text, max_prompt_chars=4000)[0] is not None


@pytest.mark.parametrize(
    ("u", "kind"),
    [
        (0.0, Kind.GOOD),
        (0.549, Kind.GOOD),
        (0.551, Kind.MEDIUM),
        (0.76, Kind.HARMFUL),
        (0.91, None),
        (1.0, None),
    ],
)
def test_pick(u, kind):
    assert pick(u, (0.55, 0.20, 0.15, 0.10)) is kind
