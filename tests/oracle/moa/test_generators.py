"""Generators against MOA."""

import numpy as np
import pytest
from scipy import stats

from peers import moa
from streamgauge.streams import LED, Agrawal, AssetNegotiation, Mixed, Sine, Waveform
from tests.support.generator_rules import UNLIKELY, agrawal_label, rows_of


@pytest.mark.usefixtures("moa")
@pytest.mark.parametrize(
    ("task", "stream", "left_out"),
    [
        ("LEDGeneratorDrift -d 3", LED(3), ()),
        ("WaveformGenerator -n", Waveform(40), ()),
        ("AgrawalGenerator -f 7", Agrawal(7), (6,)),
        ("SineGenerator -f 3", Sine(3), ()),
        ("MixedGenerator -f 2", Mixed(2), ()),
        ("AssetNegotiationGenerator -f 4 -n 0.05", AssetNegotiation(4), ()),
    ],
)
def test_rows_are_distributed_as_moas(task, stream, left_out):
    n = 10_000
    schema, moa_x, moa_y = moa.generate_rows(f"generators.{task}", n)
    x, y = rows_of(stream, n)
    assert schema.n_values.tolist() == stream.schema.n_values.tolist()
    counts = [np.bincount(labels, minlength=schema.n_classes) for labels in (y, moa_y)]
    assert stats.chi2_contingency(counts).pvalue > UNLIKELY / 100
    unlikely = UNLIKELY / schema.n_attributes
    for j in (j for j in range(schema.n_attributes) if j not in left_out):
        for code in range(schema.n_classes):
            ours, theirs = x[y == code, j], moa_x[moa_y == code, j]
            if schema.n_values[j] == 0:
                assert stats.ks_2samp(ours, theirs).pvalue > unlikely, (j, code)
            else:
                table = np.array([np.bincount(c.astype(int), minlength=schema.n_values[j]) for c in (ours, theirs)])
                assert stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue > unlikely, (j, code)


@pytest.mark.usefixtures("moa")
def test_moas_applicants_follow_the_same_rules():
    for concept in (4, 5, 10):
        _, x, y = moa.generate_rows(f"generators.AgrawalGenerator -f {concept} -p 0", 2_000)
        assert y.tolist() == [agrawal_label(concept, row) for row in x]
