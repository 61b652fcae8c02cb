def test_the_page_is_written_and_its_path_printed(sero, run_directory):
    found = sero("view", run_directory)
    assert found.code == 0
    assert found.out.strip() == str(run_directory / "report.html")
    assert (run_directory / "report.html").read_text().startswith("\n<!doctype html>"[1:])
