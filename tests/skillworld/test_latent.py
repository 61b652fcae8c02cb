import pytest

from sero.skillworld.latent import skill_of
from sero.skillworld.sheet import UNKNOWN, Kind, Truth


@pytest.mark.parametrize(
    ("truth", "own", "elsewhere"),
    [
        (Truth(kind=Kind.GOOD, family=2), (0.85, 0.03), (0.03, 0.02)),
        (Truth(kind=Kind.MEDIUM, family=2), (0.45, 0.12), (0.03, 0.02)),
        (Truth(kind=Kind.HARMFUL, family=2), (0.10, 0.55), (0.03, 0.12)),
        (Truth(kind=Kind.DISTRACTOR, family=0), (0.05, 0.30), (0.05, 0.30)),
        (Truth(kind=Kind.MISLEADER, family=0), (0.05, 0.50), (0.05, 0.50)),
        (UNKNOWN, (0.03, 0.02), (0.03, 0.02)),
        (Truth(kind=Kind.ROUTER), (0.0, 0.0), (0.0, 0.0)),
        (Truth(kind=Kind.VALIDATOR), (0.0, 0.0), (0.0, 0.0)),
        (Truth(kind=Kind.AGGREGATOR), (0.0, 0.0), (0.0, 0.0)),
    ],
)
def test_competence_and_error(truth, own, elsewhere):
    skill = skill_of(truth, 6)
    for k in range(6):
        assert (skill.right[k], skill.wrong[k]) == (own if k == 2 else elsewhere)
