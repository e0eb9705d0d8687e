"""Record what llreval gives for seeded log-likelihood ratios, and scikit-learn for an affine calibration of them.

Run in an environment of its own: ``pip install llreval==0.0.3 && python validation/llreval/record.py``.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
from llreval.bayes_error_rate import fast_Bayes_error_rate
from llreval.cllr import cllr, min_cllr
from llreval.pav_rocch import PAV, ROCCH
from sklearn.linear_model import LogisticRegression

#: Seed, negatives, positives, digits, scale: few digits make ties, a scale other than 1 is a poor calibration.
CASES = {
    "calibrated": (0, 5000, 500, 9, 1.0),
    "overconfident": (1, 800, 900, 9, 3.0),
    "ties": (2, 2000, 300, 0, 1.0),
    "few": (3, 12, 7, 1, 0.5),
}
PRIOR = 0.1
LOG_ODDS = [-7.0, -3.0, -1.0, -0.3, 0.0, 0.45, 2.0, 5.0]


def log_likelihood_ratios(seed: int, negatives: int, positives: int, digits: int, scale: float) -> list[np.ndarray]:
    """Return those of normal scores two deviations apart, times the scale: negatives, positives."""
    rng = np.random.default_rng(seed)
    classes = (0, negatives), (2, positives)
    return [(scale * (2 * rng.normal(mean, 1, size) - 2)).round(digits) for mean, size in classes]


record: dict[str, object] = {
    "program": f"llreval {version('llreval')}, scikit-learn {version('scikit-learn')}, numpy {np.__version__}",
    "prior": PRIOR,
    "log_odds": LOG_ODDS,
    "cases": {},
}
for name, settings in CASES.items():
    negative, positive = log_likelihood_ratios(*settings)
    scores, labels = np.concatenate([negative, positive]), np.repeat([0, 1], [negative.size, positive.size])
    # llreval's log odds are those of the positives; ours weigh false acceptances.
    log_odds = -np.array(LOG_ODDS)[::-1]
    actual, default, _, _ = fast_Bayes_error_rate(scores, labels, log_odds, return_der_Pmiss_Pfa=True)
    minimum = ROCCH(PAV(scores, labels)).Bayes_error_rate(log_odds)
    regression = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-14, max_iter=1000)
    weight = np.where(labels, PRIOR / positive.size, (1 - PRIOR) / negative.size) * len(labels)
    regression.fit(scores[:, None], labels, sample_weight=weight)
    record["cases"][name] = {  # type: ignore[index]
        "settings": settings,
        "cllr": float(cllr(positive, negative)),
        "min_cllr": float(min_cllr(PAV(scores, labels))),
        "actual": actual[::-1].tolist(),
        "minimum": minimum[::-1].tolist(),
        "default": default[::-1].tolist(),
        "slope": float(regression.coef_[0, 0]),
        "offset": float(regression.intercept_[0] - np.log(PRIOR / (1 - PRIOR))),
    }
Path(__file__).with_name("record.json").write_text(json.dumps(record, indent=2) + "\n")
