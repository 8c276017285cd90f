"""Damaged inputs of every reader: refused in one line that names them, or read as an independent reader reads them."""

from random import SystemRandom

import pytest

from benchmarks.fuzzing import N_SOUND, OUTCOMES, Reader, fuzz, list_readers


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a fork beside threads
@pytest.mark.parametrize("reader", list_readers(), ids=lambda reader: reader.name)
def test_no_damaged_input_is_misread_or_does_harm(reader: Reader) -> None:
    seed = SystemRandom().randrange(1 << 32)  # other inputs in every run; a failure prints its seed
    counts = fuzz(reader, 150, seed)
    assert counts.total() == 150
    assert set(counts) <= set(OUTCOMES[:N_SOUND]), (seed, counts)
