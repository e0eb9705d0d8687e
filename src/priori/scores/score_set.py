"""ScoreSet: what any set of scores answers, whether it is in memory or scanned where it lies.

Criteria, curves and bootstraps ask these questions and no others. `priori.Scores` answers from sorted arrays,
`priori.Table` by scans. It is a class to inherit from, so that one ``isinstance`` tells a set of scores from a frame:
a structural protocol would look at every property for that, and some of them cost a scan.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

from numpy.typing import ArrayLike

from priori.base.cautions import Caution
from priori.base.errors import InputError
from priori.base.types import Counts, Floats
from priori.scores.candidates import Candidates, Chooser
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

    # -- thresholds and counts ---------------------------------------------------------------------------

    def prepare(self, *, in_background: bool = False) -> None:  # noqa: B027 - what is in memory is ready
        """Do now what every question needs first: the first scan of a table, if asked in a thread of its own."""

    def expect(self, thresholds: ArrayLike) -> None:  # noqa: B027 - counts in memory cost little
        """Say that counts at these thresholds will be asked for, so that one scan can serve both."""

    @abstractmethod
    def rejected(self, thresholds: ArrayLike) -> tuple[Counts, Counts]:
        """Count the negatives and the positives at or below each threshold, exactly."""

    @abstractmethod
    def candidates(self, chooser: Chooser, alphas: Sequence[Fraction] | None) -> Candidates:
        """Return the candidates, at least all those that may be chosen at these alphas (None: at any)."""

    @abstractmethod
    def pairs_in_order(self, *, rough: bool = False) -> int:
        """Return twice the number of pairs whose positive scores above the negative; a tie is half a pair.

        A ``rough`` number costs no scan beyond the first: scores in one cell count as ties. In memory some of the
        scores tell, if there are many.
        """

    # -- the trials themselves ---------------------------------------------------------------------------

    @abstractmethod
    def load(self) -> Scores:
        """Return all the trials in memory; an error says so where they do not fit."""

    @abstractmethod
    def condensed(
        self, roles: Sequence[Role], *, cuts: ArrayLike = (), narrow: bool = False
    ) -> tuple[Scores, tuple[Caution, ...]]:
        """Return trials in memory that tell as much of counts at the ``cuts``, and what to say of the result.

        They are the trials themselves where they fit. Else entries (`Trials.number`) hold those between two cuts whose
        ``roles`` agree, by their mean score: counts at the cuts are exact. ``narrow`` asks for more cuts, so that any
        rate at any threshold is off by little; the cautions say by how much.
        """

    def sketched(self) -> Scores:
        """Return trials in memory to draw curves from: no rate is off by more than about 1e-5 (1e-3 with Spark)."""
        return self.load()

    @abstractmethod
    def between(self, edges: Sequence[Floats], others: Sequence[ScoreSet] = (), *, by_user: bool) -> list[Scores]:
        """Return, for this system and for others on the same trials, sets with the same counts between its edges.

        In memory they are the sets themselves; of tables they hold counts (by user where asked), in one order.
        """

    def apart(self, edges: Sequence[Floats], others: Sequence[ScoreSet]) -> list[Scores] | None:
        """Return the same by user, each system counted on its own; None where it cannot be, or saves nothing.

        Where users come with all their trials it does not matter which trial is which, and there are far fewer counts
        by user than by user and the gaps of two systems. The trials must be the same, and have the same users.
        """
        return None

    def check_same_trials(self, other: ScoreSet) -> None:
        """Raise an error where two tables, of which only sums are compared, do not have the same trials.

        In memory trials are paired one by one, later.
        """
        if not other.fits:
            raise mixed_sets()

    @abstractmethod
    def resamplable(self, *, by_user: bool) -> tuple[Scores, str | None]:
        """Return trials in memory that a bootstrap can resample, and what to say where they are not the exact ones."""


def mixed_sets() -> InputError:
    """Return the error for two systems of which one is in memory."""
    return InputError("one of the two test sets is in memory and the other is not; read both in the same way")
