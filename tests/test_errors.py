"""The family of errors: what is a kind of what, and what a script ends with."""

import inspect
import re

import pytest

from sero import errors


def drawn_tree() -> dict[str, str]:
    """Child to parent, as the module's docstring draws it."""
    parents: dict[str, str] = {}
    line_of_depth: dict[int, str] = {}
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"    ((?:│   |    )*)(?:├── |└── )?([A-Z]\w+)", line)
        if not found:
            continue
        depth = len(found[1]) // 4 + ("── " in line)
        line_of_depth[depth] = found[2]
        if depth:
            parents[found[2]] = line_of_depth[depth - 1]
    return parents


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes():
    tree = drawn_tree()
    assert len(tree) == 15
    for child, parent in tree.items():
        assert issubclass(getattr(errors, child), getattr(errors, parent)), (child, parent)
    classes = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, errors.SeroError)
    }
    assert classes - {"SeroError", "FaultList"} == set(tree)


@pytest.mark.parametrize(
    ("kind", "exit_code"),
    [
        ("SeroError", 1),
        ("UserError", 2),
        ("ConfigError", 2),
        ("CardError", 2),
        ("RosterError", 2),
        ("DataError", 2),
        ("RunConflict", 2),
        ("BackboneError", 75),
        ("ServerUnavailable", 75),
        ("DeadlineExceeded", 75),
        ("MalformedReply", 75),
        ("ServerNotReady", 75),
        ("RequestRejected", 2),  # the same request would be refused again
        ("BudgetSpent", 75),
        ("StorageError", 74),
    ],
)
def test_exit_codes(kind, exit_code):
    assert getattr(errors, kind).exit_code == exit_code


def test_faults_are_listed_one_a_line():
    error = errors.CardError("pool.yaml", ["a.name: missing", "b.role: unknown field"])
    assert str(error) == (
        "pool.yaml: 2 problem(s) in the role cards\n  a.name: missing\n  b.role: unknown field"
    )
    assert error.where == "pool.yaml"
    assert error.faults == ("a.name: missing", "b.role: unknown field")
    assert "1 problem(s) in the configuration" in str(errors.ConfigError("here", ["x"]))


def test_the_last_status_is_kept():
    assert errors.ServerUnavailable("down").status is None
    assert errors.ServerUnavailable("down", status=503).status == 503
    assert errors.RequestRejected("no", status=401).status == 401
