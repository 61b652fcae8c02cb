import re
from pathlib import Path

import pytest
import yaml

from sero.config import comparable, describe_changes, resolved_data, run_directory
from sero.config.variant import MAX_SLUG_CHARS, variant

CONF = Path(__file__).resolve().parents[2] / "conf"
ROWS = {
    path.stem: yaml.safe_load(path.read_text())["defaults"][-1]["override /method"]
    for path in (CONF / "row").glob("[!_]*.yaml")
}
"""Row to the method that it overrides."""


def named(composing, *overrides: str) -> str:
    composed = composing.compose(overrides)
    return variant(composed.config, composed.choices, composing)


def test_the_directory_says_what_ran(train):
    composed = train.compose(["method=static", "seed=7", "gate.tasks=8", "paths.runs=out"])
    path = run_directory(composed.config, composed.choices, train)
    assert path.parts[:2] == ("out", "quickstart")
    assert path.parts[2].startswith("gate.tasks-8-")
    assert path.parts[3:] == ("static", "skillworld", "seed_7")


def test_the_same_overrides_in_another_order_are_the_same_variant(train):
    one = named(train, "gate.tasks=8", "policy.bonus=0.2", "backbone=gpt_4o_mini")
    other = named(train, "backbone=gpt_4o_mini", "policy.bonus=0.2", "gate.tasks=8")
    assert one == other


@pytest.mark.parametrize(
    "overrides",
    [
        ("seed=7",),
        ("paths.runs=a", "paths.cache=b", "paths.data=c"),
        ("logger=none",),
        ("progress=none",),
        ("budget.calls=5",),
        ("method=static",),
        ("evaluate.concurrency=1", "evaluate.traces=false"),
        ("train.checkpoint_every=1",),
        ("gate.tasks=1",),  # as the base has it
    ],
)
def test_what_changes_no_result_is_no_variant(train, overrides):
    assert named(train, *overrides) == named(train)
    assert named(train).startswith("base-")


def test_the_address_of_a_server_is_no_variant(train):
    server = ("backbone=openai", "backbone.model=m")
    moved = (
        "backbone.base_url=http://elsewhere:1/v1",
        "backbone.api_key_env=KEY",
        "backbone.concurrency=1",
        "backbone.timeout_s=1",
        "backbone.max_retries=0",
    )
    assert named(train, *server, *moved) == named(train, *server)


def test_how_a_server_is_started_is_no_variant(train):
    flags = (
        "backbone.serve.dtype=float32",
        "backbone.serve.batch_invariant=true",
        "+backbone.serve.env.A=b",
    )
    assert named(train, "backbone=qwen3_8b", *flags) == named(train, "backbone=qwen3_8b")
    kept = comparable(resolved_data(train.compose(["backbone=qwen3_8b", *flags]).config))
    assert "serve" not in kept["backbone"]
    # what tells two servers apart is the name of their weights
    other = named(train, "backbone=qwen3_8b", "backbone.revision=main-fp32")
    assert other != named(train, "backbone=qwen3_8b")


def test_how_a_local_model_is_served_is_no_variant(train):
    served = (
        "backbone.replicas=8",
        "backbone.threads=2",
        "backbone.ready_timeout_s=9",
        "backbone.logs=elsewhere",
        "backbone.note=small",
    )
    assert named(train, "backbone=local", *served) == named(train, "backbone=local")
    other = named(train, "backbone=local", "backbone.gguf=other.gguf")
    assert other != named(train, "backbone=local")


@pytest.mark.parametrize(
    "overrides",
    [
        ("gate.tasks=8",),
        ("gate.tasks=4",),
        ("benchmark.world=42",),  # given, not taken from the seed
        ("benchmark.scenario=saturated",),
        ("backbone.editor=hostile",),
        ("profile=hosted",),
        ("encoder=hashing",),
        ("policy.operations=[add,noop]",),
        ("backbone=openai", "backbone.model=m"),
        ("backbone=openai", "backbone.model=n"),
    ],
)
def test_what_changes_a_result_is_a_variant_of_its_own(train, overrides):
    assert named(train, *overrides) not in {named(train), named(train, "gate.tasks=2")}


