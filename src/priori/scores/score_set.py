"""ScoreSet: what any set of scores answers, whether it is in memory or scanned where it lies.

Criteria, curves and bootstraps ask these questions and no others; of many sets by the functions below. `priori.Scores`
answers from sorted arrays, `priori.Table` by scans. It is a class to inherit from, so that one ``isinstance`` tells a
set of scores from a frame: a structural protocol would look at every property for that, and some of them cost a scan.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from priori.base.cautions import Caution
from priori.base.errors import InputError, OptionError, argument
from priori.base.types import Counts, Floats
from priori.scores.asking import Asking, Result, ask, asking
from priori.scores.candidates import Candidates, Chooser
from priori.scores.labels import unknown_impostors
from priori.scores.trials import Names

if TYPE_CHECKING:
    from priori.scores.in_memory import Scores

#: The columns of names that tell trials apart.
Role = Literal["user", "probe_user", "dataset", "group", "attack"]


class ScoreSet(ABC):
    """The trials of one system on one set, wherever they are. What costs a scan of a table says so.

    ``source`` says where the trials came from, for messages and reports; ``backend`` is the dataframe library they
    came from and ``format`` their file format, if any. A set that is ``scanned`` stays where it is.
    """

    source: str
    backend: str | None
    format: str | None
    scanned: ClassVar[bool] = False
    #: Names of who was really there that are no person's; of trials that are not in memory none is known.
    nobody: tuple[str, ...] = ()

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

    @property
    def leaves_out_probes(self) -> bool:
        """Whether the real identity of each trial is there, but not used."""
        return False

    @property
    def fits(self) -> bool:
        """Whether all the trials fit into memory; the first scan."""
        return True

    def refuse_attackers(self) -> None:  # noqa: B027 - in memory they are known
        """Raise an error where a table tells attacks by what is known in memory only."""

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

    def expect(self, thresholds: ArrayLike) -> None:  # noqa: B027 - counts in memory cost little
        """Say that counts at these thresholds will be asked for, so that one scan can serve both."""

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
        self,
        cuts: Sequence[ArrayLike],
        by: Sequence[Role] | int = (),
        others: Sequence[ScoreSet] = (),
        means: bool = False,
    ) -> list[Scores]:
        """Return, for this system and for others on the same trials, sets with the same counts between its cuts.

        In memory they are the sets themselves. Of tables they hold entries (`Trials.number`) for the trials between two
        cuts of each system whose names ``by`` some roles agree, or that are in the same of so many random parts (by
        codes of users); all in one order. An entry has the cut above it as score, or with ``means`` the mean of its
        trials. More of them than memory holds raise `TooManyEntries`.
        """

    def narrow_cuts(self, bound: float, by: Sequence[Role]) -> tuple[Floats, float]:
        """Return cuts so narrow that no rate is off by more than about a bound, and by how much it may be.

        They are as many as memory holds where trials are told apart by these roles; too few raise `TooManyEntries`.
        """
        raise NotImplementedError  # nobody asks a set whose trials fit

    @abstractmethod
    def load(self) -> Scores:
        """Return all the trials in memory; an error says so where they do not fit."""

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


# -- many sets at a time: one scan of a panel serves all of its systems -----------------------------------------------


def _ask_of(sets: Sequence[ScoreSet], askings: Sequence[Asking[Result]]) -> list[Result]:
    """Let sets answer in step; one that comes twice is asked again afterwards, as it remembers what it was asked."""
    found: dict[int, Result] = {}
    while len(found) < len(sets):
        first = {id(sets[number]): number for number in reversed(range(len(sets))) if number not in found}
        found |= zip(first.values(), ask([askings[number] for number in first.values()]), strict=True)
    return [found[number] for number in range(len(sets))]


def rejected_of(sets: Sequence[ScoreSet], thresholds: Sequence[ArrayLike]) -> list[tuple[Counts, Counts]]:
    """Count the trials at or below thresholds of each set."""
    return _ask_of(sets, [asking(each.rejected, own) for each, own in zip(sets, thresholds, strict=True)])


def candidates_of(
    sets: Sequence[ScoreSet], choosers: Sequence[Chooser], alphas: Sequence[Sequence[Fraction] | None]
) -> list[Candidates]:
    """Return the candidates of each set, for its own chooser at its own alphas."""
    return _ask_of(sets, [asking(each.candidates, *own) for each, *own in zip(sets, choosers, alphas, strict=True)])


def pairs_in_order_of(sets: Sequence[ScoreSet]) -> list[int]:
    """Return twice the number of pairs in order of each set."""
    return _ask_of(sets, [asking(each.pairs_in_order) for each in sets])


def counts_of(sets: Sequence[ScoreSet], cuts: Sequence[ArrayLike], by: Sequence[Role] | int = ()) -> list[Scores]:
    """Return each set counted between its own cuts: systems that are not paired."""
    questions = [asking(each.count, [own], by) for each, own in zip(sets, cuts, strict=True)]
    return [counted for (counted,) in _ask_of(sets, questions)]


def counted_apart(sets: Sequence[ScoreSet], cuts: Sequence[ArrayLike]) -> list[Scores] | None:
    """Return several tables with the same trials and users counted by user, each on its own; None where they are not.

    Where users come with all their trials it does not matter which trial is which, and there are far fewer counts by
    user than by user and the bins of two systems. An error says where tables have other trials.
    """
    first, *others = sets
    if not others or not all(first.scanned and first.check_same_trials(other) for other in others):
        return None
    return counts_of(sets, cuts, ("user",))


#: No rate may be off by more than about this where counts stand in for trials.
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
    """Do the same with several sets; one that is given twice is asked once, as its answers go by what it was asked."""
    known, at = {id(each): each for each in sets}, np.ravel(np.asarray(cuts, dtype=np.float64))
    found = ask([_condensing(each, by, at, narrow, said) for each in known.values()])
    return [dict(zip(known, found, strict=True))[id(each)] for each in sets]


def _condensing(
    scores: ScoreSet, by: Sequence[Role], cuts: Floats, narrow: float | None, said: str
) -> Asking[tuple[Scores, tuple[Caution, ...]]]:
    if "attack" in by:
        scores.refuse_attackers()
    if not scores.scanned or (narrow is not None and scores.fits):
        return scores.load(), _of_nobody(scores.load(), by)
    wanted, notes, bound, error, edges = [*by], list[Caution](), narrow, 0.0, np.empty(0)
    while True:
        # Entries that are resampled stay ties; others stand where their trials do.
        means = narrow is not None and said == "counted"
        try:
            if bound is not None:
                edges, error = yield from asking(scores.narrow_cuts, bound, wanted)
            (entries,) = yield from asking(scores.count, [np.union1d(edges, cuts)], wanted, (), means)
            break
        except TooManyEntries:
            if {"user", "probe_user"} <= {*wanted}:
                wanted.remove("probe_user")
                notes.append(
                    Caution(
                        "probes-left-out",
                        f"{scores.source}: too many pairs of people for this memory: trials are grouped by user only; "
                        f"raise {argument('memory')}",
                    )
                )
            elif bound is None or bound > 1:
                raise
            else:
                bound = 4 * max(bound, error)
    if narrow is not None:
        notes.append(narrow_caution(scores.source, said, edges.size + 1, error))
        entries = replace(entries, counted=str(notes[-1]))
    return entries, (*notes, *_of_nobody(entries, wanted))


def _of_nobody(scores: Scores, by: Sequence[Role]) -> tuple[Caution, ...]:
    return (unknown_impostors(scores.nobody),) if scores.nobody and "probe_user" in by else ()


def narrow_caution(source: str, said: str, bins: int, error: float) -> Caution:
    """Say that counts stand in for trials, and by how much rates may be off."""
    within = f"no rate at any threshold is off by more than {error:.1e}"
    return Caution(f"{said}-in-bins", f"{source}: {said} in {bins} bins: {within}")
