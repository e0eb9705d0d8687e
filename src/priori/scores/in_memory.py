"""Scores: the trials of one system on one set, validated here once, sorted once, frozen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priori.base.dataframes import unmasked
from priori.base.errors import InputError, OneClassError, unknown
from priori.base.types import Codes, Counts, Floats, Index
from priori.scores.candidates import Candidates, Chooser, first_of_each
from priori.scores.labels import attack_codes, classes_of, settle_people, type_names, unnamed
from priori.scores.score_set import Role, ScoreSet, mixed_sets
from priori.scores.sorting import FEW_CUTS, counts_between, long_dot, places_of
from priori.scores.trials import (
    NAN_POLICIES,
    Mixture,
    Names,
    NanPolicy,
    Trials,
    as_amounts,
    as_floats,
    as_names,
    as_times,
    codes_in_use,
    count_nan,
    first_nan,
    nan_error,
    one_column,
    repeated,
    settle,
    whole_weights,
)

#: From this many trials on, scores are counted in bins, and only those that may be chosen are sorted.
MANY = 50_000
#: This many scores of the smaller class give the number of pairs in order roughly: the AUC to 1 part in as many.
ROUGHLY = 1 << 14


@dataclass(frozen=True, eq=False)
class Scores(ScoreSet):
    """The trials of one system on one set.

    Make one with `from_arrays`, `from_predictions`, `from_frame` or `priori.read`; they validate. Everything
    below trusts it: finite or infinite scores, never NaN; at least one trial of each class.

    Attributes
    ----------
    negative, positive : Trials
        The trials of each class, in the order given.
    users, datasets, groups : Names or None
        The names behind the codes in ``user`` / ``probe_user``, ``dataset`` and ``group``.
    source : str
        Where the trials came from, for messages and reports.
    backend : str or None
        The dataframe library the trials came from; results go back to it.
    format : str or None
        The file format they were read from.
    attack_types : Names or None
        The types of attacks behind the codes in ``attack``, "" first; None where nothing says what is an attack.
    omega : Fraction or None
        The share that attacks have among the negatives, whatever their number; None: every negative weighs alike.
    counted : str
        Where these are entries that stand for the trials of a table: how they were counted, and what that costs.
    nobody : tuple of str
        Names that stood for who was really there and are no person's, such as ``attack``, or the word that tells of
        impostors where no column does: their trials have the claimed identity only.
    distances : bool
        Whether distances were given: the scores are these negated, and so are thresholds. Tables and files have
        thresholds as distances.
    """

    negative: Trials
    positive: Trials
    users: Names | None = None
    datasets: Names | None = None
    source: str = "scores"
    backend: str | None = None
    format: str | None = None
    groups: Names | None = None
    attack_types: Names | None = None
    omega: Fraction | None = None
    counted: str = ""
    nobody: tuple[str, ...] = ()
    distances: bool = False

    # -- making one ------------------------------------------------------------------------------------

    @classmethod
    def from_arrays(
        cls,
        negatives: ArrayLike,
        positives: ArrayLike,
        *,
        negative_user: ArrayLike | None = None,
        positive_user: ArrayLike | None = None,
        negative_weight: ArrayLike | None = None,
        positive_weight: ArrayLike | None = None,
        attacks: ArrayLike | None = None,
        nan: NanPolicy = "error",
        lower_is_better: bool = False,
        source: str = "scores",
    ) -> Scores:
        """Make scores from one array per class.

        Parameters
        ----------
        negatives, positives : array-like
            Scores of the negative class (impostors, ham, healthy) and of the positive class.
        negative_user, positive_user : array-like, optional
            The user (claimed identity) of each trial; give both or neither.
        negative_weight, positive_weight : array-like, optional
            How often each row counts: whole numbers from 0 up.
        attacks : array-like, optional
            Scores of attacks, a third class that should be rejected; with users, use `from_predictions`.
        nan : {"error", "reject", "drop"}
            What a NaN score means: an error, a trial that is always rejected, or a trial to leave out.
        lower_is_better : bool
            The scores are distances: negate them.

        Examples
        --------
        >>> from priori import Scores
        >>> Scores.from_arrays(negatives=[0.1, 0.4], positives=[0.3, 0.8])
        Scores(2 negatives, 2 positives)
        """
        if (negative_user is None) != (positive_user is None):
            raise InputError("give the user of both classes or of neither (negative_user, positive_user)")
        negative = as_floats(negatives, "negatives")
        positive = as_floats(positives, "positives")
        if attacks is not None:
            if any(column is not None for column in (negative_user, negative_weight, positive_weight)):
                raise InputError(
                    "nothing is known of attacks but their scores; give all trials to Scores.from_predictions"
                )
            attack = as_floats(attacks, "attacks")
            codes = np.repeat(np.array([0, 1], dtype=np.int32), [negative.size, attack.size])
            both = Trials(np.concatenate([negative, attack]), attack=codes)
            scores = cls._checked(both, Trials(positive), None, None, nan, lower_is_better, source)
            return replace(scores, attack_types=Names(np.array(["", "attack"])))
        users, (negative_code, positive_code) = Names.encode(
            None if negative_user is None else as_names(negative_user, "negative_user", negative.size),
            None if positive_user is None else as_names(positive_user, "positive_user", positive.size),
        )
        counted = [
            repeated(trials, None if weight is None else whole_weights(weight, name, trials.score.size))
            for trials, weight, name in (
                (Trials(negative, negative_code), negative_weight, "negative_weight"),
                (Trials(positive, positive_code), positive_weight, "positive_weight"),
            )
        ]
        return cls._checked(counted[0], counted[1], users, None, nan, lower_is_better, source)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Any = None,
        user: ArrayLike | None = None,
        probe_user: ArrayLike | None = None,
        trial: ArrayLike | None = None,
        dataset: ArrayLike | None = None,
        group: ArrayLike | None = None,
        attack: ArrayLike | None = None,
        attack_label: Any = None,
        time: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        amount: ArrayLike | None = None,
        nan: NanPolicy = "error",
        lower_is_better: bool = False,
        source: str = "scores",
    ) -> Scores:
        """Make scores from labels and scores, row by row, as scikit-learn has them.

        Parameters
        ----------
        y_true : array-like
            Labels: 1/0, 1/-1, true/false, yes/no, positive/negative, target/nontarget, genuine/impostor, spam/ham, ...
            (any case, positive first; all in docs/formats.md); any other pair needs ``pos_label``. A third label, spoof
            or attack, marks attacks.
        y_score : array-like
            Scores; higher speaks for the positive class.
        pos_label : optional
            The label of the positive class.
        user, probe_user, trial, dataset, group : array-like, optional
            The claimed identity, who was really there, the id that pairs systems, the data set, the group of people
            (sex, age, site) whose rates `priori.group_rates` compares.
        attack : array-like, optional
            The type of attack of each trial. Without a label for attacks, a negative is one where its type is neither
            a word for none (-, none, impostor, ...) nor one that positives have too.
        attack_label : optional
            The label of attacks, or several.
        time : array-like, optional
            When each trial was made (ISO dates or times), to split by.
        weight : array-like, optional
            How often each row counts: whole numbers from 0 up. Others are refused: outcomes are counted.
        amount : array-like, optional
            The amount of each trial, in any currency, from 0 up: what an error costs (`priori.amounts`).

        Examples
        --------
        >>> from priori import Scores
        >>> Scores.from_predictions([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8], user=["a", "a", "b", "b"])
        Scores(2 negatives, 2 positives, 2 users)
        """
        score = as_floats(y_score, "y_score")
        labels = one_column(unmasked(np.asanyarray(y_true)))
        if labels.ndim != 1 or labels.size != score.size:
            raise InputError(f"y_true has shape {labels.shape} and y_score {score.shape}; both must be one column")
        columns = {"user": user, "probe_user": probe_user, "trial": trial, "dataset": dataset, "group": group}
        named = {name: None if held is None else as_names(held, name, score.size) for name, held in columns.items()}
        users, (user_code, probe_code) = Names.encode(named["user"], named["probe_user"])
        datasets, (dataset_code,) = Names.encode(named["dataset"])
        groups, (group_code,) = Names.encode(named["group"])
        positive, marked = classes_of(labels, pos_label, attack_label, where=source)
        held = None if attack is None else type_names(attack, score.size)
        types, attack_code = attack_codes(held, marked, labels, positive)
        trials = Trials(
            score,
            user_code,
            probe_code,
            named["trial"],
            dataset_code,
            group=group_code,
            attack=attack_code,
            time=None if time is None else as_times(as_names(time, "time", score.size), f"{source}: time"),
            amount=None if amount is None else as_amounts(amount, f"{source}: amount", score.size),
        )
        weights = None if weight is None else whole_weights(weight, f"{source}: weight", score.size)
        scores = cls.from_columns(
            trials,
            positive,
            users=users,
            datasets=datasets,
            groups=groups,
            attack_types=types,
            attack_label=attack_label,
            weights=weights,
            nan=nan,
            lower_is_better=lower_is_better,
            source=source,
        )
        return scores if user is None else scores.told(np.unique(labels[~positive]).tolist())

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        columns: Mapping[str, str] | None = None,
        pos_label: Any = None,
        attack_label: Any = None,
        nan: NanPolicy = "error",
        lower_is_better: bool = False,
        source: str = "frame",
    ) -> Scores:
        """Make scores from a dataframe of any library that narwhals knows, or a duckdb relation.

        ``columns`` maps our names (score, label, user, probe_user, trial, dataset, group, attack, time, weight, amount)
        to the frame's; groups, types of attacks, times, weights and amounts are read only where they are named.

        Examples
        --------
        >>> import pandas as pd
        >>> from priori import Scores
        >>> Scores.from_frame(pd.DataFrame({"label": [0, 1, 1], "score": [0.1, 0.3, 0.2]}))
        Scores(1 negatives, 2 positives)
        """
        from priori.base.dataframes import columns_of

        arrays, backend = columns_of(frame, dict(columns or {}), source=source)
        labels, score = arrays.pop("label"), arrays.pop("score")
        scores = cls.from_predictions(
            labels,
            score,
            pos_label=pos_label,
            attack_label=attack_label,
            nan=nan,
            lower_is_better=lower_is_better,
            source=source,
            **arrays,
        ).told([dict(columns or {}).get("user")])
        return scores if backend is None else replace(scores, backend=backend)

    @classmethod
    def from_columns(
        cls,
        trials: Trials,
        positive: NDArray[np.bool_],
        *,
        users: Names | None = None,
        datasets: Names | None = None,
        groups: Names | None = None,
        attack_types: Names | None = None,
        attack_label: Any = None,
        weights: NDArray[np.int64] | None = None,
        nan: NanPolicy = "error",
        lower_is_better: bool = False,
        source: str = "scores",
    ) -> Scores:
        """Make scores from the trials of both classes together, already columns of codes (readers end here).

        Who was really there is settled here: names of nobody (`priori.scores.labels`) are no identities.
        """
        if weights is not None:
            trials, positive = repeated(trials, weights), np.repeat(positive, weights)
        classes = trials.take(np.flatnonzero(~positive)), trials.take(np.flatnonzero(positive))
        classes, nobody = settle_people(classes, users, attack_label)
        scores = cls._checked(*classes, users, datasets, nan, lower_is_better, source, ours=True)
        return replace(scores, groups=groups, attack_types=attack_types, nobody=nobody)

    @classmethod
    def _checked(
        cls,
        negative: Trials,
        positive: Trials,
        users: Names | None,
        datasets: Names | None,
        nan: NanPolicy,
        lower_is_better: bool,
        source: str,
        *,
        ours: bool = False,
    ) -> Scores:
        """Apply the rules that every set of scores keeps; every way of making one ends here."""
        if nan not in NAN_POLICIES:
            raise unknown("NaN policy", nan, NAN_POLICIES)
        if nan == "error" and (missing := count_nan(negative.score) + count_nan(positive.score)):
            raise nan_error(source, missing, f"in row {first_nan(negative, positive) + 1}")
        negative, positive = (settle(trials, nan, lower_is_better, ours=ours) for trials in (negative, positive))
        for name, trials in (("negative", negative), ("positive", positive)):
            if not len(trials):
                raise OneClassError(
                    f"{source}: no {name} trial; both classes are needed (check the labels, or say which is positive)"
                )
        return cls(negative, positive, users, datasets, source, distances=lower_is_better)

    def told(self, words: Iterable[Any]) -> Scores:
        """Return the same set; the words for its negatives and users tell whether it has impostors without a name."""
        if self.nobody or not self.has_users or self.negative.probe_user is not None:
            return self
        return replace(self, nobody=unnamed(words))

    def scored_by(self, score: Floats, *, nan: NanPolicy, lower_is_better: bool, source: str) -> Scores:
        """Return the same rows of a table with the scores of another system, given row by row: no pairing is needed."""
        negative, positive = (
            replace(trials, score=score if trials.row is None else score[trials.row], failed=None)
            for trials in (self.negative, self.positive)
        )
        found = self._checked(negative, positive, self.users, self.datasets, nan, lower_is_better, source, ours=True)
        return replace(found, groups=self.groups, attack_types=self.attack_types, nobody=self.nobody)

    # -- looking at it ---------------------------------------------------------------------------------

    @property
    def negatives(self) -> Floats:
        """Scores of the negative class, ascending."""
        return self.negative.sorted

    @property
    def positives(self) -> Floats:
        """Scores of the positive class, ascending."""
        return self.positive.sorted

    @property
    def has_users(self) -> bool:
        """Whether the claimed identity of each trial is known."""
        return self.negative.user is not None

    @property
    def has_identities(self) -> bool:
        """Whether both identities of each trial are known, the claimed and the real one."""
        return self.negative.probe_user is not None and self.has_users

    @cached_property
    def users_in_use(self) -> Index:
        """The codes of the users (claimed identities) that have trials, ascending; none when unknown."""
        return codes_in_use(self.negative.user, self.positive.user)

    @property
    def n_users(self) -> int:
        """How many users (claimed identities) there are; 0 when unknown."""
        return int(self.users_in_use.size)

    @property
    def n_negatives(self) -> int:
        return len(self.negative)

    @property
    def n_positives(self) -> int:
        return len(self.positive)

    @property
    def nan_rejected(self) -> int:
        classes = self.negative, self.positive
        return sum(len(trials.take(trials.failed)) for trials in classes if trials.failed is not None)

    def __repr__(self) -> str:
        parts = [f"{len(self.negative)} negatives", f"{len(self.positive)} positives"]
        if self.has_users:
            parts.append(f"{self.n_users} users")
        if self.datasets is not None:
            parts.append(f"{len(self.datasets)} data sets")
        if self.n_attacks:
            parts.append(f"{self.n_attacks} of the negatives attacks")
        return f"Scores({', '.join(parts)})"

    # -- attacks -----------------------------------------------------------------------------------------

    @property
    def n_attacks(self) -> int:
        """How many of the negatives are attacks."""
        attack, number = self.negative.attack, self.negative.number
        if attack is None or number is None:
            return 0 if attack is None else int(np.count_nonzero(attack))
        return round(float(number[attack > 0].sum()))

    @property
    def n_attack_types(self) -> int:
        """How many types of attacks there are among the negatives."""
        return np.unique(self.attacks[self.attacks != ""]).size

    @property
    def attacks(self) -> NDArray[np.str_]:
        """The type of attack of each negative trial, "" where it is none."""
        if self.attack_types is None or self.negative.attack is None:
            return np.full(self.negative.score.size, "")
        return np.asarray(self.attack_types.values[self.negative.attack].astype(str))

    @cached_property
    def mixture(self) -> Mixture | None:
        """The negatives apart and what they weigh, where attacks have a share of their own."""
        return None if self.omega is None else Mixture.of(self.negative, self.omega)

    @property
    def unmixed(self) -> Scores:
        """The same trials, every one weighing alike."""
        return self if self.omega is None else replace(self, omega=None)

    @property
    def negative_weights(self) -> NDArray[Any] | None:
        """How many trials each negative stands for, or weighs as much as; None: one."""
        return self.negative.number if self.mixture is None else self.mixture.weights(self.negative)

    # -- what every set of scores answers ----------------------------------------------------------------

    @property
    def whole_negatives(self) -> int:
        return self.n_negatives if self.mixture is None else self.mixture.whole

    def rejected(self, thresholds: ArrayLike) -> tuple[Counts, Counts]:
        if self.mixture is not None:
            return self.mixture.rejected(thresholds), self.positive.rejected(thresholds)
        classes = self.negative, self.positive
        if self.negative.number is None and len(self) >= MANY and not self._sorted:
            cuts, index = np.unique(np.asarray(thresholds, dtype=np.float64), return_inverse=True)
            if cuts.size <= FEW_CUTS:  # counted, which is quicker than sorting
                tn, fn = (np.cumsum(counts_between(cuts, trials.score))[index] for trials in classes)
                return tn, fn
        return self.negative.rejected(thresholds), self.positive.rejected(thresholds)

    def candidates(self, chooser: Chooser | None = None, alphas: Sequence[Fraction] | None = None) -> Candidates:
        """Return every candidate; of many trials that were not sorted yet those that may be chosen, if they are few."""
        plain = self.mixture is None and not self._counted
        if plain and chooser is not None and len(self) >= MANY and not self._sorted:
            from priori.scores.histogram import chosen_among  # large sets only

            few = chosen_among(self.negative.score, self.positive.score, chooser, alphas)
            if few is not None:
                return few
        values = np.concatenate([self.negatives, self.positives])
        values.sort(kind="stable")  # two ascending runs: this is a merge
        values = values[first_of_each(values)]
        if values[0] != -np.inf:
            values = np.insert(values, 0, -np.inf)
        return Candidates.of(values, *self.rejected(values), self.whole_negatives, self.n_positives)

    @property
    def _sorted(self) -> bool:
        return "sorted" in self.negative.__dict__ and "sorted" in self.positive.__dict__

    @property
    def _counted(self) -> bool:
        """Whether entries stand for whole numbers of trials."""
        return self.negative.number is not None and not self.negative.weighted

    def pairs_in_order(self, rough: bool = False) -> int:
        number = self.positive.number
        if self._counted and number is not None:
            # Each entry of the positives counts the negatives below it, and half of those equal to it.
            score = self.positive.score
            below = np.where(score == -np.inf, 0, self.negative.rejected(np.nextafter(score, -np.inf)))
            return long_dot(self.negative.rejected(score) + below, number)
        few, many = sorted((self.negatives, self.positives), key=len)
        step = max(1, few.size // ROUGHLY) if rough else 1
        some = few[step // 2 :: step]

        places = places_of(many, some, "left"), places_of(many, some, "right")
        twice = sum(int(place.sum(dtype=np.int64)) for place in places) * few.size // some.size
        return twice if few is self.positives else 2 * few.size * many.size - twice

    def load(self) -> Scores:
        """Return these scores: they are in memory."""
        return self

    def count(
        self, cuts: Sequence[ArrayLike], by: Sequence[Role] | int = (), others: Sequence[ScoreSet] = ()
    ) -> list[Scores]:
        """Return the sets themselves, whatever the cuts: their trials are in one order already."""
        if any(other.scanned for other in others):
            raise mixed_sets()
        return [self, *(other.load() for other in others)]

    # -- parts -------------------------------------------------------------------------------------------

    def split(
        self,
        fraction: float = 0.5,
        *,
        before: str | datetime | None = None,
        users: ArrayLike | None = None,
        together: bool = True,
        rng: int | np.random.Generator = 0,
    ) -> tuple[Scores, Scores]:
        """Split into a development and a test part; the trials of a user stay together wherever users are known.

        Parameters
        ----------
        fraction : float
            The share of the users, or of the trials where users are not known, that the development part gets, at
            random.
        before : str or datetime, optional
            By time instead: development before it, test from then on. Users that have trials before it are left out of
            the test, unless ``together`` is False.
        users : array-like, optional
            By users instead: the development part has the trials of these.
        together : bool
            Keep the trials of a user in one part. Let users be in both only where thresholds will be used on the
            people they were chosen on.
        rng : int or numpy Generator
            The seed, 0 by default.

        Examples
        --------
        >>> from priori import Scores
        >>> scores = Scores.from_predictions([0, 1] * 4, range(8), user=[*"aabbccdd"])
        >>> scores.split(users=["a"])
        (Scores(1 negatives, 1 positives, 1 users), Scores(3 negatives, 3 positives, 3 users))
        """
        from priori.scores.derived import split_at_random, split_by_time, split_by_users

        if before is not None and users is not None:
            raise InputError("split by time or by users, not both")
        if before is not None:
            return split_by_time(self, before, together=together)
        return (
            split_at_random(self, fraction, rng=rng, together=together)
            if users is None
            else split_by_users(self, users)
        )

    def by(self, column: Literal["dataset", "user", "group"] = "dataset") -> dict[str, Scores]:
        """Split into one `Scores` per data set, user or group, by name, in the order of the names.

        A part may lack a class; whoever needs both must look (``len(part.negative)``).
        """
        names = {"dataset": self.datasets, "user": self.users, "group": self.groups}.get(column)
        if names is None:
            raise InputError(f"{self.source}: there is no column {column!r} to split by")
        parts: dict[str, Scores] = {}
        groups = [
            _group({"dataset": trials.dataset, "user": trials.user, "group": trials.group}[column], len(names))
            for trials in (self.negative, self.positive)
        ]
        for name, negative, positive in zip(names.values, *groups, strict=True):
            if negative.size or positive.size:
                classes = self.negative.take(negative), self.positive.take(positive)
                source = f"{self.source} [{name}]"
                parts[str(name)] = replace(self, negative=classes[0], positive=classes[1], source=source)
        return parts


def _group(codes: Codes | None, size: int) -> list[Index]:
    """Return where each code stands."""
    assert codes is not None
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.searchsorted(codes[order], np.arange(1, size)))
