from hypothesis import given
from hypothesis import strategies as st

from sero.inference.layout import Upstream, fill, role_chat, system_message, template
from sero.inference.peers import rating_sheet
from sero.skillworld import chat
from sero.skillworld.cards import seed_pool
from sero.skillworld.text import Message, case_prompt, write_answer, write_message, write_setup


def test_a_role_chat_is_read_back(world):
    case = world.case("test-001")
    card = seed_pool(world, noise=0.0)["seed-1"]
    setup, said = write_setup("aaaaaaaaaaaa", case), write_message("bbbbbbbbbbbb", case, [1, 0, -1])
    user = role_chat(
        card,
        case_prompt(case),
        [
            Upstream("router", "setup", setup),
            Upstream("human", "f0", "words without a sheet"),
            Upstream("seed-0", "f0", said),
        ],
        own=write_message("cccccccccccc", case, [1, 1, 1]),
        max_chars=None,
    ).messages[1]
    read = chat.read_chat(user.content)
    k = case.required
    assert read.messages == (
        Message("aaaaaaaaaaaa", "test-001", {}),
        Message("bbbbbbbbbbbb", "test-001", {k[0]: case.right[0], k[2]: case.wrong[2]}),
    )
    assert read.draft is None
    assert read.report == {}
    assert not read.checking


def test_check_and_revision_are_told_apart(world, tools):
    case = world.case("test-001")
    pool = seed_pool(world, noise=0.0)
    draft = write_answer("aaaaaaaaaaaa", case, case.right)
    facts = dict(zip(case.required, case.right, strict=True))
    prompt = case_prompt(case)

    def read(suffix):
        made = role_chat(pool["validator"], prompt, [], suffix=suffix, max_chars=None)
        return chat.read_chat(made.messages[1].content)

    checking = read(tools.check_suffix(draft))
    assert checking.checking
    assert checking.draft == facts
    assert read(tools.check_suffix("")).draft == {}
    revising = read(tools.revise_suffix(draft, pool["validator"], "VERDICT: revise\nc1 = 1234"))
    assert not revising.checking
    assert revising.draft == facts
    assert revising.report == {1: "1234"}


def test_drafts_to_rate_are_read_back(world):
    case = world.case("test-001")
    k, card = case.required, seed_pool(world, noise=0.0)["seed-1"]
    drafts = [
        write_message("aaaaaaaaaaaa", case, [1, 0, -1]),
        write_setup("bbbbbbbbbbbb", case),
        "words without a sheet, c0 = 1234\n=== end of draft 3 ===",
        write_message("aaaaaaaaaaaa", case, [0, 1, 0]),
    ]
    sheet, _ = rating_sheet(drafts, max_chars=None)
    user = role_chat(card, case_prompt(case), (), suffix=sheet, max_chars=None).messages[1].content
    read = chat.read_chat(user)
    assert read.rated == (
        {k[0]: case.right[0], k[2]: case.wrong[2]},
        {},
        {},
        {k[1]: case.right[1]},
    )
    assert (read.messages, read.draft, read.checking) == ((), None, False)
    assert chat.read_chat(case_prompt(case)).rated == ()


def test_the_speakers_name_is_the_first_lines(world):
    card = seed_pool(world, noise=0.0)["seed-1"]
    assert chat.read_role_name(system_message(card).content) == "seed-1"
    assert chat.read_role_name("anything else\nand more") == "anything else"
    assert chat.read_role_name("") == ""


def test_unfill_reads_what_fill_wrote():
    values = {name: f"<{name}>\nline" for name in ("excerpt", "pool", "present", "missing")}
    values |= dict.fromkeys(("failures", "removed", "anchor_name", "anchor_tags"), "")
    values["anchor_protocol"] = "One line. Method sheet abc."
    user = template("add_role", "user")
    retry = fill(template("add_role", "retry"), {"reasons": "too long"})
    assert chat.unfill(user, fill(user, values)) == values
    assert chat.unfill(user, fill(user, values) + retry) == values
    assert chat.unfill(user, "something else") == {}
    assert chat.unfill("a {x} b {y} c", "a 1 b 2") == {"x": "1"}
    assert chat.unfill("a {x}", "a 1") == {"x": "1"}


@given(st.text())
def test_any_text_is_a_chat(user):
    chat.read_chat(user)
    chat.read_chat("\n\n### Message from " + user + "\n\n### Draft answer\n" + user)
    chat.unfill(template("add_role", "user"), user)
    values = {"n": user, "mark": user, "drafts": user, "form": user}
    chat.read_chat(fill(template("peer_rating", "ask"), values))
