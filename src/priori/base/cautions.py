"""Cautions: warnings about a result, in words, with a code by which programs know it and people silence it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, NamedTuple, TypeVar

from priori.base.errors import MARK, unknown

Level = Literal["warning", "note"]
Line = TypeVar("Line", bound=str)

#: So many systems are named in a warning.
NAMED = 3


class CautionKind(NamedTuple):
    """What the cautions of one code have in common: how grave they are, their heading, and when they are given."""

    level: Level
    heading: str
    meaning: str


def _warning(heading: str, meaning: str) -> CautionKind:
    return CautionKind("warning", heading, meaning)


def _note(heading: str, meaning: str) -> CautionKind:
    return CautionKind("note", heading, meaning)


#: Every code, in the order in which a page shows those of one level. `docs/cautions.md` is checked against it.
CODES: dict[str, CautionKind] = {
    # the scores
    "same-data": _warning(
        "Development and test set are the same", "Development and test set hold the same scores: nothing is a priori."
    ),
    "shared-trials": _warning(
        "Development and test set share trials", "Some trials of the test set are in the development set too."
    ),
    "repeated-trials": _warning(
        "Repeated trials", "A trial id occurs more than once in a set, or every score occurs several times."
    ),
    "reversed-scores": _warning(
        "Scores look reversed", "Positives score lower than negatives: the AUC is clearly below 0.5."
    ),
    "flipped-labels": _warning(
        "Labels look flipped", "Positives score higher in one of the two sets and lower in the other."
    ),
    "different-scales": _warning(
        "Development and test set are on different scales",
        "The scores of one set are shifted or spread much more widely.",
    ),
    "dev-looks-trained-on": _warning(
        "The development set looks trained on",
        "The development scores separate the classes perfectly and the test scores do not.",
    ),
    "not-likelihood-ratios": _warning(
        "Scores are not likelihood ratios", "Scores are used as log-likelihood ratios but do not look like them."
    ),
    "separated-development": _warning(
        "Calibrated on separated classes",
        "Logistic regression was fitted on development classes that a threshold separates.",
    ),
    "disagreement": _warning(
        "Development and test set disagree",
        "The error rates at the threshold differ between the two sets by more than chance.",
    ),
    "extreme-threshold": _warning(
        "A threshold that accepts or rejects everything",
        "The threshold accepts, or rejects, at least 99 % of both classes.",
    ),
    "limit-not-kept": _warning(
        "A limit that is not kept", "No useful threshold keeps the limit on the development set."
    ),
    "limit-by-users": _warning(
        "A limit for users like these",
        "A limit is promised for the population, but rare users who err often may be missing in this set.",
    ),
    "ties": _warning("Many equal scores", "More than 5 % of the trials of a class have the same score."),
    "prior-shift": _warning(
        "The sets have different shares of positives",
        "The measure depends on the share of positives, which differs between the sets.",
    ),
    "attacks-pooled": _warning(
        "Attacks and impostors in one class", "Attacks are counted as impostors: the FAR depends on their number."
    ),
    "unseen-attacks": _warning("Attacks not in the development set", "Some types of attacks are in the test set only."),
    # the users
    "few-units": _warning(
        "Few users",
        "The errors come from few of the users (trials, where users are not known), or users are few: they do not show "
        "how much users differ.",
    ),
    "size-follows-error": _warning(
        "Users who try more err more",
        "A rate per trial hangs on heavy users, whom a set of this size may lack: its interval may be too narrow.",
    ),
    "no-errors": _warning(
        "No errors", "No false acceptance, or rejection, was seen: the upper bound rests on the number of users."
    ),
    "many-groups": _note("Many groups", "More than 10,000 groups have rates, but are not compared pair by pair."),
    "users-unused": _warning(
        "User column not used", "The users of the trials are known, but trials are resampled instead of users."
    ),
    "shared-users": _note("Users in both sets", "Some users of the test set are in the development set too."),
    "users-partly-shared": _note(
        "Users in both sets resampled independently",
        "Some users are in both sets, and the two sets are resampled independently.",
    ),
    "probes-left-out": _warning(
        "Only the claimed identity is used", "Both identities are known; a scan uses the claimed one only."
    ),
    "users-unknown": _note("Users not known", "The users of the trials are not known: a plan may be too small."),
    "unknown-impostors": _note(
        "Impostors not known", "A name like attack stands for many people: an interval of the FAR may be too narrow."
    ),
    # the intervals and tests
    "few-users-plain": _warning(
        "Interval not calibrated", "A percentile or centred interval with few users: its coverage is too low."
    ),
    "small-development": _warning(
        "Small development set", "The development set is small, and new thresholds are chosen on it."
    ),
    "few-dev-users": _warning(
        "Few development users", "Fewer than 30 development users: too few to see how thresholds vary."
    ),
    "few-dev-trials": _warning(
        "Few development trials",
        "Fewer than 100 development trials of a class, without users: too few to see how thresholds vary.",
    ),
    "few-dev-errors": _warning("Few development errors", "Thresholds depend on few development errors."),
    "many-systems": _warning("Many systems for few users", "More than two systems per user, all tested together."),
    "value-outside": _warning("An interval without its estimate", "An interval excludes its own estimate."),
    "around-expected": _note(
        "An interval around the expected value",
        "The interval is around the expected value and excludes the observed one.",
    ),
    "few-replicates": _warning("Few replicates", "The replicates are too few for the confidence level."),
    "few-resamples": _warning("Too few resamples", "With so few resamples no p-value can be significant."),
    "ends": _note("The ends of the curve", "New thresholds are chosen at alpha 0 or 1, where no coverage is claimed."),
    "low-fpr": _warning("Low false positive rates", "Too few negatives for a ROC band at these false positive rates."),
    "resampled-in-bins": _note(
        "Resampled in bins", "There are many distinct scores, and they were resampled in narrow bins."
    ),
    "counted-in-bins": _note("Counted in bins", "The scores do not fit in memory and were counted in bins."),
    "normal-fits-badly": _warning("Normal approximation", "A rate is too small, or its trials too few, for a z-test."),
    "wrong-direction": _warning("One-sided test", "The difference is in the direction opposite to the one tested."),
    "no-variance": _warning("Variance of zero", "The scores show no variance of the AUC."),
    "infinite-cost": _warning("An infinite cost", "A log-likelihood ratio is infinite on the wrong side."),
    "users-matter": _warning("Users matter", "Trials of one user are alike, but a z-test treats them as independent."),
    "margin-needs-users": _warning(
        "Too few users for the margin", "Users are so few that none of their data could show that the margin is kept."
    ),
    "few-pilot-users": _warning("Few pilot users", "The plan is based on a pilot with few users."),
    "few-sets": _warning(
        "Few data sets", "An average over few data sets, or one in which a few have most of the weight."
    ),
    "scales-differ": _warning(
        "Scores on different scales", "One threshold for all data sets, whose scores are on different scales."
    ),
    # what a page says besides
    "unbalanced": _note("Unbalanced classes", "One class of the test set is ten times as large as the other."),
    "missing": _note("Missing scores count as rejections", "NaN scores count as rejected trials (--nan reject)."),
    "no-bootstrap": _note("No intervals", "No bootstrap was run."),
}


class Caution(str):
    """Warnings about a result.

    It is the text itself, so that it prints, joins and compares as one. ``marked`` is the text with the arguments in it
    marked (see `priori.base.errors.argument`), for which the command line says its options.

    Examples
    --------
    >>> caution = Caution("few-units", "only 8 users: so few say little about everybody else")
    >>> caution.code, caution.level
    ('few-units', 'warning')
    >>> print(caution)
    only 8 users: so few say little about everybody else
    """

    __slots__ = ("code", "marked", "named")
    code: str
    marked: str
    #: Whether it begins with the name of a system, which stays as it is in a sentence.
    named: bool

    def __new__(cls, code: str, text: str, named: bool = False) -> Caution:
        """Return the text with its code."""
        caution = super().__new__(cls, text.replace(MARK, ""))
        caution.code, caution.marked, caution.named = code, text, named
        return caution

    def __reduce__(self) -> tuple[type[Caution], tuple[str, str, bool]]:
        """Return what a copy is made from."""
        return Caution, (self.code, self.marked, self.named)

    @property
    def level(self) -> Level:
        """How grave it is: a warning, or a note."""
        return CODES[self.code].level if self.code in CODES else "warning"

    @property
    def heading(self) -> str:
        """A heading for it."""
        return CODES[self.code].heading if self.code in CODES else self.code.replace("-", " ").capitalize()

    @property
    def sentence(self) -> str:
        """The text as a sentence of its own."""
        return f"{self}." if self.named else f"{self[:1].upper()}{self[1:]}."


def labelled(warning: str) -> str:
    """Return a warning for people, with its code before it: ``warning [few-units]: only 8 users``."""
    return f"{warning.level} [{warning.code}]: {warning}" if isinstance(warning, Caution) else f"warning: {warning}"


def said_of(name: str, warning: str) -> str:
    """Return a warning with the name of the system before it."""
    if isinstance(warning, Caution):
        return Caution(warning.code, f"{name}: {warning.marked}", named=True)
    return f"{name}: {warning}"


def joined(*groups: Iterable[str]) -> tuple[str, ...]:
    """Return the warnings of several groups; what an earlier group speaks of, the later ones do not.

    Examples
    --------
    >>> joined([Caution("few-units", "only 8 users")], [Caution("few-units", "few"), Caution("ties", "many ties")])
    ('only 8 users', 'many ties')
    """
    lines: list[str] = []
    for group in groups:
        said = {getattr(line, "code", line) for line in lines}
        lines.extend(line for line in group if getattr(line, "code", line) not in said)
    return tuple(lines)


def of_systems(systems: Sequence[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """Return the warnings of systems, one line each: in the words of the first, with the systems, three by name.

    Examples
    --------
    >>> few, tied = Caution("few-units", "only 8 users"), Caution("ties", "many equal scores")
    >>> of_systems([("A", [few, tied]), ("B", [few])])
    ('only 8 users', 'A: many equal scores')
    >>> of_systems([("A", [few]), *((name, [tied]) for name in "BCDEFGH")])
    ('A: only 8 users', 'B, C, D and 4 others: many equal scores')
    >>> of_systems([("A", [few]), ("B", [Caution("few-units", "only 9 users")])])
    ('A: only 8 users (also, with other numbers, B)',)
    """
    found: dict[str, dict[str, list[str]]] = {}
    for name, own in systems:
        for line in dict.fromkeys(own):
            found.setdefault(getattr(line, "code", line), {}).setdefault(line, []).append(name)
    return tuple(line for texts in found.values() for line in _with_names(texts, len(systems)))


def _with_names(texts: dict[str, list[str]], systems: int) -> Iterator[str]:
    """Yield the texts of one code that speak of the first system; the first names the systems that have other texts."""
    (first, *_), *_ = texts.values()
    kept = {line: names for line, names in texts.items() if first in names}
    covered = {name for names in kept.values() for name in names}
    others = [name for names in texts.values() for name in names if name not in covered]
    also = f" (also, with other numbers, {named(others)})" if others else ""
    for line, names in kept.items():
        text = line if len(names) == systems else said_of(named(names), line)
        yield Caution(text.code, f"{text.marked}{also}", text.named) if isinstance(text, Caution) else text
        also = ""


def named(names: Sequence[str]) -> str:
    """Return a list of systems, of which three are named: 'A, B, C and 4 others'."""
    each = list(dict.fromkeys(names))
    if len(each) <= NAMED:
        return ", ".join(each)
    return f"{', '.join(each[:NAMED])} and {len(each) - NAMED} other{'s' * (len(each) > NAMED + 1)}"


# -- silencing -----------------------------------------------------------------------------------------------

_SILENCED: ContextVar[frozenset[str]] = ContextVar("silenced", default=frozenset())


@contextmanager
def silenced(*codes: str) -> Iterator[None]:
    """Do not show cautions of these codes: in this block, in this thread or task.

    Results keep them (``result.warnings``), and what is shown says which codes were silenced.

    Examples
    --------
    >>> import priori
    >>> scores = priori.Scores.from_arrays([0.1, 0.2, 0.6], [0.4, 0.7, 0.9])
    >>> curve = priori.epc(scores, scores, alpha=[0.5])
    >>> [warning.code for warning in curve.warnings]
    ['same-data', 'few-units']
    >>> with priori.silenced("same-data", "few-units"):
    ...     page = curve._repr_html_()
    >>> "not shown: same-data, few-units" in page
    True
    """
    for code in codes:
        if code not in CODES:
            raise unknown("caution", code, CODES)
    token = _SILENCED.set(_SILENCED.get() | frozenset(codes))
    try:
        yield
    finally:
        _SILENCED.reset(token)


def silenced_codes() -> tuple[str, ...]:
    """Return the codes that are silenced here, in the order of their list."""
    return tuple(code for code in CODES if code in _SILENCED.get())


def shown(warnings: Iterable[Line]) -> tuple[Line, ...]:
    """Return the warnings that are not silenced, each once."""
    hidden = _SILENCED.get()
    return tuple(dict.fromkeys(line for line in warnings if getattr(line, "code", None) not in hidden))


def not_shown(warnings: Iterable[str]) -> tuple[str, ...]:
    """Return the codes of the warnings that are silenced, each once."""
    hidden = _SILENCED.get()
    codes = (line.code for line in warnings if isinstance(line, Caution) and line.code in hidden)
    return tuple(dict.fromkeys(codes))
