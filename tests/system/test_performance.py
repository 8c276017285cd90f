"""A section of the measurements as a process."""

from benchmarks.performance import __main__ as program


def test_the_reason_of_a_failure_is_the_last_line_of_its_process(tmp_path):
    assert program._measure("no_such_section", "quick", tmp_path) == "KeyError: 'no_such_section'"
