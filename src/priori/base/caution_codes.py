"""The codes of cautions: when each is given, how much it matters, what to do, and the page that has more on it."""

from __future__ import annotations

from functools import partial
from typing import Literal, NamedTuple

Level = Literal["warning", "note"]


class CautionKind(NamedTuple):
    """What the cautions of one code have in common; ``page`` is a page of the documentation, without its ending."""

    level: Level
    heading: str
    meaning: str
    matters: str
    remedy: str
    page: str


_warning, _note = partial(CautionKind, "warning"), partial(CautionKind, "note")

#: Every code. Those of one level stand in the order in which they are shown, the gravest first.
CODES: dict[str, CautionKind] = {
    # The data are not what they are taken for.
    "same-data": _warning(
        "Development and test set are the same",
        "Development and test set hold the same scores: nothing is a priori.",
        matters="The threshold was chosen on the scores that judge it, so every rate looks better than it will be.",
        remedy="Give a test set of its own, or divide one file: --split 50/50, --folds 5.",
        page="concepts/a-priori",
    ),
    "reversed-scores": _warning(
        "Scores look reversed",
        "Positives score lower than negatives: the AUC is clearly below 0.5.",
        matters="A high score speaks for the positive class here. If yours are distances, every decision is inverted.",
        remedy="Give --lower-is-better for distances. Otherwise check which label is positive (--positive).",
        page="howto/distances",
    ),
    "flipped-labels": _warning(
        "Labels look flipped",
        "Positives score higher in one of the two sets and lower in the other.",
        matters="The labels of one set are the wrong way round, or its scores are distances: no number means anything.",
        remedy="Compare the labels of the two files, and their scores.",
        page="formats",
    ),
    "shared-trials": _warning(
        "Development and test set share trials",
        "Some trials of the test set are in the development set too.",
        matters="Rates on trials that helped to choose the threshold are too good; how much depends on their share.",
        remedy="Remove these trials from one of the two sets.",
        page="concepts/a-priori",
    ),
    "different-scales": _warning(
        "Scores on different scales",
        "The scores of one set, or of one data set of an average, are shifted or spread much more widely.",
        matters="A threshold carries over only if both sets are scored on one scale; otherwise it lies anywhere.",
        remedy="Check that one system, normalised alike, scored all; in an average, use --own-thresholds.",
        page="concepts/a-priori",
    ),
    "dev-looks-trained-on": _warning(
        "The development set looks trained on",
        "The development scores separate the classes perfectly and the test scores do not.",
        matters="Scores of training data are too extreme, so a threshold chosen on them does not fit unseen data.",
        remedy="Choose thresholds on data that the system was not trained on, for instance on cross-validated scores.",
        page="howto/one-set",
    ),
    "attacks-pooled": _warning(
        "Attacks and impostors in one class",
        "Attacks are counted as impostors: the FAR depends on their number.",
        matters="A set with more attacks in it has another FAR, though the system is the same.",
        remedy="Use priori epsc, which weighs attacks by the share you expect, or leave them out with --where.",
        page="howto/attacks",
    ),
    "repeated-trials": _warning(
        "Repeated trials",
        "A trial id occurs more than once in a set.",
        matters="A copy tells nothing new but is counted as a trial: intervals are too narrow and p-values too small.",
        remedy="Keep one row for each trial.",
        page="formats",
    ),
    "not-likelihood-ratios": _warning(
        "Scores are not likelihood ratios",
        "Scores are used as log-likelihood ratios but do not look like them.",
        matters="A threshold by theory fits log-likelihood ratios only, and can cost more than no system at all.",
        remedy="Calibrate them on the development set: --criterion bayes:logistic.",
        page="howto/likelihood-ratios",
    ),
    "separated-development": _warning(
        "Calibrated on separated classes",
        "Logistic regression was fitted on development classes that a threshold separates.",
        matters="Nothing but the number of trials then limits the slope: calibrated scores are too sure of themselves.",
        remedy="Calibrate on more development trials, until the classes overlap.",
        page="howto/likelihood-ratios",
    ),
    "disagreement": _warning(
        "Development and test set disagree",
        "The error rates at the threshold differ between the two sets by more than chance.",
        matters="The two sets come from different conditions or people. Those of use may differ as much again.",
        remedy="Find out how the sets differ, and choose thresholds on data like those of use.",
        page="concepts/promises",
    ),
    "extreme-threshold": _warning(
        "A threshold that accepts or rejects everything",
        "The threshold accepts, or rejects, at least 99 % of both classes.",
        matters="At this trade-off the scores do not help: always deciding the same way costs as little.",
        remedy="Choose another alpha, or costs that fit the use; see whether the scores separate the classes at all.",
        page="concepts/criteria",
    ),
    "limit-not-kept": _warning(
        "A limit that is not kept",
        "No useful threshold keeps the limit on the development set.",
        matters="The threshold shown breaks the limit or decides nothing.",
        remedy="Use more development trials, a looser limit or a lower confidence level.",
        page="howto/at-most",
    ),
    "limit-by-users": _warning(
        "A limit for users like these",
        "A limit is promised for the population, but rare users who err often may be missing in this set.",
        matters="The promise then holds some points less often than stated.",
        remedy="Choose the threshold on more users, or leave a margin below the limit.",
        page="coverage",
    ),
    "prior-shift": _warning(
        "The sets have different shares of positives",
        "The measure depends on the share of positives, which differs between the sets.",
        matters="The threshold is best for the development set's share, and the test set's value is for another.",
        remedy="Give the share of use by --prior, or use a measure that ignores it, such as HTER.",
        page="concepts/criteria",
    ),
    "unseen-attacks": _warning(
        "Attacks not in the development set",
        "Some types of attacks are in the test set only.",
        matters="The threshold was chosen without them, so their rate is what an unknown attack would reach.",
        remedy="Report these types as unseen, or add them to the development set.",
        page="howto/attacks",
    ),
    # Who the trials come from.
    "users-unused": _warning(
        "User column not used",
        "The users of the trials are known, but trials are resampled, or tested as independent.",
        matters="Trials of one user err together. Intervals that ignore it are far too narrow where users differ.",
        remedy="Use --bootstrap user or auto; instead of a z-test, compare.",
        page="coverage",
    ),
    "probes-left-out": _warning(
        "Only the claimed identity is used",
        "Both identities are known; a scan uses the claimed one only.",
        matters="One person who is tried against many users counts as many: the interval of the FAR is too narrow.",
        remedy="Use --bootstrap crossed, or --engine memory if the scores fit.",
        page="scale",
    ),
    "few-units": _warning(
        "Few users",
        "The errors come from few of the users (trials, where users are not known), or users are few: they do not show "
        "how much users differ.",
        matters="The next user may change the rate, and intervals cover less often than stated.",
        remedy="Test more users; more trials of the same users help little. priori plan says how many.",
        page="coverage",
    ),
    "size-follows-error": _warning(
        "Users who try more err more",
        "A rate per trial depends on heavy users, whom a set of this size may lack: its interval may be too narrow.",
        matters="Intervals cover some points less often than stated.",
        remedy="Report the rate per user as well (--weight user), which does not depend on heavy users.",
        page="coverage",
    ),
    "no-errors": _warning(
        "No errors",
        "No false acceptance, or rejection, was seen: the upper bound rests on the number of users.",
        matters="A rate of 0 is the best guess, but not a promise: look at the upper bound.",
        remedy="Report the upper bound. For a lower one test more users.",
        page="tests",
    ),
    "margin-needs-users": _warning(
        "Too few users for the margin",
        "Users are so few that none of their data could show that the margin is kept.",
        matters="Even if no user here is harmed, a share of others that breaks the margin cannot be excluded.",
        remedy="Test as many users as the caution says, or choose a wider margin.",
        page="tests",
    ),
    "few-pilot-users": _warning(
        "Few pilot users",
        "The plan is based on a pilot with few users.",
        matters="How much users differ is known only roughly, and so are the numbers planned.",
        remedy="Plan for more than it says, or plan again after the first part of the study.",
        page="howto/how-many-users",
    ),
    # How intervals and tests were made.
    "few-users-plain": _warning(
        "Interval not calibrated",
        "A percentile or centred interval with few users: its coverage is too low.",
        matters="It covers up to ten points less often than stated.",
        remedy="Use the default, --interval calibrated.",
        page="coverage",
    ),
    "small-development": _warning(
        "Small development set",
        "The development set is small, or has few errors, and new thresholds are chosen on it.",
        matters="New thresholds vary more than so few trials can show: intervals are too narrow far from alpha 0.5.",
        remedy="Use more development trials, or keep the thresholds as they are: --resample test.",
        page="howto/small-dev-set",
    ),
    "few-dev-users": _warning(
        "Few development users",
        "Fewer than 30 development users: too few to see how thresholds vary.",
        matters="What is expected of the method is uncertain, most of all near alpha 0 and 1.",
        remedy="Use more development users, or compare these thresholds: --claim deployed, --resample test.",
        page="howto/small-dev-set",
    ),
    "many-systems": _warning(
        "Many systems for few users",
        "More than two systems per user, all tested together.",
        matters="About one such ranking in ten separates systems that are equal, instead of one in twenty.",
        remedy="Rank fewer systems, or test more users.",
        page="howto/leaderboard",
    ),
    "value-outside": _warning(
        "An interval without its estimate",
        "An interval excludes its own estimate.",
        matters="The replicates are too few or too skewed for this interval.",
        remedy="Give more --resamples; if it stays so, report a bug.",
        page="concepts/bootstraps",
    ),
    "few-replicates": _warning(
        "Few replicates",
        "The replicates are too few for the confidence level, or for any p-value to be significant.",
        matters="The ends of the interval move with the seed; no difference, however large, may be significant.",
        remedy="Give as many --resamples as the caution says; the default is 10,000.",
        page="concepts/bootstraps",
    ),
    "low-fpr": _warning(
        "Low false positive rates",
        "Too few negatives for a ROC band at these false positive rates.",
        matters="Five negatives or fewer lie beyond the threshold, which says little about the TPR there.",
        remedy="Use more negatives, or read the curve at higher false positive rates.",
        page="coverage",
    ),
    "normal-fits-badly": _warning(
        "Normal approximation",
        "A rate is too small, or its trials too few, for a z-test.",
        matters="The z-test's interval is too narrow on the side of more errors, and may go below 0.",
        remedy="Use the exact or the Wilson interval that the caution gives, or a bootstrap.",
        page="tests",
    ),
    "wrong-direction": _warning(
        "One-sided test",
        "The difference is in the direction opposite to the one tested.",
        matters="It cannot be significant, however large; turning the test round after looking doubles the error.",
        remedy="Fix the direction before looking at the data, or test both: --alternative two-sided.",
        page="tests",
    ),
    "no-variance": _warning(
        "Variance of zero",
        "The scores show no variance of the AUC.",
        matters="DeLong's interval would have no width, so one for independent pairs of trials stands in its place.",
        remedy="Use more trials.",
        page="tests",
    ),
    "infinite-cost": _warning(
        "An infinite cost",
        "A log-likelihood ratio is infinite on the wrong side.",
        matters="One trial decides: Cllr is infinite, whatever the others are like.",
        remedy="Keep log-likelihood ratios finite, or calibrate them: --calibrate logistic.",
        page="howto/likelihood-ratios",
    ),
    "few-sets": _warning(
        "Few data sets",
        "An average over few data sets, or one in which a few have most of the weight.",
        matters="Its interval covers a few points too little.",
        remedy="Average more data sets, give them equal weights, and use --interval t.",
        page="averaging",
    ),
    "ties": _warning(
        "Many equal scores",
        "More than 5 % of the trials of a class have the same score.",
        matters="Error rates change in large steps: a rate between two steps cannot be reached.",
        remedy="Keep more digits of the scores. Where the system gives no others, nothing is wrong.",
        page="arithmetic",
    ),
    # Good to know.
    "shared-users": _note(
        "Users in both sets",
        "Some users of the test set are in the development set too.",
        matters="The threshold has seen these users: the rates may be too good for new ones.",
        remedy="For a claim about new users keep each user in one set; --split does so.",
        page="concepts/promises",
    ),
    "users-partly-shared": _note(
        "Users in both sets resampled independently",
        "Some users are in both sets, and the two sets are resampled independently.",
        matters="A user's behaviour in one set then tells nothing of the other: intervals may be a little off.",
        remedy="Use --shared-users to resample them together.",
        page="concepts/bootstraps",
    ),
    "users-unknown": _note(
        "Users not known",
        "The users of the trials are not known: a plan may be too small.",
        matters="Where users bring several trials each, the trials are worth fewer than their number.",
        remedy="Give a pilot with users, or --intraclass.",
        page="howto/how-many-users",
    ),
    "unknown-impostors": _note(
        "Impostors not known",
        "Users differ, and nothing says who the impostors were: an interval of the FAR may be too narrow.",
        matters="Where few people made these trials, their number is what counts, and it is not known.",
        remedy="Name who was really there: --column probe_user=NAME.",
        page="coverage",
    ),
    "many-groups": _note(
        "Many groups",
        "More than 1,000 groups have rates, but are not compared pair by pair.",
        matters="The rates of the groups are complete; only their differences are left out.",
        remedy="Compare fewer groups. For users use --by user.",
        page="howto/people",
    ),
    "around-expected": _note(
        "An interval around the expected value",
        "The interval is around the expected value and excludes the observed one.",
        matters="It is about thresholds of all such development sets; with yours the system did better or worse.",
        remedy="Report both, or use --resample test for an interval around the observed value.",
        page="concepts/bootstraps",
    ),
    "ends": _note(
        "The ends of the curve",
        "New thresholds are chosen at alpha 0 or 1, where no coverage is claimed.",
        matters="There the threshold is the extreme score of a class, beyond which nothing can be resampled.",
        remedy="Read intervals between the ends.",
        page="coverage",
    ),
    "resampled-in-bins": _note(
        "Resampled in bins",
        "There are many distinct scores, and they were resampled in narrow bins.",
        matters="No rate is off by more than the caution says.",
        remedy="Nothing, as a rule.",
        page="scale",
    ),
    "counted-in-bins": _note(
        "Counted in bins",
        "The scores do not fit in memory and were counted in bins.",
        matters="No rate is off by more than the caution says.",
        remedy="Nothing, as a rule; --memory allows for narrower bins.",
        page="scale",
    ),
    "unbalanced": _note(
        "Unbalanced classes",
        "One class of the test set is ten times as large as the other.",
        matters="The uncertainty comes from the smaller class; more trials of the larger one change little.",
        remedy="To be surer, add trials of the smaller class.",
        page="howto/how-many-users",
    ),
    "missing": _note(
        "Missing scores count as rejections",
        "NaN scores count as rejected trials (--nan reject).",
        matters="A positive without a score is a false rejection; a negative without one is rejected rightly.",
        remedy="Nothing, if failures to acquire are to count; otherwise --nan drop.",
        page="howto/people",
    ),
    "no-bootstrap": _note(
        "No intervals",
        "No bootstrap was run.",
        matters="Curves have no bands, and differences are not tested: they may be chance.",
        remedy="Leave out --no-bootstrap, or give --bootstrap auto.",
        page="concepts/bootstraps",
    ),
}
