"""ScoreSet: what any set of scores answers, whether it is in memory or scanned where it lies.

Criteria, curves and bootstraps ask these questions and no others; of many sets by the functions below. `priori.Scores`
answers from sorted arrays, `priori.Table` by scans. It is a class to inherit from, so that one ``isinstance`` tells a
set of scores from a frame: a structural protocol would look up every property, and some of these cost a scan. What a
caller gave becomes a set of scores by `as_score_set`.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from priori.base.cautions import Caution
from priori.base.errors import InputError, OptionError, PrioriError, argument
from priori.base.types import Counts, Floats
from priori.scores.candidates import Candidates, Chooser
from priori.scores.trials import Names

if TYPE_CHECKING:
    from priori.scores.in_memory import Scores

Answer = TypeVar("Answer")

#: The columns of names that tell trials apart.
Role = Literal["user", "probe_user", "dataset", "group", "attack"]
#: What tells trials apart where attacks have a share of their own.
BY_ATTACK: tuple[Role, ...] = ("user", "probe_user", "attack")


# -- what a set answers ----------------------------------------------------------------------------------------------


class NarrowCuts(NamedTuple):
    """Ascending cuts, the largest share of a class between two of them, and about the mean of the scores below each."""

    cuts: Floats
    error: float
    means: Floats

    def stand_in(self, cuts: Floats, scores: Floats) -> Floats:
        """Return, for scores that are cuts, these and others, numbers of the same bins that trials stand about."""
        least = np.nextafter(np.append(-np.inf, cuts[:-1]), np.inf)
        bins = np.searchsorted(self.cuts, cuts)
        means = np.clip(np.append(self.means, np.inf)[bins], np.minimum(least, cuts), cuts)
        return np.append(means, np.inf)[np.searchsorted(cuts, scores)]


class ScoreSet(ABC):
    """The trials of one system on one set, wherever they are. What costs a scan of a table says so.

    ``source`` says where the trials came from, for messages and reports; ``backend`` is the dataframe library they
    came from and ``format`` their file format, if any. A set that is ``scanned`` stays where it is.
    """

    source: str
    backend: str | None
    format: str | None
    scanned: ClassVar[bool] = False

    @property
    @abstractmethod
    def n_negatives(self) -> int:
        """How many negative trials there are; the first scan."""

    @property
    @abstractmethod
    def n_positives(self) -> int:
        """How many positive trials there are; the first scan."""

    @property
    @abstractmethod
    def nan_rejected(self) -> int:
        """How many NaN scores count as rejected trials; the first scan."""

    @property
    @abstractmethod
    def has_users(self) -> bool:
        """Whether the claimed identity of each trial is known."""

    @property
    @abstractmethod
    def nobody(self) -> tuple[str, ...]:
        """Names, or a word, for impostors whom nobody knows; names of trials that are not in memory are not known."""

    @property
    @abstractmethod
    def users(self) -> Names | None:
        """The names of the users (claimed identities), in order; a scan."""

    @property
    @abstractmethod
    def n_users(self) -> int:
        """How many users there are, 0 when unknown; a scan."""

    @property
    @abstractmethod
    def has_identities(self) -> bool:
        """Whether both identities of each trial are known and can be used."""

    #: Whether the scores were given as distances, which are negated on reading.
    distances: bool = False

    @property
    def leaves_out_probes(self) -> bool:
        """Whether the real identity of each trial is there, but not used."""
        return False

    @property
    def fits(self) -> bool:
        """Whether all the trials fit into memory; the first scan."""
        return True

    def refuse_attackers(self) -> None:  # noqa: B027 - in memory they are known
        """Raise an error where attacks are marked by what is known in memory only."""

    @property
    def whole_negatives(self) -> int:
        """What `rejected` counts the negatives up to: their number, unless attacks have a share of their own."""
        return self.n_negatives

    @property
    def unmixed(self) -> ScoreSet:
        """The same trials, every one weighing alike."""
        return self

    def __len__(self) -> int:
        return self.n_negatives + self.n_positives

    # -- what is asked ----------------------------------------------------------------------------------------

    @abstractmethod
    def rejected(self, thresholds: ArrayLike) -> tuple[Counts, Counts]:
        """Count the negatives and the positives at or below each threshold, exactly."""

    @abstractmethod
    def candidates(self, chooser: Chooser, alphas: Sequence[Fraction] | None) -> Candidates:
        """Return the candidates, at least all those that may be chosen at these alphas (None: at any)."""

    @abstractmethod
    def pairs_in_order(self, rough: bool = False) -> int:
        """Return twice the number of pairs whose positive scores above the negative; a tie is half a pair.

        A ``rough`` number costs no scan beyond the first: scores in one bin count as ties. In memory some of the
        scores tell, if there are many.
        """

    @abstractmethod
    def count(
        self, cuts: Sequence[ArrayLike], by: Sequence[Role] | int = (), others: Sequence[ScoreSet] = ()
    ) -> list[Scores]:
        """Return, for this system and for others on the same trials, sets with the same counts between its cuts.

        In memory they are the sets themselves. For tables they hold entries (`Trials.number`) for the trials between
        two cuts of each system whose names ``by`` some roles agree, or that are in the same of so many random parts (by
        codes of users); all in one order. An entry has the cut above it as score. More of them than memory holds raise
        `TooManyEntries`.
        """

    @abstractmethod
    def load(self) -> Scores:
        """Return all the trials in memory; an error where they do not fit."""

    def check_same_trials(self, other: ScoreSet) -> bool:
        """Raise an error where two tables do not have the same trials; return whether their users are the same, too.

        In memory trials are paired one by one, later: nothing is said of them here.
        """
        if not other.fits:
            raise mixed_sets()
        return False


class TooManyEntries(OptionError):
    """More combinations of names and bins than the memory given can hold."""


def mixed_sets() -> InputError:
    """Return the error for two systems of which one is in memory."""
    return InputError("one of the two test sets is in memory and the other is not; read both in the same way")


def as_score_set(data: Any, refusal: PrioriError | None = None) -> ScoreSet:
    """Return a set of scores as it is, and a frame, a relation or a Spark DataFrame as one that stays where it is.

    Anything else is an error: ``refusal``, or one that says what a set of scores may be.
    """
    scores = score_set_or_none(data)
    if scores is not None:
        return scores
    if refusal is not None:
        raise refusal
    if isinstance(data, (str, os.PathLike)):
        raise OptionError(f"a path is no set of scores; read it with priori.read or priori.scan: {os.fspath(data)!r}")
    from priori.engines import scan

    return scan(data)  # whose error says what it can open


def score_set_or_none(data: Any) -> ScoreSet | None:
    """Return the same, and None where something is neither a set of scores nor a frame."""
    if isinstance(data, ScoreSet):
        return data
    import narwhals as nw

    if nw.from_native(data, pass_through=True) is data:
        return None
    from priori.engines import scan  # not above: most scores are in memory, and engines take long to import

    return scan(data)


# -- many sets at a time: one scan of a panel serves all of its systems -----------------------------------------------


def _together(
    one: Callable[..., Answer],
    tables: Callable[[Any], Callable[..., list[Answer]]],
    sets: Sequence[ScoreSet],
    *more: Sequence[Any],
) -> list[Answer]:
    """Return what each set answers, with its own of further arguments; all tables are asked in one call."""
    scanned = [number for number, each in enumerate(sets) if each.scanned]
    found = {n: one(each, *(column[n] for column in more)) for n, each in enumerate(sets) if not each.scanned}
    if scanned:
        ask = tables(sets[scanned[0]])
        found |= zip(scanned, ask(*([column[n] for n in scanned] for column in (sets, *more))), strict=True)
    return [found[number] for number in range(len(sets))]


def rejected_of(sets: Sequence[ScoreSet], thresholds: Sequence[ArrayLike]) -> list[tuple[Counts, Counts]]:
    """Count the trials at or below thresholds of each set."""
    return _together(lambda each, at: each.rejected(at), lambda table: table.rejected_of, sets, thresholds)


def candidates_of(
    sets: Sequence[ScoreSet], choosers: Sequence[Chooser], alphas: Sequence[Sequence[Fraction] | None]
) -> list[Candidates]:
    """Return the candidates of each set, for its own chooser at its own alphas."""
    return _together(
        lambda each, rule, at: each.candidates(rule, at), lambda table: table.candidates_of, sets, choosers, alphas
    )


def pairs_in_order_of(sets: Sequence[ScoreSet]) -> list[int]:
    """Return twice the number of pairs in order of each set."""
    return _together(lambda each: each.pairs_in_order(), lambda table: table.pairs_in_order_of, sets)


def counts_of(sets: Sequence[ScoreSet], cuts: Sequence[ArrayLike], by: Sequence[Role] | int = ()) -> list[Scores]:
    """Return each set counted between its own cuts: systems that are not paired."""
    return _together(
        lambda each, _: each.load(), lambda table: lambda tables, at: table.counts_of(tables, at, by), sets, cuts
    )


def counted_apart(sets: Sequence[ScoreSet], cuts: Sequence[ArrayLike]) -> list[Scores] | None:
    """Return several tables with the same trials and users counted by user, each on its own; None where they are not.

    Where users come with all their trials it does not matter which trial is which, and there are far fewer counts by
    user than by user and the bins of two systems. An error says where tables have other trials.
    """
    first, *others = sets
    if not others or not all(first.scanned and first.check_same_trials(other) for other in others):
        return None
    return counts_of(sets, cuts, ("user",))


#: No rate may be off by more than about this where counts stand for trials.
BOUND = 1e-4


def condense(
    scores: ScoreSet,
    by: Sequence[Role] = (),
    *,
    cuts: ArrayLike = (),
    narrow: float | None = None,
    said: str = "counted",
) -> tuple[Scores, tuple[Caution, ...]]:
    """Return trials in memory that tell as much of counts at the ``cuts``, and what to say of the result.

    They are the trials themselves where they fit, else entries by the names in some roles: counts at the cuts are
    exact. ``narrow`` asks for more cuts, so that no rate at any threshold is off by more than about this much; the
    cautions say by how much, and in a word (``said``) what was done.
    """
    return condense_all([scores], by, cuts=cuts, narrow=narrow, said=said)[0]


def condense_all(
    sets: Sequence[ScoreSet],
    by: Sequence[Role] = (),
    *,
    cuts: ArrayLike = (),
    narrow: float | None = None,
    said: str = "counted",
) -> list[tuple[Scores, tuple[Caution, ...]]]:
    """Do the same with several sets."""
    at = np.ravel(np.asarray(cuts, dtype=np.float64))
    if "attack" in by:
        for each in sets:
            each.refuse_attackers()
    todo = dict.fromkeys(each for each in sets if each.scanned and (narrow is None or not each.fits))
    found: dict[ScoreSet, tuple[Scores, tuple[Caution, ...]]] = {}
    try:
        found |= zip(todo, _condensed([*todo], by, at, narrow, said), strict=True)
    except TooManyEntries:
        found |= {each: _condensed_somehow(each, by, at, narrow, said) for each in todo}
    return [found[each] if each in found else (each.load(), ()) for each in sets]


def _condensed(
    sets: Sequence[Any], by: Sequence[Role], cuts: Floats, bound: float | None, said: str
) -> list[tuple[Scores, tuple[Caution, ...]]]:
    if bound is None or not sets:
        return [(entries, ()) for entries in counts_of(sets, [cuts] * len(sets), by)]
    narrow: list[NarrowCuts] = sets[0].narrow_cuts_of(sets, bound, by)
    between = [np.union1d(own.cuts, cuts) for own in narrow]
    counted = counts_of(sets, between, by)
    found: list[tuple[Scores, tuple[Caution, ...]]] = []
    for each, own, every, entries in zip(sets, narrow, between, counted, strict=True):
        within = f"no rate at any threshold is off by more than {own.error:.1e}"
        note = Caution(f"{said}-in-bins", f"{each.source}: {said} in {own.cuts.size + 1} bins: {within}")
        if said == "counted":  # entries that are resampled stay ties; others stand where their trials do
            classes = (entries.negative, entries.positive)
            negative, positive = (replace(part, score=own.stand_in(every, part.score)) for part in classes)
            entries = replace(entries, negative=negative, positive=positive)
        found.append((replace(entries, counted=str(note)), (note,)))
    return found


def _condensed_somehow(
    scores: Any, by: Sequence[Role], cuts: Floats, bound: float | None, said: str
) -> tuple[Scores, tuple[Caution, ...]]:
    """Return entries by less: without probes, then in wider bins, until memory holds them."""
    notes: tuple[Caution, ...] = ()
    while True:
        try:
            ((entries, more),) = _condensed([scores], by, cuts, bound, said)
            return entries, (*notes, *more)
        except TooManyEntries:
            if {"user", "probe_user"} <= {*by}:
                by = [role for role in by if role != "probe_user"]
                text = f"{scores.source}: too many pairs of people: grouped by user only; raise {argument('memory')}"
                notes = (Caution("probes-left-out", text),)
            elif bound is None or bound > 1:
                raise
            else:
                bound = 4 * max(bound, scores.narrow_cuts_of([scores], bound, by)[0].error)
