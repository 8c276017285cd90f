"""What SECURITY.md promises is tested: each sentence names its tests, which exist."""

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
ADVICE = (
    "Checksums detect damage",
    "An experiment file, your own learner",
    "Run only those",
    "Repeat only runs",
    "It has no encryption",
    "`HttpPush` and `Socket(listen=True)` have no authentication",
    "That detects damage",
    "Processes and Ray send pickled objects",
    "Trust a Ray cluster",
)
"""Sentences that say what is not promised, or what to trust."""

ROWS, SOURCES, APP, LOCKS = (
    "unit/streams/test_file_faults.py",
    "unit/streams/live/test_sources.py",
    "unit/serve/test_app.py",
    "unit/records/test_locks.py",
)

EVIDENCE = {
    "Data files may come from anywhere": (
        "system/test_damaged_files.py::test_damaged_files_are_read_or_refused_by_name",
    ),
    "Our own code that reads them": (
        "unit/test_security.py::test_no_code_of_ours_is_unsafe",
        "system/test_fuzzing.py::test_no_damaged_input_is_misread_or_does_harm",
    ),
    "A damaged or hostile file causes": (
        ROWS,
        "unit/streams/test_damaged_tables.py",
        f"{ROWS}::test_a_line_that_never_ends_is_refused_in_bounded_memory",
        f"{ROWS}::test_sparse_rows_cost_no_more_than_their_bytes_allow",
        f"{ROWS}::test_headers_cost_no_more_than_their_bytes_allow",
        f"{ROWS}::test_memory_does_not_grow_with_the_file",
    ),
    "A file that is written to while it is read": (
        "unit/streams/test_replaced_files.py::test_a_file_that_is_written_while_it_is_read_is_refused",
        "unit/streams/test_replaced_files.py::test_no_output_replaces_the_file_that_is_read",
    ),
    "Options and texts of any kind": (
        "unit/test_odd_values.py",
        "unit/test_odd_values.py::test_text_is_never_evaluated_as_code",
        "unit/experiments/test_experiments.py::test_values_out_of_proportion_are_refused_by_line",
    ),
    "Files of streamgauge have checksums": (
        "system/test_bit_flips.py::test_no_flipped_bit_changes_anything_in_silence",
        "unit/store/test_store.py::test_no_flipped_bit_of_the_catalogue_changes_anything_in_silence",
        "unit/_engine/test_journal.py::test_every_flipped_bit_of_a_journal_is_named_or_changes_nothing",
        "unit/_engine/test_checkpoint.py::test_every_damaged_byte_of_a_checkpoint_is_noticed",
    ),
    "They are checked whenever a file is read": (
        "unit/results/test_files.py::test_no_flipped_bit_of_a_manifest_or_of_the_readings_goes_unnoticed",
        "unit/_engine/test_checkpoint.py::test_a_damaged_recorder_log_is_noticed_before_the_first_row",
    ),
    "What is damaged is named": (
        "unit/results/test_files.py::test_what_is_damaged_is_named_and_the_rest_is_as_it_was",
        "unit/store/test_store.py::test_a_changed_row_of_the_catalogue_is_left_out_and_the_others_are_listed",
        "unit/_engine/test_checkpoint.py::test_a_damaged_checkpoint_is_reported_and_the_one_before_it_used",
    ),
    "A file of a run that is out of all proportion": (
        "unit/_engine/test_journal.py::test_a_file_without_bound_is_not_read",
    ),
    "Files for other programs have none": ("unit/results/test_files.py::test_the_manifest_lists_every_file_of_a_run",),
    "Parquet files among them": (
        "unit/streams/test_writers.py::test_no_flipped_bit_of_a_parquet_file_that_we_write_changes_a_row",
        "unit/streams/test_writers.py::test_tables_of_readings_in_parquet_have_checksums_that_others_check",
        "unit/streams/test_damaged_tables.py::test_the_checksum_of_a_page_is_compared",
    ),
    "Names of learners, streams": (
        "unit/test_odd_values.py::test_names_that_no_file_can_hold_are_refused_before_the_first_row",
    ),
    "No surface shows their control characters": (
        "unit/test_odd_names.py::test_odd_names_are_text_on_every_surface",
        "unit/test_odd_values.py::test_printed_results_hold_no_control_characters",
        f"{APP}::test_scripts_never_read_text_as_markup",
    ),
    "and a file that cannot hold a name": (
        "unit/streams/test_writers.py::test_odd_names_are_read_back_or_refused_when_they_are_written",
    ),
    "Results appear complete": (
        "system/test_killed_runs.py::test_runs_killed_at_random_moments_end_with_the_same_bytes",
        "unit/results/test_files.py::test_results_stay_whole_where_others_cannot_be_written",
    ),
    "A second run into the folder": (
        f"{LOCKS}::test_the_second_run_into_one_folder_is_refused_before_its_first_row",
        f"{LOCKS}::test_the_second_journal_and_the_second_save_into_one_folder_are_refused",
        "unit/_engine/test_checkpoint.py::test_two_runs_do_not_write_into_one_folder",
        "unit/streams/test_replaced_files.py::test_no_two_outputs_of_a_run_are_one_file",
    ),
    "A run that is killed leaves no lock": (
        "system/test_locks.py::test_the_lock_of_a_killed_process_is_taken_over_and_its_temporary_files_are_removed",
        f"{LOCKS}::test_the_temporary_folder_of_a_killed_process_is_removed_by_the_next_and_no_other",
        "system/test_processes.py::test_the_next_run_frees_the_shared_memory_of_a_killed_one",
    ),
    "`streamgauge rerun` builds": (
        "unit/experiments/test_repetition.py::test_a_manifest_cannot_say_where_to_write_or_what_to_trust",
        "unit/experiments/test_repetition.py::test_a_damaged_call_is_refused",
        "unit/test_odd_values.py::test_text_is_never_evaluated_as_code",
    ),
    "Checkpoints of our own learners": (
        "unit/_engine/test_states.py::test_no_code_runs_from_a_state_that_is_not_trusted",
        "unit/_engine/test_states.py::test_bytes_that_are_no_state_at_all_are_refused",
    ),
    "Those of learners written in Python": (
        "unit/_engine/test_checkpoint.py::test_pickled_learners_are_loaded_only_from_ones_own_checkpoints",
    ),
    "The dashboard listens on this machine": (
        "system/test_serve.py::test_serve_says_its_address_and_ends_with_its_parent",
        f"{APP}::test_away_from_this_machine_there_is_always_a_token",
    ),
    "Without a token it answers only": (
        f"{APP}::test_a_name_that_is_not_this_machine_is_refused",
        f"{APP}::test_with_a_token_nothing_is_answered_without_it",
        f"{APP}::test_health_is_answered_to_everybody_and_shows_a_folder_that_is_gone",
    ),
    "Pages of other sites": (f"{APP}::test_other_pages_can_neither_start_nor_stop_nor_watch",),
    "It reads only files in its folder": (
        f"{APP}::test_nothing_outside_the_folder_is_read",
        f"{APP}::test_a_link_out_of_the_folder_is_not_followed",
        f"{APP}::test_a_link_in_the_folder_of_a_run_is_not_followed",
    ),
    "Slow, silent and half-open clients": (
        "system/test_serve.py::test_slow_clients_shut_nobody_out_and_take_little_memory",
    ),
    "Its log has neither": (
        "system/test_serve.py::test_the_log_has_levels_and_neither_token_nor_line_ends_of_clients",
    ),
    "`HttpPush` refuses requests": (
        f"{SOURCES}::test_pages_and_requests_of_very_many_lines_are_refused",
        f"{SOURCES}::test_stalled_bodies_give_way_to_others_and_their_memory_is_bounded",
        f"{SOURCES}::test_silent_connections_give_way_to_others_and_end",
    ),
    "A broken event affects no other": (
        "unit/streams/live/test_decoding.py::test_whatever_comes_is_a_row_or_a_fault",
        f"{SOURCES}::test_a_line_that_is_cut_off_by_a_disconnect_is_set_aside",
    ),
    "A learner that hangs or eats memory": (
        "unit/learners/test_call_limit.py::test_a_learner_whose_call_takes_too_long_fails_and_the_others_continue",
        "system/test_processes.py::test_a_call_that_waits_is_interrupted_in_a_process_and_the_others_continue",
        "system/test_processes.py::test_a_learner_that_eats_memory_is_reported_by_name",
    ),
    "Downloads of data sets are checked": (
        "unit/streams/test_datasets.py::test_a_wrong_checksum_is_reported_and_nothing_is_kept",
    ),
}
"""The tests behind each sentence, by its first words; a file stands for all tests in it."""


