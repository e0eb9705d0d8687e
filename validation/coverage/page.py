"""The page docs/coverage.md, written from the record: every number in it is a measured one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence

import folds
import paper
import people
import plans
from bands import BEST, EXPECTED, FUTURE_ANEW, FUTURE_KEPT, GROWTH, KEPT
from hard import DEFAULT as HARD_DEFAULT
from hard import LIMIT_PART as HARD_LIMITS
from hard import PART as HARD_PART
from populations import GRID, REASONABLE
from rates import AUC_INTERVALS, EMPTY, KEEPS, LIMIT_PART, PROMISE
from ratios import COSTS, TESTED
from ratios import PART as RATIOS
from sizes import NULL
from tallies import Row

from curves import AREA_PART, LOW_PART, ROC_PART

CROSSED_TITLE = GRID[-1].title
#: Candidates for the default where the user of each trial is known: what a person could have by naming it.
CANDIDATES = (
    "sample, percentile",
    "user-constrained, percentile",
    "user, percentile",
    "user, centred",
    "user, calibrated",
    "joint, percentile",
    "joint, centred",
)
DEFAULT, DEFAULT_CROSSED = "user, calibrated", "crossed, calibrated"
#: How far under its nominal coverage a default may fall.
ALLOWED = 0.02


def default_for(population: str) -> str:
    return DEFAULT_CROSSED if population == CROSSED_TITLE else DEFAULT


class Record:
    """The rows, to be looked up."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)
        self.by_key = {(row.part, row.population, row.method, row.promise): row for row in self.rows}

    def get(self, part: str, population: str, method: str, promise: str) -> Row | None:
        return self.by_key.get((part, population, method, promise))

    def of(self, **wanted: str) -> list[Row]:
        return [row for row in self.rows if all(getattr(row, name) == value for name, value in wanted.items())]

    def populations(self, part: str) -> list[str]:
        return list(dict.fromkeys(row.population for row in self.rows if row.part == part))


# -- pieces of text ----------------------------------------------------------------------------------------------


def percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f}"


def spread(rows: Sequence[Row]) -> str:
    """From the lowest to the highest share, in per cent."""
    shares = [row.measured for row in rows] or [math.nan]
    return f"{percent(min(shares))} to {percent(max(shares))} %"


def covered(row: Row | None) -> str:
    if row is None:
        return "–"
    return f"{percent(row.measured)} ({100 * row.width:.2f})"


