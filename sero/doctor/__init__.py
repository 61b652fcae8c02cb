"""`sero doctor`: what a run needs, looked at before it starts, each fault with what mends it."""

from sero.doctor.examine import examine
from sero.doctor.finding import Finding, Level
from sero.doctor.options import Options

__all__ = ["Finding", "Level", "Options", "examine"]
