"""Tests of two systems that do not differ: how often each says they do."""

from __future__ import annotations

from zlib import crc32

import numpy as np
from populations import ALPHAS, Population, seeds
from simulation import generator
from tallies import Row, Tally

import priori
from priori import Scores
from priori.scores.pairing import disagreements

#: Populations, and the share of each score that both systems have in common.
PAIRS = (
    (Population("62 users, 9 + 20 trials, independent", 62, effect=0.0), 0.5),
    (Population("62 users, 9 + 20 trials, weak effect", 62, effect=0.3), 0.5),
    (Population("62 users, 9 + 20 trials, medium effect", 62), 0.5),
    (Population("62 users, 9 + 20 trials, strong effect", 62, effect=0.8), 0.5),
    (Population("10 users, 9 + 20 trials, medium effect", 10), 0.5),
    (Population("31 users, 9 + 96 trials, medium effect", 31, impostor=96), 0.5),
    (Population("500 users, 5 + 5 trials, medium effect", 500, 5, 5), 0.5),
    (Population("62 users, 9 + 96 trials, medium effect, rare errors (EER 1.2 %)", 62, 9, 96, separation=4.5), 0.5),
    (Population("62 users, 9 + 20 trials, medium effect, ties (9 to 12 distinct scores)", 62, step=0.5), 0.5),
    (Population("62 users, 9 + 20 trials, medium effect, systems nine tenths alike", 62), 0.9),
    (Population("40 people, 9 + 39 trials, crossed, weak effects", 40, 9, 39, 0.3, probe=0.3), 0.5),
)
NULL = "true null rejected"


def two_systems(population: Population, shared: float, *seed: int, prefix: str = "u") -> tuple[Scores, Scores]:
    """Draw two systems with the same rates on the same trials, their scores correlated by ``shared``."""
    rng, users = generator((crc32(population.title.encode()), *seed)), population.users
    claimed = np.repeat(np.arange(users), population.impostor)
    # Everybody's model is probed by the others in turn.
    probing = (claimed + 1 + np.tile(np.arange(population.impostor), users) % (users - 1)) % users
    own = np.repeat(np.arange(users), population.genuine)
    probe = population.probe or 0.0
    rest = np.sqrt([1 - population.effect**2 - probe**2, 1 - population.effect**2])

    def scores() -> np.ndarray:
        """Deviations from the class means, of variance 1: what users, probes and trials add."""
        effects = rng.standard_normal((3, users)) * [[population.effect], [population.effect], [probe]]
        negative = effects[0][claimed] + effects[2][probing] + rest[0] * rng.standard_normal(claimed.size)
        return np.concatenate([negative, effects[1][own] + rest[1] * rng.standard_normal(own.size)])

    common = np.sqrt(shared) * scores()
    label = np.repeat([0, 1], [claimed.size, own.size])
    who = {"user": np.char.add(prefix, np.concatenate([claimed, own]).astype(str))}
    if population.probe is not None:
        who["probe_user"] = np.char.add(prefix, np.concatenate([probing, own]).astype(str))
    both = [population.separation * label + common + np.sqrt(1 - shared) * scores() for _ in "ab"]
    if population.step:
        both = [np.round(one / population.step) * population.step for one in both]
    return Scores.from_predictions(label, both[0], **who), Scores.from_predictions(label, both[1], **who)


def measure_sizes(population: Population, shared: float, repeats: int, replicates: int, step=lambda: None) -> list[Row]:
    """Make every test of two systems that do not differ."""
    tally = Tally("tests", population.title, nominal=0.05)
    for repeat in range(repeats):
        a, b = two_systems(population, shared, repeat, 20)
        dev_a, dev_b = two_systems(population, shared, repeat, 21, prefix="d")
        # One development set for both: thresholds, and so the population's rates, are then the same.
        kept = [priori.epc(dev_a, test, alpha=ALPHAS) for test in (a, b)]
        own = [priori.epc(dev, test, alpha=ALPHAS) for dev, test in ((dev_a, a), (dev_b, b))]
        options = {"n_resamples": replicates, "rng": seeds(repeat, 22), "threads": 1}
        deployed = {"claim": "deployed"}
        cases = [
            ("bootstrap, by default", kept, deployed),
            ("bootstrap, user, percentile", kept, _plain("user")),
            ("bootstrap, sample, percentile", kept, _plain("sample")),
            ("bootstrap, joint, percentile", kept, _plain("joint")),
            ("bootstrap, by default, both sets redrawn", own, {"claim": "method"}),
        ]
        for name, curves, more in cases:
            found = priori.compare(*curves, **options, **more)
            tally.add((name, NULL), found.pointwise.significant, found.pointwise.upper - found.pointwise.lower)
            if "percentile" not in name:
                tally.say((name, NULL), found.warnings)
                wide = found.simultaneous
                tally.add((f"{name}, simultaneous", NULL), wide.significant.any(), wide.upper - wide.lower)
                tally.add((f"{name}, area", NULL), found.area.significant, found.area.upper - found.area.lower)
        _without_bootstrap(tally, a, b, population.separation / 2)
        step()
    return tally.rows()


def _plain(bootstrap: str) -> dict[str, str]:
    return {"claim": "deployed", "bootstrap": bootstrap, "interval": "percentile"}


def _without_bootstrap(tally: Tally, a: Scores, b: Scores, threshold: float) -> None:
    """The z-tests, McNemar's and DeLong's; all take trials for independent."""
    tests = priori.ztest_scores(a, threshold, b, threshold).comparison
    for name in ("dependent", "independent"):
        tally.add((f"z-test, {name}", NULL), tests[name].p_value < 0.05, 0.0)
    found = disagreements(a, b, threshold, threshold)
    mcnemar = priori.mcnemar_test(found.negatives_ba, found.negatives_ab, len(a.negative))
    tally.add(("McNemar's, FAR", NULL), mcnemar.p_value < 0.05, 0.0)
    tally.add(("DeLong's, paired, AUC", NULL), priori.a_posteriori_auc_test(a, b).p_value < 0.05, 0.0)
