import subprocess
import sys

import pytest

VERBS = [
    ("log",),
    ("diff",),
    ("view",),
    ("report",),
    ("score",),
    ("doctor",),
    ("plan",),
    ("pool", "lint"),
]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_one_example(sero, verb):
    found = sero(*verb, "--help")
    assert found.code == 0
    assert found.out.count("Example: sero " + " ".join(verb)) == 1


def test_the_list_of_verbs_is_whole(sero):
    found = sero("--help")
    assert found.code == 0
    for verb in VERBS:
        assert f"  {verb[0]} " in found.out
    assert "..." not in found.out.split("Commands:")[1]


def test_help_loads_nothing_heavy():
    program = (
        "import sys\n"
        "from sero.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'torch', 'wandb', 'matplotlib', 'numpy', 'pydantic', 'datasets', 'hydra'}\n"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("log", "nowhere"),
        ("diff", "nowhere", "0", "final"),
        ("view", "nowhere"),
        ("report", "nowhere"),
        ("pool", "lint", "nowhere.yaml"),
        ("log", "{run}/status.json"),
        ("log", "{run}", "--last", "0"),
        ("diff", "{run}", "0"),
        ("diff", "{run}", "0", "99"),
        ("frobnicate",),
    ],
)
def test_a_users_mistake_is_exit_2_without_traceback(sero, run_directory, arguments):
    found = sero(*(part.format(run=run_directory) for part in arguments))
    assert found.code == 2
    assert found.err.strip()
    assert "Traceback" not in found.err + found.out


def test_an_unreadable_file_is_a_message(sero, run_directory):
    # A directory where a file should be cannot be read, whoever asks.
    (run_directory / "episodes.jsonl").unlink()
    (run_directory / "episodes.jsonl").mkdir()
    found = sero("log", run_directory)
    assert found.code == 2
    assert "episodes.jsonl: Is a directory" in found.err


def test_a_full_disk_keeps_its_own_exit_code(sero, run_directory):
    (run_directory / "report.html").mkdir()
    found = sero("view", run_directory)
    assert found.code == 74
    assert str(run_directory) in found.err
    assert "Traceback" not in found.err


def test_errors_escape_what_files_say(sero, run_directory, escape):
    (run_directory / "status.json").write_text('{"state": "x", "phase": ["\\u001b[2J"]}')
    found = sero("log", run_directory)
    assert found.code == 2
    assert "\x1b" not in found.err
