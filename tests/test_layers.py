"""Imports point back along one line of layers; modules of one step do not import each other."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent / "sero"

LAYERS = [
    {"errors"},
    {"seeding", "storage", "database", "validation", "volatile", "prompts"},
    {"roles"},
    {"credit"},
    {"backbones", "encoders", "benchmarks", "tracking"},
    {"skillworld"},
    {"inference"},
    {"evolution", "assignment"},
    {"methods"},
    {"evaluation", "reporting"},
    {"config"},
    {"running"},
    {"doctor"},
    {"planning"},
    {"cli"},
]
STEP = {name: step for step, names in enumerate(LAYERS) for name in names}


def imports(path: Path) -> set[str]:
    """First-level names under sero that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            modules = [node.module]
            if node.module == "sero":
                modules = [f"sero.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            continue
        found |= {m.split(".")[1] for m in modules if m.startswith("sero.")}
    return found - {"__version__"}


def test_every_module_belongs_to_a_layer():
    modules = {p.stem for p in ROOT.iterdir() if p.name[0] not in "._" and p.name != "py.typed"}
    assert modules <= set(STEP), f"no layer for {modules - set(STEP)}"


def test_imports_point_back_along_the_line():
    wrong = []
    for path in sorted(ROOT.rglob("*.py")):
        own = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        for name in sorted(imports(path) - {own}):
            if STEP[name] >= STEP[own]:
                wrong.append(f"{path.relative_to(ROOT)} imports sero.{name}")
    assert not wrong, "\n".join(wrong)
