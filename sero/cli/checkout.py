"""Where the verbs find the configuration."""

from __future__ import annotations

from pathlib import Path


def conf_dir() -> Path:
    """The checkout's `conf/`.

    Raises:
        UserError: the package stands somewhere else.
    """
    import sero
    from sero.errors import UserError

    assert sero.__file__ is not None
    folder = Path(sero.__file__).resolve().parents[1] / "conf"
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; this verb needs the checkout's conf/")
    return folder
