"""Plans: what a bootstrap redraws, how often, and from which stream of random numbers."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import InputError, OptionError, unknown
from priori.scores import Scores, ScoreSet, Trials

__all__ = [
    "BOOTSTRAPS",
    "Bootstrap",
    "Identities",
    "Plan",
    "Promise",
    "Resample",
    "identify",
    "identities_in_use",
    "make_plan",
]

Bootstrap = Literal["sample", "user", "user-constrained", "joint", "crossed"]
Resample = Literal["test", "both"]
Promise = Literal["confidence", "prediction"]

#: Every bootstrap by the name people type, with what it redraws.
BOOTSTRAPS: dict[str, str] = {
    "sample": "trials, within each class",
    "user": "users, with all their trials (subset bootstrap)",
    "user-constrained": "the trials of each user, within each class",
    "joint": "users, then the trials of each drawn user",
    "crossed": "identities, a trial weighted by both of its own",
}


#: Why a scan has no crossed bootstrap, and what to do.
CLAIMED_ONLY = "a scan keeps the claimed identity of each trial only"
TO_MEMORY = "for the crossed bootstrap read the trials into memory (--engine memory, engine='memory')"

#: With fewer users than this any interval is said to be doubtful.
FEW_USERS = 10


@dataclass(frozen=True)
class Plan:
    """What a bootstrap redraws.

    ``outer`` draws of users with ``inner`` draws of trials within each. ``future`` is what is drawn from each
    replicate in turn, as (users, negatives, positives), zeros where nothing is; ``growth`` how many times as
    many negatives and positives the future set has; ``per_user`` the same for each of its users. ``streams``
    keeps the random numbers of systems that are drawn apart from each other apart. ``whole`` draws whole sets even
    where counts at a few ranks would do, so that runs with other criteria draw the same sets.
    """

    bootstrap: Bootstrap
    resample: Resample
    outer: int
    inner: int
    shared_users: bool
    seed: int
    future: tuple[int, int, int] = (0, 0, 0)
    growth: tuple[float, float] = (0.0, 0.0)
    per_user: tuple[float, float] = (1.0, 1.0)
    streams: int = 0
    whole: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def n_resamples(self) -> int:
        """The number of replicates."""
        return self.outer * self.inner

    @property
    def draws_users(self) -> bool:
        """Whether users are drawn."""
        return self.bootstrap in ("user", "joint", "crossed")

    @property
    def by_user(self) -> bool:
        """Whether the trials of a user are kept apart from those of others."""
        return self.bootstrap != "sample"

    @property
    def draws_trials(self) -> bool:
        """Whether trials are drawn, rather than come along with their user."""
        return self.bootstrap in ("sample", "user-constrained", "joint")


def make_plan(
    dev: ScoreSet | None,
    test: ScoreSet,
    *,
    bootstrap: str | None = None,
    resample: str = "test",
    n_resamples: int | tuple[int, int] = 10_000,
    shared_users: bool | None = None,
    rng: Any = 0,
    promise: str = "confidence",
    future_users: int | None = None,
    future_trials: int | tuple[int, int] | None = None,
) -> Plan:
    """Check the options of a bootstrap and settle what they leave open."""
    if promise not in get_args(Promise):
        raise unknown("promise", promise, get_args(Promise))
    if resample not in get_args(Resample):
        raise unknown("set to resample", resample, get_args(Resample))
    if bootstrap is not None and bootstrap not in BOOTSTRAPS:
        raise unknown("bootstrap", bootstrap, BOOTSTRAPS)
    sets = [test] if resample == "test" or dev is None else [dev, test]
    warnings: list[str] = []
    if bootstrap is None:
        with_users = all(scores.n_users >= 2 for scores in sets)
        both_known = all(scores.has_identities for scores in sets)
        bootstrap = ("crossed" if both_known else "user") if with_users else "sample"
        if scanned := [scores.source for scores in sets if scores.leaves_out_probes]:
            warnings.append(
                f"{scanned[0]}: {CLAIMED_ONLY}, so trials that share the other seem independent; {TO_MEMORY}"
            )
    if bootstrap == "sample" and any(scores.has_users for scores in sets):
        warnings.append(
            "the users of the trials are known but not used: trials of one user are alike, so a sample bootstrap "
            "is too narrow; choose the user bootstrap"
        )
    for scores in sets:
        _check_identities(scores, bootstrap)
    # A sample bootstrap asks no table for its users: that would be a scan.
    if bootstrap != "sample" and (fewest := min(scores.n_users for scores in sets)) < FEW_USERS:
        warnings.append(f"only {fewest} users: so few say little about everybody else, whatever the interval")
    outer, inner = _replicates(n_resamples, bootstrap)
    shared = False
    if len(sets) == 2 and bootstrap in ("user", "joint", "crossed"):
        shared, said = _shared(sets[0], sets[1], shared_users)
        warnings.extend(said)
    plan = Plan(
        bootstrap,  # type: ignore[arg-type]
        resample,  # type: ignore[arg-type]
        outer,
        inner,
        shared,
        _seed(rng),
        warnings=tuple(warnings),
    )
    if promise == "prediction":
        return _with_future(plan, test, future_users, future_trials)
    if future_users is not None or future_trials is not None:
        raise OptionError("a future set belongs to the promise 'prediction'; a confidence band has none")
    return plan


def _with_future(plan: Plan, test: ScoreSet, users: int | None, trials: int | tuple[int, int] | None) -> Plan:
    """Add the future test set that a prediction band speaks of; by default one as large as the test set."""
    sizes = (test.n_negatives, test.n_positives)
    if plan.bootstrap == "user-constrained":
        raise OptionError("the user-constrained bootstrap keeps every user, so it predicts no future set; choose user")
    if not plan.by_user:
        if users is not None:
            raise OptionError("future_users needs a bootstrap by users; give future_trials, or choose user")
        wanted = _trials(trials, sizes, 1.0)
        growth = (wanted[0] / sizes[0], wanted[1] / sizes[1])
        return replace(plan, future=(0, *wanted), growth=growth)
    if users is not None and users < 2:
        raise OptionError(f"future_users must be 2 or more, not {users}")
    if trials is not None and plan.bootstrap != "user":
        raise OptionError(
            f"future_trials does not go with the {plan.bootstrap} bootstrap; give future_users, or choose user"
        )
    now = identities_in_use(test, crossed=plan.bootstrap == "crossed")
    ratio = (now if users is None else users) / now
    growth = (ratio**2, ratio) if plan.bootstrap == "crossed" else (ratio, ratio)
    per_user = (1.0, 1.0)
    if trials is not None:
        wanted = _trials(trials, sizes, ratio)
        growth = (wanted[0] / sizes[0], wanted[1] / sizes[1])
        per_user = (growth[0] / ratio, growth[1] / ratio)
    return replace(plan, future=(now if users is None else users, 0, 0), growth=growth, per_user=per_user)


def _trials(trials: int | tuple[int, int] | None, sizes: tuple[int, int], ratio: float) -> tuple[int, int]:
    """Return the negatives and positives of a future set; a single number is shared out as they are now."""
    if trials is None:
        return round(sizes[0] * ratio), round(sizes[1] * ratio)
    pair = trials if isinstance(trials, (tuple, list)) else [trials * size / sum(sizes) for size in sizes]
    negatives, positives = (round(number) for number in pair)
    if min(negatives, positives) < 1:
        raise OptionError(f"future_trials leaves a class without trials ({negatives} negatives, {positives} positives)")
    return negatives, positives


def _check_identities(scores: ScoreSet, bootstrap: str) -> None:
    if bootstrap == "crossed" and scores.leaves_out_probes:
        raise OptionError(f"{scores.source}: {CLAIMED_ONLY}; {TO_MEMORY}, or choose another bootstrap")
    if bootstrap == "crossed" and not scores.has_identities:
        raise OptionError(
            f"the crossed bootstrap needs both identities of each trial, and {scores.source} does not have them; "
            "read them as user (claimed) and probe_user (real), or choose another bootstrap"
        )
    if bootstrap != "sample" and not scores.has_users:
        raise OptionError(
            f"the {bootstrap} bootstrap needs the user of each trial, and {scores.source} has none; "
            "read a user column, or choose the sample bootstrap"
        )
    if bootstrap != "sample" and scores.n_users < 2:
        raise InputError(
            f"{scores.source} has one user only; the {bootstrap} bootstrap needs two or more, "
            "or choose the sample bootstrap"
        )


def _replicates(n_resamples: int | tuple[int, int], bootstrap: str) -> tuple[int, int]:
    nested = isinstance(n_resamples, (tuple, list))
    numbers: tuple[Any, ...] = (*n_resamples,) if isinstance(n_resamples, (tuple, list)) else (n_resamples, 1)
    if nested and bootstrap != "joint":
        raise OptionError(f"(U, S) replicates belong to the joint bootstrap; the {bootstrap} one takes a whole number")
    if len(numbers) != 2 or any(isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1 for n in numbers):
        raise OptionError(f"n_resamples must be a whole number from 1 up, or a pair (U, S) of them, not {n_resamples}")
    return int(numbers[0]), int(numbers[1])


def _seed(rng: Any) -> int:
    """Return the key of the random numbers: a seed, or one drawn from a generator, or a fresh one for None."""
    if rng is None:
        return secrets.randbits(63)
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(0, 2**63 - 1))
    if isinstance(rng, bool) or not isinstance(rng, (int, np.integer)) or not 0 <= rng < 2**63:
        raise OptionError(f"rng must be a whole number from 0 up, a numpy Generator, or None, not {rng!r}")
    return int(rng)


def _shared(dev: ScoreSet, test: ScoreSet, forced: bool | None) -> tuple[bool, list[str]]:
    """Decide whether one draw of users serves both sets: when they hold the same users by name."""
    if forced is False:
        return False, []
    in_dev, in_test = (set(_names_in_use(scores.load())) for scores in (dev, test))
    common = len(in_dev & in_test)
    if forced:
        if not common:
            raise OptionError("shared_users: no user of the development set is in the test set; leave the option out")
        return True, []
    if in_dev == in_test:
        return True, []
    if common:
        return False, [
            f"{common} users are in both sets, but not all of them: development and test users are drawn apart; "
            "shared_users=True draws them together"
        ]
    return False, []


def _names_in_use(scores: Scores) -> list[str]:
    return [str(name) for name in _names(scores, _codes_in_use(scores, crossed=False))]


def _names(scores: Scores, codes: NDArray[Any]) -> NDArray[np.str_]:
    assert scores.users is not None
    return np.asarray(scores.users.values[codes].astype(np.str_))


# -- who is who ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Identities:
    """The identities of a set's trials as codes 0, 1, ..., ``count - 1``, class by class."""

    negative: NDArray[Any]
    positive: NDArray[Any]
    negative_partner: NDArray[Any] | None
    count: int


