"""Changes of concept: windows are exact, positions do not shift, the truth travels along."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from streamgauge.checks import check_stream
from streamgauge.errors import StreamgaugeError
from streamgauge.names import FAMILIES, make
from streamgauge.protocols import Stream
from streamgauge.records import UNLABELLED, Drift
from streamgauge.streams import (
    LED,
    SEA,
    STAGGER,
    Agrawal,
    ArrayStream,
    Classification,
    Covered,
    Gradual,
    Hyperplane,
    Imbalanced,
    Incremental,
    Joined,
    Mixed,
    Noisy,
    PokerHand,
    RandomRBF,
    Recurring,
    Relabelled,
    Shifted,
    Sudden,
    Swapped,
    drifts_of,
    paper_stream,
    take,
)
from streamgauge.streams.paper_streams import PAPER_STREAMS

UNLIKELY = 1e-4
LOW, HIGH = SEA(thresholds=(0.0,), noise=0.0), SEA(thresholds=(20.0,), noise=0.0, seed=2)  # always 1, always 0


def data(n=1000):
    random = np.random.default_rng(3)
    x = {"price": random.random(n), "load": random.random(n), "day": random.choice(["mo", "tu", "we"], n)}
    return ArrayStream(x, random.choice(["down", "up"], n), weight=random.random(n), time=np.arange(n))


COMPOSED = [
    Sudden(SEA(1), SEA(3), position=333),
    Sudden(SEA(1), SEA(3), position=0),
    Gradual(SEA(1), SEA(3), position=100, width=500),
    Gradual(SEA(1), SEA(3), position=5, width=1, shape="linear"),
    Gradual(Gradual(SEA(1), SEA(2), position=100, width=300), SEA(3, seed=7), position=250, width=300, seed=4),
    Gradual(Agrawal(1), Agrawal(2), position=50, width=800, shape=np.sqrt),
    Incremental(Classification(1), Classification(2), position=100, width=500),
    Incremental(RandomRBF(seed=1), RandomRBF(seed=2), position=100, width=500, shape="linear"),
    Incremental(Mixed(1), Mixed(2), position=300, width=300),
    Recurring((STAGGER(1), STAGGER(2), STAGGER(3)), every=70),
    Recurring((STAGGER(1), STAGGER(2)), every=100, width=100),
    Recurring((Classification(1), Classification(2)), every=300, width=150, kind="incremental"),
    Recurring((SEA(1, n_rows=500), SEA(3)), every=100, width=20),
    Joined((SEA(1, n_rows=123), SEA(3, n_rows=456))),
    Joined((SEA(1, n_rows=12), SEA(3, n_rows=45)), repeat=True),
    Imbalanced(SEA(), (0.98, 0.02)),
    Imbalanced(Gradual(SEA(1), SEA(3), position=100, width=500), (0.3, 0.7)),
    Noisy(LED(), noise=0.4),
    Swapped(SEA(), "a1", "a3"),
    Shifted(SEA(), "a2", by=5.0),
    Covered(SEA(), "a1"),
    Covered(STAGGER(), "colour"),
    Relabelled(LED(), "1", "7"),
    Sudden(data(), Swapped(data(), "price", "load"), position=400),
    Gradual(data(), Covered(data(), "price"), position=400, width=200),
    Sudden(data(), Relabelled(data(), "up", "down"), position=999),
    paper_stream("SEA(50)"),
    paper_stream("LED(50000)"),
    paper_stream("SEA(Gama)"),
]


@pytest.mark.parametrize("stream", COMPOSED, ids=lambda stream: type(stream).__name__)
def test_composed_streams_keep_the_contract_of_streams(stream):
    check_stream(stream)


def test_composed_streams_are_values_that_can_be_distinguished():
    assert len({stream.fingerprint for stream in COMPOSED}) == len(COMPOSED)
    stream = Gradual(SEA(1), SEA(3), position=100, width=50)
    assert pickle.loads(pickle.dumps(stream)) == stream
    shapes = (lambda passed: passed, lambda passed: passed**2, "linear")
    assert len({Gradual(SEA(), SEA(), 5, 5, shape=shape).fingerprint for shape in shapes}) == 3


@given(
    position=st.integers(0, 300),
    width=st.integers(1, 300),
    shape=st.sampled_from(["sigmoid", "linear"]),
    size=st.integers(1, 400),
    start=st.integers(0, 700),
)
@settings(max_examples=60, deadline=None)
def test_a_window_is_exact_whatever_the_position_width_and_batch(position, width, shape, size, start):
    stream = Gradual(LOW, HIGH, position=position, width=width, shape=shape)
    whole = take(stream, 800)
    assert (whole.y[:position] == 1).all()
    assert (whole.y[position + width :] == 0).all()
    # Each row is the row of its own position in the concept that it comes from.
    sources = np.where(whole.y[:, None] == 1, take(LOW, 800).x, take(HIGH, 800).x)
    assert np.array_equal(whole.x, sources)
    batch = next(stream.batches(size, start))
    n = min(size, 800 - start)
    assert np.array_equal(batch.x[:n], whole.x[start : start + n])
    assert np.array_equal(batch.y[:n], whole.y[start : start + n])


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("linear", lambda t: t),
        ("sigmoid", lambda t: 1 / (1 + np.exp(-12 * (t - 0.5)))),
        (np.square, lambda t: t**2),
    ],
    ids=["linear", "sigmoid", "function"],
)
def test_the_new_concept_grows_by_its_shape(shape, expected):
    n = 100_000
    y = take(Gradual(LOW, HIGH, position=0, width=n, shape=shape), n).y
    found = (y == 0).reshape(20, -1).mean(axis=1)
    wanted = expected((np.arange(n) + 0.5) / n).reshape(20, -1).mean(axis=1)
    assert np.abs(found - wanted).max() < 5 * np.sqrt(0.25 / (n / 20))


def test_the_sigmoid_is_that_of_moa_three_times_as_wide():
    position, width = 10_000, 500
    rows = np.arange(position - 700, position + 700)
    moas = 1 / (1 + np.exp(-4 * (rows - position) / width))
    stream = Gradual(LOW, HIGH, position=position - 750, width=1500)
    assert np.abs(stream._compute_share(rows[0], len(rows)) - moas).max() < 0.01


def test_a_width_of_one_row_does_not_overflow():
    stream = Gradual(LOW, HIGH, position=5_000, width=1)
    y = take(stream, 10_000).y
    assert (y[:5_000] == 1).all()
    assert (y[5_001:] == 0).all()
    assert next(stream.batches(1, start=10**15)).y.tolist() == [0]


def test_nested_changes_stay_where_they_are():
    thresholds = (0.0, 20.0, 0.0, 20.0)
    stream: Stream = SEA(thresholds=thresholds[:1], noise=0.0)
    for k, threshold in enumerate(thresholds[1:], start=1):
        stream = Sudden(stream, SEA(thresholds=(threshold,), noise=0.0), position=1_000 * k)
    assert drifts_of(stream) == (Drift(1_000), Drift(2_000), Drift(3_000))
    assert np.flatnonzero(np.diff(take(stream, 4_000).y)).tolist() == [999, 1_999, 2_999]


def test_mixing_in_nested_windows_is_independent():
    inner = Gradual(LOW, HIGH, position=0, width=10_000, shape=lambda t: np.full(len(t), 0.5))
    outer = Gradual(inner, SEA(thresholds=(20.0,), noise=0.0, seed=3), 1, 9_999, shape=lambda t: np.full(len(t), 0.5))
    y = take(outer, 10_000).y
    assert stats.binomtest(int((y == 1).sum()), 10_000, 0.25).pvalue > UNLIKELY


def test_seeds_decide_which_rows_mix():
    one, other = (take(Gradual(LOW, HIGH, 0, 1_000, shape="linear", seed=seed), 1_000).y for seed in (1, 2))
    assert 0 < (one != other).mean() < 0.6


def test_a_concept_that_is_too_short_is_refused_and_a_long_one_does_not_end_the_stream():
    short = SEA(1, n_rows=500)
    with pytest.raises(StreamgaugeError, match="500 rows, but is read up to row 600"):
        Gradual(short, SEA(3), position=400, width=200)
    with pytest.raises(StreamgaugeError, match="500 rows, but is read up to row 600"):
        Sudden(SEA(1), short, position=600)
    stream = Sudden(short, SEA(3, n_rows=900), position=500)
    assert stream.n_rows == 900
    assert sum(len(batch) for batch in stream.batches(64)) == 900
    assert Sudden(short, SEA(3), position=500).n_rows is None


@pytest.mark.parametrize(
    ("mistake", "text"),
    [
        (lambda: Sudden(SEA(), Hyperplane(), 5), "3 and of 10 attributes"),
        (lambda: Sudden(STAGGER(), Relabelled(SEA(), "0", "1"), 5), "classes"),
        (lambda: Sudden(SEA(), SEA, 5), "must be a stream"),  # type: ignore[arg-type]
        (lambda: Sudden(SEA(), SEA(), -1), "position"),
        (lambda: Gradual(SEA(), SEA(), 5, 0), "width"),
        (lambda: Gradual(SEA(), SEA(), 5, 5, shape="cubic"), "shape"),
        (lambda: take(Gradual(SEA(), SEA(), 5, 5, shape=lambda t: 2 * t), 20), r"values in \[0, 1\]"),
        (lambda: Recurring((SEA(), SEA()), every=5, width=6), "width = 6"),
        (lambda: Recurring((SEA(), SEA()), every=5, width=2, kind="sudden"), "gradual, incremental"),
        (lambda: Recurring((), every=5), "tuple of streams"),
        (lambda: Joined((SEA(), SEA())), "never ends"),
        (lambda: Joined((SEA(n_rows=0),)), "is empty"),
        (lambda: Imbalanced(SEA(), (0.5, 0.2, 0.3)), "2 numbers"),
        (lambda: Imbalanced(SEA(), (0.5, 0.6)), "add up to 1"),
        (lambda: take(Imbalanced(data(), (0.9, 0.1)), 100), "one sample"),
        (lambda: take(Imbalanced(PokerHand(), (0.0,) * 9 + (1.0,)), 10), "too rare"),
        (lambda: Swapped(SEA(), "a1", "b"), "there is no attribute 'b'"),
        (lambda: Swapped(data(), "price", "day"), "values differ"),
        (lambda: Shifted(data(), "day", by=1.0), "nominal"),
        (lambda: Covered(STAGGER(), "size", value=1.0), "nominal"),
        (lambda: Relabelled(SEA(), "0", "2"), "there is no class '2'"),
        (lambda: paper_stream("SEA(51)"), "SEA"),
        (lambda: drifts_of(SEA(drift_every=10)), "for ever"),
        (lambda: Drift(5, 0, "slow"), "kind of drift"),
    ],
)
def test_mistakes_are_reported(mistake, text):
    with pytest.raises(StreamgaugeError, match=text):
        mistake()


def test_an_incremental_change_moves_the_values_of_each_class_from_one_concept_to_the_other():
    before, after = Classification(1, separation=3.0, noise=0.0), Classification(2, separation=3.0, noise=0.0)
    stream = Incremental(before, after, position=500, width=1_000, shape="linear")
    whole, old, new = (take(s, 2_000) for s in (stream, before, after))
    assert np.array_equal(whole.y, old.y)
    share = np.clip((np.arange(2_000) - 500 + 0.5) / 1_000, 0, 1)[:, None]
    share[:500], share[1_500:] = 0, 1
    assert np.allclose(whole.x, (1 - share) * old.x + share * new.x, rtol=0, atol=1e-12)
    assert np.array_equal(whole.x[:500], old.x[:500])
    assert np.array_equal(whole.x[1_500:], new.x[1_500:])


def test_an_incremental_change_pairs_rows_of_the_same_class():
    # The third attribute is about 100 in the old concept and about -100 in the new, so that half-way it is about 0.
    before = Shifted(SEA(thresholds=(10.0,), noise=0.0), "a3", by=100.0)
    after = Shifted(SEA(thresholds=(10.0,), noise=0.0, seed=9), "a3", by=-100.0)
    stream = Incremental(before, after, position=0, width=1_000, shape=lambda t: np.full(len(t), 0.5))
    rows = take(stream, 1_000)
    assert np.abs(rows.x[:, 2]).max() < 10
    # The mean of two points on one side of a line is on that side.
    assert np.array_equal(rows.y, rows.x[:, 0] + rows.x[:, 1] > 10)


def test_nominal_values_of_an_incremental_change_are_those_of_a_concept():
    rows = take(Incremental(Mixed(1), Mixed(2), position=0, width=1_000), 1_000)
    assert set(np.unique(rows.x[:, :2])) == {0.0, 1.0}


def test_concepts_recur_in_turn():
    stream = Recurring((LOW, HIGH), every=100)
    assert take(stream, 1_000).y.tolist() == ([1] * 100 + [0] * 100) * 5
    assert drifts_of(stream, 350) == (Drift(100), Drift(200), Drift(300))
    mixing = take(Recurring((LOW, HIGH), every=1_000, width=400), 4_000).y.reshape(4, 1_000)
    assert (mixing[:, 400:] == [[1], [0], [1], [0]]).all()
    assert (mixing[0] == 1).all()
    assert set(mixing[1, :400]) == {0, 1}


def test_joined_streams_begin_with_their_own_first_rows():
    first, second = data(300), data(200)
    rows = take(Joined((first, second)), 500)
    assert np.array_equal(rows.x[300:], second.x)
    again = take(Joined((second,), repeat=True), 500)
    assert np.array_equal(again.x, np.concatenate([second.x, second.x, second.x[:100]]))
    assert again.weight is not None
    inner = Sudden(SEA(1, n_rows=100), SEA(2, n_rows=100), position=40)
    assert drifts_of(Joined((inner, inner))) == (Drift(40), Drift(100), Drift(140))
    assert drifts_of(Joined((SEA(n_rows=30),), repeat=True), 100) == (Drift(30), Drift(60), Drift(90))


def test_shares_are_as_asked_and_rows_follow_their_concept():
    n = 50_000
    rows = take(Imbalanced(SEA(2, noise=0.0), (0.95, 0.05)), n)
    assert stats.binomtest(int(rows.y.sum()), n, 0.05).pvalue > UNLIKELY
    assert np.array_equal(rows.y, rows.x[:, 0] + rows.x[:, 1] > 9.0)
    assert len(np.unique(rows.x, axis=0)) == n
    plain = take(SEA(2, noise=0.0), n)
    for code in (0, 1):
        for j in range(3):
            assert stats.ks_2samp(rows.x[rows.y == code, j], plain.x[plain.y == code, j]).pvalue > UNLIKELY


def test_an_imbalance_keeps_the_drifts_in_their_places():
    # Before row 500 the sum is compared with 15, from there on with 5.
    stream = Imbalanced(SEA(thresholds=(15.0, 5.0), drift_every=500, noise=0.0), (0.5, 0.5))
    rows = take(stream, 1_000)
    thresholds = np.repeat([15.0, 5.0], 500)
    assert np.array_equal(rows.y, rows.x[:, 0] + rows.x[:, 1] > thresholds)
    assert drifts_of(stream, 1_000) == (Drift(500),)


def test_a_dynamic_imbalance_is_a_change_between_two():
    often, rarely = Imbalanced(SEA(), (0.1, 0.9)), Imbalanced(SEA(), (0.9, 0.1))
    y = take(Gradual(often, rarely, position=20_000, width=20_000, shape="linear"), 60_000).y
    for rows, share in ((slice(0, 20_000), 0.9), (slice(20_000, 40_000), 0.5), (slice(40_000, 60_000), 0.1)):
        assert stats.binomtest(int(y[rows].sum()), 20_000, share).pvalue > UNLIKELY


def test_noise_replaces_labels_evenly_by_others():
    n = 50_000
    clean, noisy = take(LED(), n), take(Noisy(LED(), noise=0.2), n)
    assert np.array_equal(clean.x, noisy.x)
    wrong = clean.y != noisy.y
    assert stats.binomtest(int(wrong.sum()), n, 0.2).pvalue > UNLIKELY
    steps = (noisy.y - clean.y)[wrong] % 10
    assert stats.chisquare(np.bincount(steps, minlength=10)[1:]).pvalue > UNLIKELY
    unlabelled = ArrayStream(np.zeros((100, 1)), [None, "a", "b", "c"] * 25)
    assert (take(Noisy(unlabelled, noise=1.0), 100).y[::4] == UNLABELLED).all()


def test_changes_injected_into_real_data_change_just_what_they_say():
    stream = data()
    rows = take(stream, 1_000)
    at = 400
    swapped = take(Sudden(stream, Swapped(stream, "price", "load"), at), 1_000)
    assert np.array_equal(swapped.x[:at], rows.x[:at])
    assert np.array_equal(swapped.x[at:], rows.x[at:][:, [1, 0, 2]])
    shifted = take(Sudden(stream, Shifted(stream, "load", by=3.0), at), 1_000)
    assert np.array_equal(shifted.x[at:] - rows.x[at:] > 1, np.broadcast_to([False, True, False], (600, 3)))
    covered = Sudden(stream, Covered(stream, "day"), at)
    assert covered.schema.missing.tolist() == [False, False, True]
    assert np.isnan(take(covered, 1_000).x[at:, 2]).all()
    assert not np.isnan(take(covered, 1_000).x[:at]).any()
    relabelled = take(Sudden(stream, Relabelled(stream, "up", "down"), at), 1_000)
    assert np.array_equal(relabelled.y, np.where(np.arange(1_000) < at, rows.y, 1 - rows.y))
    for changed in (swapped, shifted, relabelled):
        assert changed.weight is not None
        assert changed.time is not None
        assert changed.weight.tolist() == np.asarray(rows.weight).tolist()
        assert changed.time.tolist() == np.asarray(rows.time).tolist()


def test_the_truth_tells_what_shows():
    inner = Gradual(SEA(1), SEA(2), position=100, width=50)
    late = Sudden(SEA(2), SEA(3), position=900)
    both = Gradual(inner, late, position=500, width=100)
    assert drifts_of(both) == (Drift(100, 50, "gradual"), Drift(500, 100, "gradual"), Drift(900))
    assert drifts_of(both, n_rows=500) == (Drift(100, 50, "gradual"),)
    assert drifts_of(Sudden(late, SEA(4), position=700)) == (Drift(700),)
    assert drifts_of(Sudden(SEA(4), inner, position=700)) == (Drift(700),)
    assert drifts_of(Noisy(both)) == drifts_of(both)
    assert drifts_of(data()) == ()
    assert drifts_of(Incremental(SEA(1), SEA(2), 5, 6))[0].kind == "incremental"


def test_drifts_never_shift_with_depth():
    stream = SEA(1, drift_every=250)
    assert drifts_of(Noisy(Imbalanced(stream, (0.5, 0.5))), 600) == (Drift(250), Drift(500))


def test_named_streams_are_those_of_the_papers():
    for name in PAPER_STREAMS:
        assert paper_stream(name).n_rows == (60_000 if "Gama" in name else 1_000_000)
    for name, width in (("SEA(50)", 150), ("SEA(50000)", 150_000), ("LED(50000)", 150_000)):
        drifts = drifts_of(paper_stream(name))
        assert [drift.position + drift.width // 2 for drift in drifts] == [250_000, 500_000, 750_000]
        assert {drift.width for drift in drifts} == {width}
    assert drifts_of(paper_stream("SEA(Gama)")) == (Drift(15_000), Drift(30_000), Drift(45_000))
    for start, threshold in ((200_000, 9.0), (400_000, 8.0), (600_000, 7.0), (900_000, 9.5)):
        rows = take(paper_stream("SEA(50)"), 20_000, start)
        wrong = (rows.x[:, 0] + rows.x[:, 1] > threshold) != rows.y
        assert stats.binomtest(int(wrong.sum()), 20_000, 0.1).pvalue > UNLIKELY
    assert paper_stream("RBF(10, 0.001)") == RandomRBF(n_drifting=10, speed=0.001, n_rows=1_000_000)
    assert paper_stream("HYP(10,0.0001)") == Hyperplane(n_drifting=10, magnitude=0.0001, n_rows=1_000_000)
    assert paper_stream("LED(50000)", seed=4) != paper_stream("LED(50000)")


@pytest.mark.parametrize(
    ("text", "stream"),
    [
        (
            "Gradual(SEA(1), SEA(3), position=5000, width=1000)",
            Gradual(SEA(1), SEA(3), position=5_000, width=1_000),
        ),
        (
            "Sudden(Gradual(SEA, SEA(2), 10, 20, shape='linear'), SEA(3), position=90)",
            Sudden(Gradual(SEA(), SEA(2), 10, 20, shape="linear"), SEA(3), position=90),
        ),
        ("Recurring((LED(1), LED(3)), every=100)", Recurring((LED(1), LED(3)), every=100)),
        ("Imbalanced(SEA, (0.9, 0.1))", Imbalanced(SEA(), (0.9, 0.1))),
        ("paper_stream('RBF(50,0.001)')", paper_stream("RBF(50,0.001)")),
        ("Sudden(SEA, Swapped(SEA, 'a1', 'a3'), 7)", Sudden(SEA(), Swapped(SEA(), "a1", "a3"), 7)),
    ],
)
def test_the_command_line_builds_nested_streams(text, stream):
    assert make("stream", text, FAMILIES["streams"]()) == stream


def test_the_command_line_says_which_option_a_change_needs():
    with pytest.raises(StreamgaugeError, match="Gradual needs its option width"):
        make("stream", "Gradual(SEA, SEA, position=5)", FAMILIES["streams"]())
