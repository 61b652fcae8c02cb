def test_seed_against_final(sero, run_directory):
    found = sero("diff", run_directory, "0", "final")
    lines = found.out.splitlines()
    assert found.code == 0
    assert lines[0].startswith("0: seed.yaml, 3 roles, pool ")
    assert lines[1].startswith("final: final.yaml, 4 roles, pool ")
    assert lines[2] == "+ newcomer]0;owned\\u202e[bold] (router, setup)"
    assert lines[3] == "      Do it."


def test_backwards_and_equal(sero, run_directory):
    assert "- newcomer" in sero("diff", run_directory, "final", "seed").out
    assert sero("diff", run_directory, "2", "3").out.splitlines()[2:] == ["no difference"]


def test_the_accepted_episodes_are_named(sero, run_directory):
    found = sero("diff", run_directory, "0", "7")
    assert found.code == 2
    assert "0 (the seed pool) to 3, 'seed' and 'final'" in found.err