def test_the_slug_is_short_and_safe(train):
    name = named(
        train,
        "backbone=openai",
        "backbone.model='../we ird/$(x):8b'",
        "policy.operations=[add,noop]",
        "policy.credit_features=false",
    )
    slug, _, digest = name.rpartition("-")
    assert len(slug) <= MAX_SLUG_CHARS
    assert len(digest) == 6
    assert slug.startswith("backbone-openai+backbone.model-..-we-ird-x-8b+policy.credit")
    assert "/" not in name
    assert not name.startswith(".")


def test_a_row_is_named_first_and_shares_its_directory_with_no_other(train):
    """Whatever else is set, and however long the slug gets."""
    more = ("benchmark.dim=32", "benchmark.n_heldout=10", "credit.mu=0.2", "exec.max_tokens=100")
    placed = {  # as `variant` asks for the files, and both lines at once: composed once for a row
        row: ("experiment=quickstart", f"method={method}", "benchmark=skillworld", f"row={row}")
        for row, method in ROWS.items()
    }
    found = {
        row: [named(train, *files, *line) for line in ((), more)] for row, files in placed.items()
    }
    for i, line in enumerate(((), more)):
        names = {row: both[i] for row, both in found.items()}
        assert len({*names.values(), named(train, *line)}) == len(ROWS) + 1
        for row, name in names.items():
            assert re.match(rf"row-{row}(\+benchmark|-[0-9a-f]{{6}}$)", name)


def test_a_run_directory_can_be_given_on_the_command_line(train, evaluate):
    composed = train.compose(["gate.tasks=8", "policy.operations=[add,noop]", "profile=hosted"])
    directory = str(run_directory(composed.config, composed.choices, train))
    assert evaluate.compose([f"from_pool={directory}"]).config.from_pool == directory


def test_choices_stand_for_the_values_that_follow_from_them(train):
    name = named(train, "backbone=gpt_4o_mini", "gate.tasks=8")
    assert name.rpartition("-")[0] == "backbone-gpt_4o_mini+gate.tasks-8+profile-hosted"


def test_an_evaluation_never_shares_a_directory_with_a_training(train, evaluate):
    pools = ((), ("from_pool=pools/a.yaml",), ("from_pool=pools/b.yaml",))
    plain, with_pool, other_pool = (named(evaluate, *overrides) for overrides in pools)
    assert plain.startswith("evaluate-")
    assert with_pool.startswith("evaluate+from_pool-pools-a.yaml-")
    assert len({plain, with_pool, other_pool, named(train, "experiment=single")}) == 4


def test_resolved_data_is_plain_and_whole(train):
    data = resolved_data(train.compose(["seed=3"]).config)
    assert data["benchmark"]["world"] == data["encoder"]["world"] == 3
    assert data["policy"]["operations"] == ["add", "remove", "noop"]
    assert "hydra" not in data


def test_comparable_drops_what_may_change_between_two_starts(train):
    one = resolved_data(train.compose(["backbone=openai", "backbone.model=m"]).config)
    other = resolved_data(
        train.compose(
            [
                "backbone=openai",
                "backbone.model=m",
                "backbone.base_url=http://elsewhere:1/v1",
                "budget.hours=2",
                "logger=none",
                "progress=plain",
                "paths.cache=c",
            ]
        ).config
    )
    assert one != other
    assert comparable(one) == comparable(other)
    assert comparable(one)["backbone"]["model"] == "m"
    assert one["backbone"]["base_url"].startswith("http")  # the argument is left alone


def test_changes_are_described_one_a_line():
    old = {"gate": {"tasks": 1, "kind": "none"}, "a": True, "x": {}, "l": [1]}
    new = {"gate": {"tasks": 8, "kind": "none"}, "b": None, "x": {"y": 1.5}, "l": [1, 2]}
    assert describe_changes(old, new) == [
        "a: true -> (absent)",
        "b: (absent) -> null",
        "gate.tasks: 1 -> 8",
        "l: [1] -> [1, 2]",
        "x: {} -> (absent)",
        "x.y: (absent) -> 1.5",
    ]
    assert describe_changes(old, old) == []


def test_who_decides_the_roles_stands_right_behind_the_row(train):
    words = ("experiment=single", "backbone=qwen3_8b", "assign.mode=margin", "assign.by=random")
    assert named(train, *words).startswith("assign.by-random+assign.mode-margin+backbone-qwen3_8b")
    row = ("experiment=single", "row=gate_8", "assign.by=random", "+backbones.a.file=openai")
    assert named(train, *row).startswith("row-gate_8+assign.by-random+backbones.a-openai")
