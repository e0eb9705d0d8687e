"""Remote: a set of scores that lives elsewhere, and answers with counts and shortlists (see `priori.engines`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence, Sized
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priori.decisions.shortlist import Shortlist

if TYPE_CHECKING:
    from priori.decisions.criteria import Criterion
    from priori.decisions.outcomes import Outcomes
    from priori.scores import Names, Scores

__all__ = ["Remote", "as_scores", "is_frame", "loaded"]


class Remote(ABC):
    """What a curve and a bootstrap need of a set that is not in memory; the names are those of `Scores`.

    ``negative`` and ``positive`` have a length; more than that only where all trials fit in memory.
    """

    @property
    @abstractmethod
    def source(self) -> str:
        """Where the trials are."""

    @property
    @abstractmethod
    def backend(self) -> str | None:
        """The dataframe library they came from, if any."""

    @property
    @abstractmethod
    def format(self) -> str | None:
        """The file format, if any."""

    @property
    @abstractmethod
    def nan_rejected(self) -> int:
        """How many NaN scores count as rejected trials."""

    @property
    @abstractmethod
    def negative(self) -> Sized:
        """Stands for the negative trials."""

    @property
    @abstractmethod
    def positive(self) -> Sized:
        """Stands for the positive trials."""

    @property
    @abstractmethod
    def has_users(self) -> bool:
        """Whether the claimed identity of each trial is known."""

    @property
    @abstractmethod
    def has_identities(self) -> bool:
        """Whether both identities of each trial are used."""

    @property
    @abstractmethod
    def leaves_out_probes(self) -> bool:
        """Whether the real identity of each trial is there, but not used."""

    @property
    @abstractmethod
    def n_users(self) -> int:
        """How many users there are; 0 when unknown."""

    @property
    @abstractmethod
    def users(self) -> Names | None:
        """The users, in order."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def begin(self) -> None:
        """Start what will be needed first."""

    @abstractmethod
    def shortlist(self, criterion: Criterion, alphas: Sequence[Fraction] | None) -> Shortlist:
        """Return what the criterion may choose at these alphas (None: at any)."""

    @abstractmethod
    def expect(self, thresholds: ArrayLike) -> None:
        """Say that counts at these thresholds will be asked for."""

    @abstractmethod
    def count(self, thresholds: ArrayLike) -> Outcomes:
        """Count the outcomes at thresholds."""

    @abstractmethod
    def pairs_in_order(self) -> int:
        """Return twice the number of pairs whose positive scores above the negative; a tie is half a pair."""

    @abstractmethod
    def stand_ins(self, others: Sequence[Any], edges: Sequence[NDArray[np.float64]], *, by_user: bool) -> list[Scores]:
        """Return sets that hold, between the edges of each system, as many trials as this and paired others do."""

    @abstractmethod
    def same_trials(self, other: Any) -> bool:
        """Raise an error unless another system has the same trials; return whether its users are the same too."""

    @property
    @abstractmethod
    def loaded(self) -> Scores:
        """All the trials in memory; an error says so where they do not fit."""

    @abstractmethod
    def in_memory(self, *, by_user: bool, paired: bool) -> tuple[Scores, str | None]:
        """Return the trials in memory, or trials in narrow cells in their place, and what to say about those."""


def is_frame(given: Any) -> bool:
    """Tell whether something is a frame or a relation, of any library that narwhals knows."""
    import narwhals as nw

    return nw.from_native(given, pass_through=True) is not given


def loaded(given: Any) -> Any:
    """Return a set of scores with all its trials in memory, for what counts cannot answer; others as they are."""
    from priori.scores import Scores

    if isinstance(given, Scores) or not (isinstance(given, Remote) or is_frame(given)):
        return given
    found = as_scores(given)
    return found.loaded if isinstance(found, Remote) else found


def as_scores(given: Any) -> Any:
    """Return a set of scores as it is, and a frame, a relation or a Spark DataFrame as one that stays where it is."""
    if isinstance(given, Remote):
        return given
    from priori.engines import as_scores as opened

    return opened(given)