def identify(sets: list[Scores], *, crossed: bool = False, shared: bool = False) -> list[Identities]:
    """Give the identities of each set their codes; with ``shared`` the same codes to the same names.

    An identity that only probes, never claims, counts only where trials are crossed.
    """
    used = [_codes_in_use(scores, crossed) for scores in sets]
    if not shared:
        return [
            _identities(scores, codes, np.arange(codes.size), crossed) for scores, codes in zip(sets, used, strict=True)
        ]
    names = [_names(scores, codes) for scores, codes in zip(sets, used, strict=True)]
    everyone = np.unique(np.concatenate(names))
    return [
        _identities(scores, codes, np.searchsorted(everyone, own), crossed, everyone.size)
        for scores, codes, own in zip(sets, used, names, strict=True)
    ]


def identities_in_use(scores: ScoreSet, *, crossed: bool = False) -> int:
    """Return how many identities the trials of a set have; those that only probe count where trials are crossed."""
    return int(_codes_in_use(scores.load(), crossed).size) if crossed else scores.n_users


def _codes_in_use(scores: Scores, crossed: bool) -> NDArray[Any]:
    columns = [c for t in (scores.negative, scores.positive) for c in (t.user, t.probe_user if crossed else None)]
    return np.unique(np.concatenate([column for column in columns if column is not None]))


def _identities(
    scores: Scores, used: NDArray[Any], new: NDArray[Any], crossed: bool, count: int | None = None
) -> Identities:
    def recode(trials: Trials, column: Literal["user", "probe_user"]) -> NDArray[Any]:
        return np.asarray(new[np.searchsorted(used, getattr(trials, column))], dtype=np.int32)

    return Identities(
        recode(scores.negative, "user"),
        recode(scores.positive, "user"),
        recode(scores.negative, "probe_user") if crossed else None,
        int(used.size if count is None else count),
    )
