"""The simulated world (method.md §7): benchmark, encoder and backbone with known ground truth."""

from sero.skillworld.backbone import SkillWorldBackbone
from sero.skillworld.benchmark import SkillWorldBenchmark
from sero.skillworld.encoder import SkillWorldEncoder

__all__ = ["SkillWorldBackbone", "SkillWorldBenchmark", "SkillWorldEncoder"]