def list_sentences() -> list[str]:
    """Return the sentences of what to expect, without the marks of emphasis and titles that end in a point."""
    text = (ROOT / "SECURITY.md").read_text().partition("## What to expect")[2]
    entries = re.split(r"^- ", text, flags=re.MULTILINE)[1:]
    plain = [re.sub(r"\*\*", "", re.sub(r"^\*\*[^*]+\.\*\* ", "", " ".join(entry.split()))) for entry in entries]
    return [sentence for entry in plain for sentence in re.split(r"(?<=\.) (?=[A-Z`])|(?<=markup,) ", entry)]


def test_each_sentence_names_its_tests() -> None:
    sentences, known = list_sentences(), [*EVIDENCE, *ADVICE]
    assert len(sentences) > 30
    for sentence in sentences:
        assert sum(map(sentence.startswith, known)) == 1, sentence
    assert [words for words in known if not any(s.startswith(words) for s in sentences)] == []


def test_no_code_of_ours_is_unsafe() -> None:
    rules = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["lints"]["rust"]
    assert rules["unsafe_code"] == "forbid"
    crates = list((ROOT / "crates").glob("*/Cargo.toml"))
    assert crates
    assert all(tomllib.loads(path.read_text())["lints"] == {"workspace": True} for path in crates)


def test_the_tests_behind_the_promises_exist() -> None:
    for tests in EVIDENCE.values():
        for test in tests:
            path, _, name = test.partition("::")
            names = {node.name for node in ast.parse((ROOT / "tests" / path).read_text()).body if hasattr(node, "name")}
            assert name in names if name else any(found.startswith("test_") for found in names), test