def share(row: Row | None) -> str:
    return "–" if row is None else percent(row.measured)


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = ["---", *["---:" if len(head) > 2 else "---"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [list(head), rule, *lines]) + "\n"


def grid(
    record: Record,
    part: str,
    promise: str,
    methods: Sequence[str],
    *,
    show: Callable[[Row | None], str] = covered,
    populations: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    corner: str = "population",
) -> str:
    """A table with a row for each population and a column for each method."""
    lines = [
        [population, *(show(record.get(part, population, method, promise)) for method in methods)]
        for population in populations or record.populations(part)
    ]
    return table([corner, *(names or methods)], lines)


# -- choosing the default ----------------------------------------------------------------------------------------


def candidates(record: Record) -> tuple[str, str | None]:
    """The candidates for the default with how far each falls, and the one that the rule chooses."""
    lines, allowed = [], []
    for method in CANDIDATES:
        rows = [
            row for title in REASONABLE if title != CROSSED_TITLE if (row := record.get("bands", title, method, KEPT))
        ]
        if not rows:
            continue
        lowest = min(rows, key=lambda row: row.measured)
        distance = sum(abs(row.measured - row.nominal) for row in rows) / len(rows)
        wide = [
            row.width / other.width for row in rows if (other := record.get("bands", row.population, DEFAULT, KEPT))
        ]
        holds = lowest.measured + 2 * lowest.standard_error >= lowest.nominal - ALLOWED
        if holds:
            allowed.append((distance, method))
        lines.append(
            [
                method,
                percent(lowest.measured),
                percent(max(row.measured for row in rows)),
                percent(distance),
                f"{math.exp(sum(map(math.log, wide)) / len(wide)):.2f}",
                "yes" if holds else "no",
            ]
        )
    head = ["bootstrap, interval", "lowest %", "highest %", "mean distance", "width, of the default's", "holds"]
    return table(head, lines), min(allowed)[1] if allowed else None


# -- the page ----------------------------------------------------------------------------------------------------


def page(rows: Iterable[Row], methods: Sequence[Row] = (), boards: Sequence[Row] = ()) -> str:
    """Return the page from the record, and from those of the test of two systems as methods and of leaderboards."""
    record = Record(rows)
    parts = (
        _head,
        _targets,
        _default,
        _bands,
        _hard,
        _curves,
        _crossed,
        _paper,
        _tests,
        _single,
        _people,
        _other,
        _ratios,
        _attacks,
        _folds,
        _plans,
        _how,
    )
    texts = [text for part in parts if (text := part(record))]
    others = [section(known) for section, known in ((which_claim, methods), (leaderboards, boards)) if known]
    texts[-1:-1] = others  # before how it was measured
    return "\n".join(texts)


def _head(record: Record) -> str:
    rows = [row for title in REASONABLE if (row := record.get("bands", title, DEFAULT, KEPT))]
    rows = [row for row in rows if row.population != CROSSED_TITLE]
    sample = record.get("bands", GRID[3].title, "sample, percentile", KEPT)
    text = f"""# Measured coverage

<!-- Written by validation/coverage/measure.py; change that, not this. -->

This page gives the measured coverage of every interval and the measured size of every test of Priori, on populations
whose true values are known. The whole record is `validation/coverage/record.csv`; `make validate` writes it and this
page.

- **Where users are known, the default covers {spread(rows)}** (nominal 95 %) over populations of 20 to 500 users.
"""
    if sample is not None:
        text += f"""- **Ignoring users is the mistake to avoid.** The plain sample bootstrap covers {share(sample)} %
  where users differ strongly, and the intervals and tests of the textbooks, which take trials for independent, fare
  no better.
"""
    return text


def _targets(_: Record) -> str:
    lines = [
        (
            '`resample="test"` (the default)',
            f"**{KEPT}**: the value that the thresholds chosen on *this* development set have on the whole population",
        ),
        (
            '`resample="both"`',
            f"**{EXPECTED}**: the mean, over development sets of this size, of the value that the "
            "thresholds chosen on them have on the whole population",
        ),
        (
            '`promise="prediction"`',
            f"**{FUTURE_KEPT}**: the value that a new test set of the given size will show at *these* thresholds",
        ),
        (
            '`promise="prediction"`, `resample="both"`',
            f"**{FUTURE_ANEW}**: the value that a new test set of the given "
            "size will show at the thresholds of a new development set as large as this one",
        ),
    ]
    return f"""## What a band covers

{table(["made with", "95 % of such bands cover"], lines)}
Use the first for a system whose thresholds are set, the second for a method that will be tuned again elsewhere; the
last two for what somebody will *see*, which varies more than what is true. Bands with `resample="both"` are also
compared with the value at the **{BEST}**, those that the criterion would choose on the whole population.

Pointwise, "95 % of bands" holds at each alpha; `simultaneous=True` makes it hold for all alphas of a curve at once.
Measured at alpha = 0.1, 0.2, ..., 0.9. At 0 and 1 the threshold is the lowest or highest score of a class, which no
bootstrap can resample beyond: no coverage is claimed there.
"""


def _default(record: Record) -> str:
    lines, chosen = candidates(record)
    same = "That is the default." if chosen == DEFAULT else f"The default is **{DEFAULT}** all the same."
    verdict = f"**{chosen}**" if chosen else "none of them"
    few = record.get("bands", "10 users, 9 + 20 trials, medium effect", "user, percentile", KEPT)
    better = record.get("bands", "10 users, 9 + 20 trials, medium effect", DEFAULT, KEPT)
    return f"""## The default where users are known

The rule: of what never falls more than two points under 95 % on a population of 20 users or more (two standard errors
of measurement allowed), what is nearest to 95 % on average. Thresholds kept:

{lines}
The rule chooses {verdict}. {same}

With ten users the percentile interval of the user bootstrap covers {share(few)} %, the default {share(better)} %;
Priori warns where an interval that is not calibrated is made from fewer than twenty users, and of any made from fewer
than ten.

Where users are not known the default is the sample bootstrap, calibrated; it holds only if trials are independent,
and a warning is given where a user column is there and not used.
"""


def _bands(record: Record) -> str:
    kept = (
        "sample, percentile",
        "user-constrained, percentile",
        "user, percentile",
        "user, centred",
        DEFAULT,
        "joint, percentile",
    )
    anew = ("sample, percentile", "user, percentile", "user, centred", DEFAULT, "joint, percentile")
    joint, default = (record.get("bands", GRID[0].title, method, KEPT) for method in ("joint, percentile", DEFAULT))
    ratio = f"{joint.width / default.width:.1f}" if joint and default else "?"
    return f"""## Pointwise bands

Coverage in per cent and, in brackets, the mean width in HTER %. A population is so many users with so many genuine and
impostor trials each; two scores of a user are correlated by 0.09 (weak), 0.25 (medium), 0.64 (strong).

Thresholds kept (`resample="test"`):

{grid(record, "bands", KEPT, kept)}
Expected curve (`resample="both"`):

{grid(record, "bands", EXPECTED, anew)}
The same bands, against the value at the best thresholds:

{grid(record, "bands", BEST, anew, show=share)}
The joint bootstrap counts the spread within users twice, so as a confidence band it is too wide wherever users have
few trials: where trials are independent, {ratio} times as wide as the default.

Predictions, of a test set with {GROWTH} times as many users; thresholds kept, and new thresholds:

{_predictions(record)}
## Simultaneous bands

The share of whole curves, at nine alphas, that lie inside (thresholds kept, unless said). The default is
{DEFAULT}; in the last line, here and in the table above, {DEFAULT_CROSSED}.

{_simultaneous(record)}"""


def _hard(record: Record) -> str:
    """The populations on which defaults are tried hardest; nothing where they were not measured."""
    rows = record.of(part=HARD_PART)
    if not rows:
        return ""
    lines = []
    for row in rows:
        if "simultaneous" in row.method:
            continue
        wide = record.get(HARD_PART, row.population, f"{row.method}, simultaneous", row.promise)
        measure = row.method.removeprefix(f"{HARD_DEFAULT}, ")
        lines.append([row.population, measure, row.promise, covered(row), covered(wide), row.warnings or "–"])
    head = ["population", "measure", "covers", "default", "simultaneous", "warnings, in % of results"]
    return f"""## Where it is hard

The defaults on populations that no interval finds easy: users with very unequal numbers of trials, users of one class
only, errors that a few users make, impostors whom no column names, a share of positives left to chance, a development
set far smaller than the test set. Coverage in per cent and, in brackets, the mean width (%); beside it the warnings
that the results themselves carried, by their codes, with the share of results that did.

{table(head, lines)}
Where the errors that matter are those of fewer than five users, or where nobody names the impostors, no interval from
these data can be sure: that is what `few-erring-users`, `no-errors` and `unknown-impostors` say.
"""


def _predictions(record: Record) -> str:
    lines = []
    for population in record.populations("bands"):
        default = default_for(population)
        cells = [
            record.get("bands", population, method, promise)
            for method, promise in (
                ("sample, calibrated", FUTURE_KEPT),
                ("user, percentile", FUTURE_KEPT),
                (default, FUTURE_KEPT),
                (default, FUTURE_ANEW),
            )
        ]
        lines.append([population, *(covered(cell) for cell in cells)])
    return table(["population", "sample, calibrated", "user, percentile", "default", "default, new thresholds"], lines)


def _simultaneous(record: Record) -> str:
    lines = []
    for population in record.populations("bands"):
        default = default_for(population)
        wanted = (
            ("user, percentile", KEPT),
            ("joint, percentile", KEPT),
            (default, KEPT),
            (default, EXPECTED),
            (default, FUTURE_KEPT),
            (default, FUTURE_ANEW),
        )
        cells = [record.get("bands", population, f"{method}, simultaneous", promise) for method, promise in wanted]
        lines.append([population, *(covered(cell) for cell in cells)])
    head = [
        "population",
        "user, percentile",
        "joint, percentile",
        "default",
        f"default: {EXPECTED}",
        f"default: {FUTURE_KEPT}",
        f"default: {FUTURE_ANEW}",
    ]
    return table(head, lines)


def _curves(record: Record) -> str:
    methods = ("user, percentile", DEFAULT, "crossed, percentile", f"{DEFAULT}, simultaneous")
    return f"""## ROC curves, and areas

Vertical bands of the ROC curve, a posteriori: coverage and width (%) of the true positive rate at false positive rates
of 2, 5, 10, 20 and 50 %. Where hardly a true positive is missed a percentile band is a line without width, and holds
nothing; the calibrated one allows for half a miss.

{grid(record, ROC_PART, PROMISE, methods)}
At rates that few negatives make, calibrated bounds up to 5/n come from order statistics and the result warns; below
1/n a band is refused:

{grid(record, LOW_PART, PROMISE, methods[:2])}
The areas E_V1, E_V2 and G, thresholds kept:

{grid(record, AREA_PART, KEPT, methods[:2])}"""


def _crossed(record: Record) -> str:
    part = "one rate, crossed"
    methods = (
        "sample, percentile",
        "user, percentile",
        "joint, percentile",
        "crossed, percentile",
        DEFAULT_CROSSED,
        "adjusted-wilson, user",
        "adjusted-wilson, crossed",
    )
    adjusted = record.of(part=part, method="adjusted-wilson, crossed")
    calibrated = record.of(part=part, method=DEFAULT_CROSSED)
    bands = ("user, percentile", DEFAULT, "joint, percentile", "crossed, percentile", DEFAULT_CROSSED)
    return f"""## Both identities known: crossed trials

An impostor trial has two people in it, and is like every other trial of either. Coverage and width (%) of the FAR at a
known threshold, {calibrated[0].repeats if calibrated else 0} sets each:

{grid(record, part, PROMISE, methods)}
Drawing users sees one of the two people. Drawing identities and weighting a trial by both (crossed, percentile) counts
what is the trial's own three times; its calibrated interval divides that out. The dependence-adjusted Wilson interval
(`rate_interval`) needs no bootstrap: an effective number of trials from the two-way variance, and Student's quantile.
So where both identities are known the default is **{DEFAULT_CROSSED}** for curves ({spread(calibrated)} for this FAR)
and **adjusted-wilson** for single rates ({spread(adjusted)}). The HTER along a curve, thresholds kept:

{grid(record, "bands", KEPT, bands, populations=[CROSSED_TITLE])}"""


def _paper(record: Record) -> str:
    def found(effect: float, thresholds: str, method: str) -> Row | None:
        return record.get(paper.PART, paper.title(effect), method, f"thresholds {thresholds}")

    methods = (paper.SAMPLE, paper.CONSTRAINED, paper.USER, paper.JOINT, paper.PREDICTION)
    lines = [
        [
            f"{paper.EFFECTS[case[0]]} effect, thresholds {case[1]}",
            *(covered(found(*case, method)) for method in methods),
        ]
        for case in paper.CASES
    ]
    pairs = [(found(effect, "kept", paper.PREDICTION), found(effect, "kept", paper.JOINT)) for effect in paper.EFFECTS]
    narrower = [f"{100 * (1 - ours.width / joint.width):.0f} %" for ours, joint in pairs if ours and joint]
    ours = [row for row, _ in pairs if row]
    error = max((row.standard_error for row in ours), default=math.nan)
    conjecture = record.of(part=paper.PART, method="conjecture (14)")
    lowest = min((row.measured for row in conjecture), default=math.nan)
    always = "all" if lowest == 1 else f"at least {percent(lowest)} %"
    return f"""
## The 2007 paper's experiment

Bands from 31 users, and how much of the curve of 62 others they cover (section 5 of Poh and Bengio, `priori coverage
--simulate`), on simulated pools of the NIST 2005 subset's shape: 24 systems with equal error rates from 5 to 25 %, 9
genuine and 96 impostor trials a user. Coverage of the whole curve, alpha from 0 to 1, and expected width in HTER %:

{table(["", "sample", "user-constrained", "user", "joint (the paper's)", "prediction (ours)"], lines)}
The paper's coverage is that of a *prediction*, reached by a confidence band that happens to be wide enough. A band made
to predict covers {spread(ours)} (standard errors up to {percent(error)}) where the thresholds are those fixed in
advance, and is {", ".join(narrower)} narrower than the joint bootstrap's: thresholds that will not change need not be
resampled. Where the unseen curve has thresholds of its own (last line) both sets are resampled, and both ends of the
curve, set by extreme scores, are missed by every method.

Conjecture (14), width(S, 1) <= width(1, U) <= width(S, U), held for {always} of the single bands.
"""


def _tests(record: Record) -> str:
    first = (
        "bootstrap, by default",
        "bootstrap, by default, simultaneous",
        "bootstrap, by default, area",
        "bootstrap, by default, both sets redrawn",
        "bootstrap, user, percentile",
        "bootstrap, joint, percentile",
        "bootstrap, sample, percentile",
    )
    names = (
        "default",
        "default, simultaneous",
        "default, area",
        "default, both sets",
        "user, percentile",
        "joint, percentile",
        "sample, percentile",
    )
    error, wide = (
        percent(max((row.standard_error for row in record.of(part="tests", method=name)), default=math.nan))
        for name in (first[0], first[1])
    )
    second = ("z-test, dependent", "z-test, independent", "McNemar's, FAR", "DeLong's, paired, AUC")
    over = [
        f"{row.population}, {names[first.index(row.method)]}: {percent(row.measured)} %, warned of by {said.warnings}"
        for row in record.of(part="tests")
        if row.method in first[:4] and row.measured > 0.08
        if (said := record.get("tests", row.population, first[0], NULL))
    ]
    return f"""## Tests: two systems that do not differ

The share (%) of true nulls rejected at the 5 % level, by `priori compare`'s paired bootstrap of the HTER:

{grid(record, "tests", NULL, first, show=share, names=names)}
Standard errors are up to {error} points for single alphas and {wide} for all alphas or the area; of so many numbers
one or two are three of them off by chance. "Both sets" is the claim about methods. And by the z-tests and McNemar's,
which take trials for independent, true of the first line only, and by DeLong's with Obuchowski's variance of users:

{grid(record, "tests", NULL, second, show=share)}
Defaults over 8 %, with the warnings of their results (in % of them): {"; ".join(over) or "none"}.

The z-tests here are at one known threshold. With users they reject too often, as McNemar's does: use the bootstrap.
"""


def _single(record: Record) -> str:
    methods = ("normal", "wilson", "exact", "adjusted-wilson", "z-test's HTER (3.30)")
    return f"""## One rate at a known threshold

Coverage and width (%) of the FAR, and of the HTER by the z formula:

{grid(record, "one rate", PROMISE, methods)}
`adjusted-wilson` (`rate_interval`) allows for users; the others take trials for independent. If they are, exactly:

{grid(record, "one rate, exactly", PROMISE, methods[:3])}
{_limits(record)}"""


def _limits(record: Record) -> str:
    names = ("at-most-far", "at-most-far:0.95, trials", "at-most-far:0.95, users", "at-most-frr:0.95, users")
    methods = [f"{name}, {limit} %" for limit in (1, 5) for name in names]
    repeats = max((row.repeats for row in record.of(part=LIMIT_PART)), default=0)
    return f"""## Limits: at most so much

How often (%) the rate of the whole population keeps the limit of 1 % or of 5 %, with the threshold chosen on a
development set ({repeats} sets each). `at-most-far` keeps it on the development set, so in the population about every
second time. `at-most-far:0.95` is to keep it in 95 %: told of the trials alone, and of the users.

{grid(record, LIMIT_PART, KEEPS, methods, show=share)}
How often (%) this is so only because the threshold is infinite: the set is too small for the limit, and everything is
rejected (or, for a limit of the FRR, accepted). A share near 100 above says little where this one is large:

{grid(record, LIMIT_PART, EMPTY, methods, show=share)}
Where users are unlike each other, or have unequal numbers of trials, and how often the result warns that the limit is
kept for users like these only (`limit-by-users`; where the threshold is infinite there is nothing to warn of):

{_hard_limits(record)}"""


def _hard_limits(record: Record) -> str:
    methods = [f"at-most-far:0.95, {what}, {limit} %" for limit in (1, 5) for what in ("trials", "users")]

    def kept_and_warned(row: Row | None) -> str:
        warned = re.search(r"limit-by-users (\d+)", "" if row is None else row.warnings)
        return share(row) + (f", warned {warned[1]}" if warned else "")

    return grid(record, HARD_LIMITS, KEEPS, methods, show=kept_and_warned)


def _people(record: Record) -> str:
    if not record.populations(people.GROUPS_PART):
        return ""
    return f"""## People: groups and users

Rates by group at a known threshold (`group_rates`), users of 20 trials with a medium effect: coverage (width, %) of the
intervals of all groups together, and of the largest gap and ratios between groups. Where groups are alike the intervals
of differentials are one-sided, and cover more than they say:

{grid(record, people.GROUPS_PART, PROMISE, ("all groups", "gap", "ratio", "ratio-to-mean"), show=_without_ratio_width)}
Each user's own rate (`user_rates`), the mean over users: shrunken, beside Wilson's interval of his own trials alone.
The true rates are not from a beta distribution:

{grid(record, people.USERS_PART, PROMISE, ("shrunken", "wilson, alone"))}
Each user's own curve (`epc_by(...).interval()`), the HTER at thresholds as they are:

{grid(record, people.CURVES_PART, PROMISE, ("alpha 0.2", "alpha 0.5"))}
The test of users that err alike at the 5 % level, 40 people of 39 impostor and 9 genuine trials: the share (%) of sets
in which users are said to differ, by role:

{grid(record, people.DIFFER_PART, PROMISE, ("genuine", "claimed", "impostor"), show=share)}"""


def _without_ratio_width(row: Row | None) -> str:
    return share(row) if row is not None and row.method.startswith("ratio") else covered(row)


def _other(record: Record) -> str:
    aucs = tuple(name for name, *_ in AUC_INTERVALS)
    averages = ("t, AUC", "normal, AUC", "bootstrap, AUC", "t, TPR", "normal, TPR", "bootstrap, TPR")
    return f"""## AUC, and averages over data sets

Intervals of the AUC, a posteriori. DeLong's take trials for independent; Obuchowski's allow for users, and by logit
are the default where users are known:

{grid(record, "AUC, a posteriori", PROMISE, aucs)}
Averages of the curves of several data sets (the mean AUC, and the vertical average at a false positive rate of 0.2):

{grid(record, "average of data sets", PROMISE, averages)}
Student's t is the default. Where weights are unequal, or another interval is made of few sets, the result says what
the sets are worth.
"""


def _ratios(record: Record) -> str:
    return f"""## Costs of log-likelihood ratios

Coverage and width of the intervals of `llr_costs`, detection costs at alpha 0.9. The scores are exact ratios, unless
they are multiplied:

{grid(record, RATIOS, PROMISE, COSTS[::3])}
How often (%) `compare_llr_costs` says that two systems differ which do not, at 5 %:

{grid(record, TESTED, NULL, COSTS, show=share)}
Of minima, which are fitted to the users that they are judged on, it says so too often with 20 users: the result warns
(`few-users`) where there are fewer than 40. A loss that is near 0 for both systems is hardly ever said to differ.

Minima and losses have no interval. A minimum is fitted to the test set, so that it is too low; intervals that allowed
for that, by factors set on normal scores like these, were measured to cover as little as 74 %.
"""


def _attacks(record: Record) -> str:
    rows = record.of(part="attacks")
    if not rows:
        return ""
    lines = [[row.population, row.method, row.promise, covered(row), str(row.repeats)] for row in rows]
    return f"""## Attacks

Bands of HTER_omega at omega = 0.4 and beta = 0.5, and the intervals of the largest APCER and of the ACER. That of the
largest APCER is conservative where several types are about as bad:

{table(["population", "interval", "about", "covered %", "sets"], lines)}"""


def _folds(record: Record) -> str:
    return f"""## One labelled set, cross-fitted

Coverage and width of the default band of `cross_epc`, 5 folds, users in one fold only. The band keeps the thresholds
of every fold: it is about the mean error of these thresholds on the population.

{grid(record, folds.PART, folds.KEPT, (folds.METHOD, folds.APART))}
Asked for the error of the thresholds of the whole set, which are the ones to deploy, it covers a little less, and for
the mean over all such sets, which it does not promise, clearly less:

{grid(record, folds.PART, folds.WHOLE, (folds.METHOD,))}
{grid(record, folds.PART, folds.EXPECTED, (folds.METHOD,))}"""


def _plans(record: Record) -> str:
    names = tuple(name for name in record.populations(plans.PART) if name != plans.PAIR.title)
    return f"""## Plans

How often (%) a study of the planned size has an interval as narrow as planned, with the mean width; asked: 80 %.
Where there is a pilot, the study chooses new thresholds, and the interval is the default band's:

{grid(record, plans.PART, plans.WIDTH, (plans.ASSURED, plans.EXPECTED), populations=names)}
How often (%) `compare` finds the difference that was planned for; asked: 80 %. In brackets the mean number of users:

{grid(record, plans.PART, plans.POWER, tuple(plans.CLAIMS), show=_with_users, populations=(plans.PAIR.title,))}"""


def _with_users(row: Row | None) -> str:
    return "–" if row is None else f"{percent(row.measured)} ({100 * row.width:.0f})"


def _how(record: Record) -> str:
    errors = [row.standard_error for row in record.of(part="bands", promise=KEPT) if "simultaneous" not in row.method]
    wide = [row.standard_error for row in record.of(part="bands", promise=KEPT) if "simultaneous" in row.method]
    anew = [row.standard_error for row in record.of(part="bands", promise=EXPECTED) if "simultaneous" not in row.method]
    tests = [row.standard_error for row in record.of(part="tests")]
    worst = [f"{100 * max(group, default=math.nan):.1f}" for group in (errors, wide, anew, tests)]
    repeats = max((row.repeats for row in record.of(part="bands")), default=0)
    return f"""## How it was measured

Scores are normal with variance 1 in each class; `priori.studies.simulation` draws them and knows the true rates.
Up to {repeats} sets of each population. Standard errors are at most {worst[0]} points for pointwise bands with
thresholds kept, {worst[1]} for simultaneous ones, {worst[2]} where both sets are resampled, {worst[3]} for tests.
Bands have 399 replicates here, which costs a little coverage; the default is 10,000.
"""


# -- the test of systems as methods: its own record, validation/method/record.csv ------------------------------------


def which_claim(rows: Iterable[Row]) -> str:
    """The section on tests of systems as methods, and on the band of one."""
    record = Record(rows)
    alphas = [f"alpha {k / 10}" for k in range(1, 10)]

    def lines(part: str, method: str) -> list[list[str]]:
        return [
            [title, *(share(record.get(part, title, method, alpha)) for alpha in alphas)]
            for title in record.populations(part)
        ]

    head = ["population", *(alpha.removeprefix("alpha ") for alpha in alphas)]
    ours, kept, raw = "method", "thresholds kept", "observed difference, both resampled"
    together = [
        [title, share(row), (row.warnings if row else "") or "–"]
        for title in record.populations("size")
        for row in [record.get("size", title, ours, "all alphas together")]
    ]
    power = [
        [method, *(share(record.get("power", title, method, alpha)) for alpha in alphas)]
        for title in record.populations("power")[:1]
        for method in (ours, raw, "oracle on the observed", kept)
    ]
    error = percent(max((row.standard_error for row in record.of(part="size", method=ours)), default=math.nan))
    return f"""## Which claim: two systems as methods

Null: *tuned on a development set of this size, both systems have the same expected HTER in the population*; the mean
is over development sets. Where systems are not drawn alike, the null tested is the true difference. The share (%) of
true nulls rejected at the 5 % level by `claim="method"`, at each alpha (standard errors up to {error}):

{table(head, lines("size", ours))}
Its simultaneous test, the share (%) of sets where any alpha from 0.1 to 0.9 is rejected; beside it the warnings and
notes that the results of both tests carried, by their codes, with the share of results that did:

{table(["population", "rejected", "warnings, in % of results"], together)}
The test of the other claim (`claim="deployed"`, the thresholds at hand kept) has another null: *these two thresholds
have the same HTER in the population*. Taken for a test of the methods it rejects far too often:

{table(head, lines("size", kept))}
Power (%), {", ".join(record.populations("power")[:1])}; the oracle knows the standard deviation of the observed
difference, "both resampled" estimates it:

{table(["test", *head[1:]], power)}
One system's expected curve (`resample="both"`), coverage (%) of its 95 % interval; below 30 development users, or 100
development trials of a class where users are not known, the result says that it is doubtful:

{table(head, lines("band", "band of one system"))}
{_out_of_bounds(record)}"""


def _out_of_bounds(record: Record) -> str:
    """Every test of methods over 8 % and every band of one system under 92 %, with the warnings of its results."""
    over = [row for row in record.of(part="size", method="method") if row.measured > 0.08]
    under = [row for row in record.of(part="band") if row.measured < 0.92]
    if not over + under:
        return "No test here rejects more than 8 % of true nulls, and no band covers less than 92 %."
    lines = [
        [row.population, "test" if row in over else "band", row.promise, share(row), row.warnings or "–"]
        for row in over + under
    ]
    return "Tests over 8 % and bands under 92 %, with the warnings that their results carried:\n\n" + table(
        ["population", "of", "at", "%", "warnings, in % of results"], lines
    )


# -- many systems: its own record, validation/leaderboards/record.csv -------------------------------------------------


def leaderboards(rows: Iterable[Row]) -> str:
    """The section on leaderboards: tests of all pairs, ranks, the best, and both rankings."""
    record = Record(rows)
    ranks, best = ("all pairs", "all ranks"), ("model confidence set", "the best")
    claims = ("deployed", "method")

    def lines(kinds: Sequence[tuple[str, str, str]], part: str) -> list[list[str]]:
        return [
            [title, *(share(record.get(kind, title, *key)) for kind, *key in kinds)]
            for title in record.populations(part)
        ]

    errors = [(claim, *key) for key in (("all pairs", "familywise error"), ranks, best) for claim in claims]
    power = [("deployed", method, "power") for method in ("max-T", "Holm, normal tails", "Holm, replicates counted")]
    both = [("both rankings", *key) for key in (ranks, best, ("interval", "Kendall's tau"), ("any", "false moves"))]
    named = [f"{what}, {claim}" for what in ("familywise error", "ranks", "the best") for claim in claims]
    tested = [row for row in record.rows if row.promise == "familywise error"]
    pooled = {
        claim: sum(row.measured * row.repeats for row in tested if row.part == claim)
        / max(sum(row.repeats for row in tested if row.part == claim), 1)
        for claim in claims
    }
    error = percent(max((row.standard_error for row in tested), default=math.nan))
    return f"""## Leaderboards

Two systems are better than the rest, and exactly equal to each other, as the rest are among themselves. The share (%)
of leaderboards in which any pair is wrongly told apart, or the wrong way round (5 % allowed; standard errors up to
{error}); in which the intervals of all ranks hold; and in which both of the best are among those that could be the
best. Over all of them the familywise error is {percent(pooled["deployed"])} % (deployed) and
{percent(pooled["method"])} % (method):

{table(["population", *named], lines(errors, "deployed"))}
A hundred systems are too many for 20 users: their largest difference lies further out than so few can show. Where there
are more than two systems for each user the result says so (`many-systems`).

Power (%): the share of true differences found, thresholds kept, beside Holm's procedure on the p-values of single
pairs. From 999 replicates counted, as bootstraps are, Holm's can find nothing among so many pairs:

{table(["population", "max-T", "Holm, normal tails", "Holm, replicates counted"], lines(power, "deployed"))}
Systems from bad to good in equal steps: with the best thresholds (graded), so that both rankings agree in truth, or
with thresholds away from them (moved). Coverage (%) of all ranks, of the best, and of Kendall's tau between the true
rankings; the share of leaderboards with any false move:

{table(["population", "ranks", "the best", "Kendall's tau", "false moves"], lines(both, "both rankings"))}"""
