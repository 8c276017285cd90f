"""Single flipped bits in every kind of file: the same, warned of, or refused by name."""

from random import SystemRandom

import pytest

from benchmarks.bit_flips import KINDS, N_SOUND, OUTCOMES, Kind, survey


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a fork beside threads
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_no_flipped_bit_changes_anything_in_silence(kind: Kind) -> None:
    seed = SystemRandom().randrange(1 << 32)  # other bits in every run; a failure prints its seed
    (counts,) = survey(8, seed, (kind,))
    assert counts[kind.name].total() == 8
    assert set(counts[kind.name]) <= set(OUTCOMES[:N_SOUND]), (seed, counts)
