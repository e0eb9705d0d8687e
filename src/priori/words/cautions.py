"""Cautions: what to know about these data before using the verdict; a registry, one entry each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from priori.base.types import Floats
from priori.curves.epc import EPC
from priori.scores import Trials
from priori.studies.evaluation import Study
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS
from priori.uncertainty.bootstrap.designs.base import FEW_USERS
from priori.uncertainty.bootstrap.designs.sample import USERS_UNUSED
from priori.uncertainty.cluster_variance import GroupSums
from priori.words.numbers import alpha_text, counted, error_nouns, listing, percent, short

#: Doddington's rule: with 30 errors, a rate is within 30 % of the truth with 90 % confidence.
ENOUGH_ERRORS = 30
#: How many times one class may outnumber the other before it is said.
UNBALANCED = 10
#: The share of a class that may stand on one score.
TIED = 0.05
#: Differences of this many standard deviations between the sets are more than chance (p = 0.0027).
DEVIATIONS = 3.0

Level = Literal["warning", "note"]
#: What a check finds, in words: nothing where its caution does not apply.
Find = Callable[[Study], Sequence[str]]


@dataclass(frozen=True)
class Caution:
    """One thing to mind; ``kind`` names it for a program."""

    kind: str
    level: Level
    title: str
    text: str


@dataclass(frozen=True)
class Check:
    """When a caution is given, and its words: ``{found}`` stands for what was found, ``{alpha}`` for the alpha."""

    kind: str
    level: Level
    title: str
    find: Find
    text: str

    def caution(self, study: Study) -> Caution | None:
        """Return the caution where it applies."""
        findings = self.find(study)
        if not findings:
            return None
        alpha = f"At alpha = {alpha_text(study.settings.alpha)}"
        return Caution(self.kind, self.level, self.title, self.text.format(found="; ".join(findings), alpha=alpha))


def cautions(study: Study) -> tuple[Caution, ...]:
    """Return every caution that applies at the alpha of interest, the gravest first."""
    every = [*(check.caution(study) for check in CHECKS), *_of_bands(study)]
    return tuple(sorted((caution for caution in every if caution), key=lambda caution: caution.level != "warning"))


def _of_bands(study: Study) -> list[Caution]:
    """Pass on what the bootstrap itself has to say, once, except what a check says."""
    warned = dict.fromkeys(line for member in study.members if member.band for line in member.band.warnings)
    lines = [line[:1].upper() + line[1:] + "." for line in warned if line != USERS_UNUSED]
    return [Caution("bootstrap", "note", "About the bootstrap", line) for line in lines]


def _of_system(curve: EPC, study: Study, text: str) -> str:
    return f"{short(curve.name)}: {text}" if len(study.members) > 1 else text


def _by_system(describe: Callable[[EPC], str]) -> Find:
    """Find what there is to say of each system; said once where all share it."""

    def find(study: Study) -> list[str]:
        lines = [describe(curve) for curve in study.curves]
        if len(set(lines)) == 1:
            return lines[:1] if lines[0] else []
        return [_of_system(curve, study, line) for curve, line in zip(study.curves, lines, strict=True) if line]

    return find


def _names(applies: Callable[[EPC, int], bool]) -> Find:
    """Find the systems to which something applies, in one list of names."""

    def find(study: Study) -> list[str]:
        names = [short(curve.name) for curve in study.curves if applies(curve, study.at)]
        return [listing(names)] if names else []

    return find


def _same_data(curve: EPC, index: int) -> bool:
    dev, test = curve.dev.load(), curve.test.load()
    return np.array_equal(dev.negatives, test.negatives) and np.array_equal(dev.positives, test.positives)


def _errors(trials: Trials, wrong: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> tuple[int, int, float]:
    """Return errors, trials and the variance of their rate, users kept together where they are known."""
    errors, size = int(np.count_nonzero(wrong)), len(trials)
    if trials.user is None:
        return errors, size, 0.0
    per_user = np.bincount(trials.user).astype(np.float64)
    by_user = GroupSums.from_errors(np.bincount(trials.user, weights=wrong), per_user, errors / size)
    return errors, size, float(by_user.squares) / size**2 * by_user.used / max(by_user.used - 1, 1)


def _disagreement(study: Study) -> list[str]:
    parts = []
    for curve in study.curves:
        threshold = float(curve.threshold[study.at])
        for name, title in (("negative", "FAR"), ("positive", "FRR")):
            sets: list[Trials] = [getattr(scores.load(), name) for scores in (curve.dev, curve.test)]
            (dev_errors, dev_size, dev_spread), (errors, size, spread) = (
                _errors(trials, (trials.score > threshold) == (name == "negative")) for trials in sets
            )
            pooled = (dev_errors + errors) / (dev_size + size)
            by_chance = pooled * (1 - pooled) * (1 / dev_size + 1 / size)
            deviation = np.sqrt(max(by_chance, dev_spread + spread))
            dev_rate, rate = dev_errors / dev_size, errors / size
            if deviation > 0 and abs(rate - dev_rate) > DEVIATIONS * deviation:
                rates = f"{title} {percent(dev_rate)} on the development set, {percent(rate)} on the test set"
                parts.append(_of_system(curve, study, rates))
    return parts


def _few_errors(study: Study) -> list[str]:
    parts = []
    for curve in study.curves:
        outcomes = curve.outcomes[study.at]
        errors = zip((outcomes.fp, outcomes.fn), error_nouns(curve.task), strict=True)
        if few := [counted(int(number), noun) for number, noun in errors if int(number) < ENOUGH_ERRORS]:
            parts.append(_of_system(curve, study, listing(few)))
    return parts


def _few_users(curve: EPC) -> str:
    sets = {"development": curve.dev.n_users, "test": curve.test.n_users}
    few = [f"{counted(users, 'user')} in the {name} set" for name, users in sets.items() if 0 < users < FEW_USERS]
    return listing(few)


def _users_unused(study: Study) -> list[str]:
    single_trials = (
        member for member in study.members if member.band and not BOOTSTRAPS[member.band.settings["bootstrap"]].by_user
    )
    return [member.name for member in single_trials if member.curve.dev.has_users or member.curve.test.has_users]


def _largest_tie(ordered: Floats) -> float:
    edges = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1], [True]]))
    return float(np.diff(edges).max() / ordered.size) if ordered.size > 1 / TIED else 0.0


def _ties(curve: EPC) -> str:
    sets = (curve.dev.load(), curve.test.load())
    share = max(_largest_tie(ordered) for scores in sets for ordered in (scores.negatives, scores.positives))
    return f"{percent(share)} of a class have one and the same score" if share >= TIED else ""


def _unbalanced(curve: EPC) -> str:
    negatives, positives = curve.test.n_negatives, curve.test.n_positives
    if max(negatives / positives, positives / negatives) < UNBALANCED:
        return ""
    return f"{negatives:,} negatives to {positives:,} positives in the test set"


def _prior_shift(curve: EPC) -> str:
    names = {curve.measure.name, curve.criterion.v1.name, curve.criterion.v2.name}
    balance_matters = names & {"precision", "accuracy", "error", "mcc"} or curve.measure.name.startswith("f")
    dev, test = (scores.n_negatives / scores.n_positives for scores in (curve.dev, curve.test))
    ratio = dev / test
    if not balance_matters or curve.measure.name in ("far", "frr") or max(ratio, 1 / ratio) < 1.5:
        return ""
    shares = [percent(scores.n_positives / len(scores)) for scores in (curve.dev, curve.test)]
    return f"{shares[0]} positives in the development set, {shares[1]} in the test set"


def _missing(curve: EPC) -> str:
    number = curve.dev.nan_rejected + curve.test.nan_rejected
    return f"{counted(number, 'score')} missing" if number else ""


def _few_resamples(study: Study) -> list[str]:
    settings, pairs = study.settings, len(study.pairs)
    resamples = int(np.prod(settings.n_resamples))
    if settings.bootstrap is None or 2 * pairs / (resamples + 1) < 1 - settings.confidence_level:
        return []
    return [f"{counted(resamples, 'resample')} and {counted(pairs, 'pair')}"]


#: Every caution but the bootstrap's own, in the order in which those of one level are shown.
CHECKS = (
    Check("same-data", "warning", "Development and test set are the same", _names(_same_data),
          "For {found} both sets hold the same scores, so its thresholds were judged on the data they were chosen on: "
          "nothing here is a priori. Give a test set that was kept apart."),
    Check("disagreement", "warning", "Development and test set disagree", _disagreement,
          "{alpha} the chosen threshold does not give the same errors on both sets, by more than "
          f"{DEVIATIONS:g} standard deviations: {{found}}. The sets seem to differ in kind, and so may the data on "
          "which the system will be used."),
    Check("few-errors", "warning", "Few errors", _few_errors,
          f"{{alpha}} the test set shows {{found}}. With fewer than {ENOUGH_ERRORS} errors a rate is easily off by a "
          "third of itself; use more test trials."),
    Check("few-users", "warning", "Few users", _by_system(_few_users),
          f"{{found}}. Fewer than {FEW_USERS} users hardly show how much users differ: the intervals are less "
          "reliable."),
    Check("users-unused", "warning", "User column not used", _users_unused,
          "The user of each trial is known, but the bootstrap resamples single trials. Trials of one user are alike, "
          "so the intervals are too narrow; choose the user bootstrap."),
    Check("extreme-threshold", "warning", "A threshold that decides nothing",
          _names(lambda curve, index: bool(np.isinf(curve.threshold[index]))),
          "{alpha} the best that can be done on the development set with {found} is to accept, or to reject, every "
          "trial whatever its score."),
    Check("ties", "warning", "Many equal scores", _by_system(_ties),
          "{found}. No threshold can separate equal scores, so the error rates change in large steps; keep more digits "
          "of the scores if there are any."),
    Check("prior-shift", "warning", "The sets have different shares of positives", _by_system(_prior_shift),
          "{found}. The thresholds and the measure depend on that share, so the thresholds were chosen for another "
          "share than they were judged on."),
    Check("unbalanced", "note", "Unbalanced classes", _by_system(_unbalanced),
          "{found}. Almost all of the uncertainty comes from the smaller class, and the plain error rate would say "
          "little about it."),
    Check("missing", "note", "Missing scores count as rejections", _by_system(_missing),
          "{found} (NaN). Each counts as a trial that is always rejected, as asked."),
    Check("few-resamples", "warning", "Too few resamples", _few_resamples,
          "With {found} of systems no p-value can be small enough: no difference can be significant, however large it "
          "is. Use more resamples."),
    Check("no-bootstrap", "note", "No intervals", lambda study: [] if study.settings.bootstrap else ["none"],
          "No bootstrap was run, so the curves have no confidence bands and the differences no test."),
)  # fmt: skip
