"""Calendar scheduling: read a proposed slot and compare it with the gold one.

`read` is the careful reader, `read_official` the published semantics.
"""

from __future__ import annotations

import re

from sero.benchmarks.normalise import plain_typography, without_emphasis

_DAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"
_GAP = r"[ \t]{0,4}"
_CLOCK = r"([0-9]{1,2}):([0-9]{2})"
_SLOT = re.compile(
    rf"(?<![^\W_])({_DAYS}),{_GAP}{_CLOCK}{_GAP}-{_GAP}{_CLOCK}(?![0-9])"
    rf"(?:{_GAP}([AaPp])\.?[Mm]\b)?"
)
_MARKER = re.compile(
    r"[Pp]roposed [Tt]ime:|PROPOSED TIME:|SOLUTION:|^[ \t#_>]{0,8}[Ss]olution:", re.MULTILINE
)

# The published reader finds `Word, H:MM - H:MM`. A match can only begin where a run of letters
# begins, and saying so keeps the search linear.
_OFFICIAL = re.compile(
    r"(?<![A-Za-z])([A-Za-z]++), ([0-9]++):([0-9]++) - ([0-9]++):([0-9]++)", re.ASCII
)

OfficialSlot = tuple[str, float, float]
NO_SLOT: OfficialSlot = ("", -1.0, -1.0)
"""What the published reader answers when it finds no slot."""


def read(text: str) -> str | None:
    """The proposed slot as `Monday, 9:30 - 10:00`, or None.

    The first slot after the last answer marker counts, so that options rejected before it and
    alternatives behind it do no harm (`another solution:` in a sentence is no marker); without a
    marker, the first slot of the text. The clock has 24 hours: an AM or PM behind the slot may
    only confirm them.
    """
    plain = without_emphasis(plain_typography(text))
    slots = list(_SLOT.finditer(plain))
    if not slots:
        return None
    markers = _MARKER.finditer(plain, 0, slots[-1].start())
    start = max((marker.start() for marker in markers), default=0)
    slot = next(slot for slot in slots if slot.start() >= start)
    day, *numbers, half = slot.groups()
    h0, m0, h1, m1 = (int(number) for number in numbers)
    if half and (half in "Pp") != (h1 >= 12):
        return None
    return f"{day}, {h0}:{m0:02} - {h1}:{m1:02}"


def read_official(text: str) -> OfficialSlot:
    """(day, start, end) in hours as the published reader takes them, `NO_SLOT` without a match.

    First match in the whole text; every minute value but `30` counts as the full hour.
    """
    match = _OFFICIAL.search(text)
    if match is None:
        return NO_SLOT
    day, h0, m0, h1, m1 = match.groups()
    return day, _official_hours(h0, m0), _official_hours(h1, m1)


def _official_hours(hours: str, minutes: str) -> float:
    return float(hours) + (0.5 if minutes == "30" else 0.0)
