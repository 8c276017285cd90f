"""Compute the numbers of confseq and expectation that tests compare ours with; run where the library is installed.

``python record.py confseq`` or ``python record.py expectation``, in this folder, writes ``confseq.json`` or
``expectation.json``: inputs beside outputs. It imports nothing of streamgauge.
"""

import json
import sys
from importlib import import_module, metadata
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = dict[str, Any]

LOOKS = (10, 50, 200, 1000, 3000)
"""The rows after which a sequence is read."""

STAKES = 0.5 * 2.0 ** -np.arange(12.0)
ALPHAS = (0.2, 0.05, 0.001)
COUNTS = ((10, 2, 10.0), (60, 40, 10.0), (530, 470, 10.0), (7, 30, 1.0), (0, 12, 2.5))
"""The rows that only one of two got right, and the parameter of the prior."""


def draw() -> NDArray[np.float64]:
    """Return values in [-1, 1] in steps of 1 / 16, with a mean of 0 in the first half and of about 0.06 then."""
    random = np.random.default_rng(20)
    return np.clip(np.round(16 * random.normal(np.repeat([0.0, 0.06], 1500), 0.3)) / 16, -1.0, 1.0)


def find_scale(alpha: float) -> float:
    """Return by what the time at which a mixture is best must be divided for the parameter rho of the mixture."""
    log = 2 * np.log(1 / alpha)
    return float(log + np.log1p(log))


def record_confseq() -> Numbers:
    """Return the numbers of confseq."""
    betting, bounded, boundaries, predmix = (
        import_module(f"confseq.{name}") for name in ("betting", "conjmix_bounded", "boundaries", "predmix")
    )
    values, looks = draw(), np.array(LOOKS) - 1
    shares = (1 + values) / 2  # confseq wants values in [0, 1]

    def stay(stake: float) -> Any:
        return lambda x, *_: np.full(len(x), stake)

    normal = []
    for n, variance, alpha, best_at in product((100, 1000, 100_000), (0.02, 0.2), ALPHAS, (30.0, 1000.0)):
        radius = boundaries.normal_mixture_bound(n * variance, alpha, best_at, alpha, is_one_sided=False)
        normal.append([n, variance, alpha, best_at, float(radius) / n])
    beta = []
    for a, b, prior in COUNTS:
        # values of -1 and 1: the prior is a beta distribution with both parameters r / 2, and r is rho - 1
        best_at = (2 * prior + 1) * find_scale(0.05)
        log = boundaries.beta_binomial_log_mixture(a - b, a + b, best_at, 1.0, 1.0, 0.05, is_one_sided=False)
        beta.append([a, b, prior, float(log)])
    capital = betting.diversified_betting_mart(
        shares, 0.5, [stay(2 * stake) for stake in STAKES], convex_comb=True, trunc_scale=1.0
    )
    # with alpha = 1 the bound is 1 plus the log of the capital, divided by the stake and the number of values
    bounds = [
        predmix.predmix_lower_cs(1 + values, values**2, stay(stake), lambda x: -np.log(1 - x) - x, alpha=1.0)[looks]
        for stake in STAKES
    ]
    intervals = {
        "hedged": betting.betting_cs(shares, breaks=2000, alpha=0.05),
        "empirical_bernstein": predmix.predmix_empbern_twosided_cs(shares, alpha=0.05),
        "conjugate_mixture": bounded.conjmix_empbern_twosided_cs(shares, v_opt=25.0, alpha=0.05),
    }
    gamma = [
        [v, alpha, float(boundaries.gamma_exponential_mixture_bound(v, alpha, v, 1.0, alpha))]
        for v in (1.0, 10.0, 100.0, 1000.0, 10_000.0, 100_000.0)
        for alpha in (0.1, 0.025, 0.0005)
    ]
    return {
        "values": (16 * values).astype(int).tolist(),
        "normal_mixture_bound": normal,
        "beta_binomial_log_mixture": beta,
        "gamma_exponential_mixture_bound": gamma,
        "diversified_betting_mart": [[look, float(capital[look - 1])] for look in LOOKS],
        "predmix_lower_cs": [[look, *column] for look, column in zip(LOOKS, np.array(bounds).T.tolist(), strict=True)],
        "intervals": {
            name: [[look, 2 * float(low[look - 1]) - 1, 2 * float(high[look - 1]) - 1] for look in LOOKS]
            for name, (low, high) in intervals.items()
        },
    }


def record_expectation() -> Numbers:
    """Return the numbers of expectation."""
    martingales = import_module("expectation.modules.martingales")
    normal = []
    for n, variance, alpha, best_at in product((100, 100_000), (0.02, 0.2), ALPHAS, (30.0, 1000.0)):
        radius = martingales.TwoSidedNormalMixture(best_at, alpha).bound(n * variance, np.log(1 / alpha))
        normal.append([n, variance, alpha, best_at, float(radius) / n])
    beta = []
    for a, b, prior in COUNTS:
        best_at = (2 * prior + 1) * find_scale(0.05)
        mixture = martingales.BetaBinomialMixture(best_at, 0.05, 1.0, 1.0, is_one_sided=False)
        beta.append([a, b, prior, float(mixture.log_superMG(a - b, a + b))])
    gamma = [
        [v, alpha, float(martingales.GammaExponentialMixture(v, alpha, 1.0).bound(v, np.log(1 / alpha)))]
        for v in (1.0, 100.0, 10_000.0)
        for alpha in (0.1, 0.025, 0.0005)
    ]
    return {"TwoSidedNormalMixture": normal, "BetaBinomialMixture": beta, "GammaExponentialMixture": gamma}


def main() -> None:
    """Write the numbers of the library that is named."""
    library = sys.argv[1]
    numbers = {"confseq": record_confseq, "expectation": record_expectation}[library]()
    lines = [f'"version": "{metadata.version(library)}"'] + [f'"{key}": {json.dumps(numbers[key])}' for key in numbers]
    path = Path(__file__).with_name(f"{library}.json")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
