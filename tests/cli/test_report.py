def test_runs_below_a_folder_are_found(sero, run_directory, tmp_path):
    found = sero("report", tmp_path / "runs", run_directory)
    assert found.code == 0
    assert found.out.count("report sero seed 42") == 1
    assert "0.500" in found.out


def test_at_least_one_run_is_needed(sero):
    assert sero("report").code == 2
