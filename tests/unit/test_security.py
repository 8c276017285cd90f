"""What SECURITY.md promises is tested: each entry names its tests, which exist."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ADVICE = ("Learners and experiments are programs", "Processes and Ray")
"""Entries that say what to trust, and promise nothing."""

EVIDENCE = {
    "Data files": (
        "system/test_fuzzing.py::test_no_damaged_input_is_misread_or_does_harm",
        "system/test_damaged_files.py::test_damaged_files_are_read_or_refused_by_name",
        "unit/streams/test_replaced_files.py::test_a_file_that_is_written_while_it_is_read_is_refused",
        "unit/streams/test_replaced_files.py::test_no_output_replaces_the_file_that_is_read",
        "unit/streams/test_file_faults.py::test_a_line_that_never_ends_is_refused_in_bounded_memory",
        "unit/streams/test_damaged_tables.py",
        "unit/streams/test_file_faults.py",
        "unit/streams/test_file_faults.py::test_sparse_rows_cost_no_more_than_their_bytes_allow",
        "unit/streams/test_file_faults.py::test_memory_does_not_grow_with_the_file",
    ),
    "Options and texts": ("unit/test_odd_values.py", "unit/test_text_objects.py"),
    "Rows over HTTP, sockets and brokers": (
        "unit/streams/live/test_sources.py::test_pages_and_requests_of_very_many_lines_are_refused",
        "unit/streams/live/test_sources.py::test_stalled_bodies_give_way_to_others_and_their_memory_is_bounded",
        "unit/streams/live/test_sources.py::test_silent_connections_give_way_to_others_and_end",
        "unit/streams/live/test_sources.py::test_a_line_that_is_cut_off_by_a_disconnect_is_set_aside",
        "unit/streams/live/test_decoding.py",
    ),
    "A learner that hangs or eats memory": (
        "unit/learners/test_call_limit.py",
        "system/test_processes.py::test_a_call_that_waits_is_interrupted_in_a_process_and_the_others_continue",
        "system/test_processes.py::test_a_learner_that_eats_memory_is_reported_by_name",
    ),
    "Files of streamgauge": (
        "system/test_bit_flips.py::test_no_flipped_bit_changes_anything_in_silence",
        "unit/results/test_files.py",
        "unit/store/test_store.py::test_no_flipped_bit_of_the_catalogue_changes_anything_in_silence",
        "unit/store/test_store.py::test_a_changed_row_of_the_catalogue_is_left_out_and_the_others_are_listed",
        "unit/_engine/test_journal.py::test_a_file_without_bound_is_not_read",
        "unit/_engine/test_journal.py::test_every_flipped_bit_of_a_journal_is_named_or_changes_nothing",
        "unit/_engine/test_checkpoint.py::test_every_damaged_byte_of_a_checkpoint_is_noticed",
        "unit/_engine/test_checkpoint.py::test_a_damaged_recorder_log_is_noticed_before_the_first_row",
    ),
    "Results": (
        "unit/records/test_locks.py::test_the_second_run_into_one_folder_is_refused_before_its_first_row",
        "unit/streams/test_replaced_files.py::test_no_two_outputs_of_a_run_are_one_file",
        "unit/records/test_locks.py::test_the_second_journal_and_the_second_save_into_one_folder_are_refused",
        "unit/_engine/test_checkpoint.py::test_two_runs_do_not_write_into_one_folder",
        "system/test_locks.py::test_the_lock_of_a_killed_process_is_taken_over_and_its_temporary_files_are_removed",
        "system/test_killed_runs.py::test_runs_killed_at_random_moments_end_with_the_same_bytes",
        "unit/records/test_locks.py::test_the_temporary_folder_of_a_killed_process_is_removed_by_the_next_and_no_other",
        "system/test_processes.py::test_the_next_run_frees_the_shared_memory_of_a_killed_one",
    ),
    "Manifests are requests": (
        "unit/test_repetition.py::test_a_manifest_cannot_say_where_to_write_or_what_to_trust",
        "unit/test_repetition.py::test_a_damaged_call_is_refused",
    ),
    "Checkpoints": (
        "unit/_engine/test_states.py::test_no_code_runs_from_a_state_that_is_not_trusted",
        "unit/_engine/test_checkpoint.py::test_pickled_learners_are_loaded_only_from_ones_own_checkpoints",
    ),
    "The dashboard": (
        "unit/serve/test_app.py",
        "unit/serve/test_app.py::test_health_is_answered_to_everybody_and_shows_a_folder_that_is_gone",
        "system/test_serve.py::test_slow_clients_shut_nobody_out_and_take_little_memory",
        "system/test_serve.py::test_the_log_has_levels_and_neither_token_nor_line_ends_of_clients",
    ),
    "Downloads": ("unit/streams/test_datasets.py::test_a_wrong_checksum_is_reported_and_nothing_is_kept",),
}
"""The tests behind each entry, by its first words; a file stands for all tests in it."""


def test_each_promise_names_its_tests() -> None:
    text = (ROOT / "SECURITY.md").read_text().partition("## What to expect")[2]
    entries = re.findall(r"^- \*\*(.+?)\.?\*\*", text, flags=re.MULTILINE)
    assert sorted(entries) == sorted([*EVIDENCE, *ADVICE])


def test_the_tests_behind_the_promises_exist() -> None:
    for tests in EVIDENCE.values():
        for test in tests:
            path, _, name = test.partition("::")
            names = {node.name for node in ast.parse((ROOT / "tests" / path).read_text()).body if hasattr(node, "name")}
            assert name in names if name else any(found.startswith("test_") for found in names), test
