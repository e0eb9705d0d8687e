"""``priori compare``, ``priori rank``: is A better than B, and which of many is best?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import priori
from priori.base.errors import OptionError
from priori.base.options import Claim
from priori.base.texts import cell as percent
from priori.base.texts import p_text
from priori.cli.commands import CURVES, Asked, at_alpha, judging, make_command, output_group, resampling_options
from priori.cli.options import option, options
from priori.cli.output import Progress, tables_of
from priori.cli.systems import SETS, SYSTEMS
from priori.studies.evaluation.pairs import pairs_of
from priori.uncertainty.comparing.comparison import Comparison, comparison_of
from priori.uncertainty.comparing.evidence import gather_evidence
from priori.uncertainty.ranking.leaderboard import at_one_alpha, leaderboard_of
from priori.uncertainty.ranking.ranking import Ranking, ranking_of
from priori.words.sentences import (
    about_claim,
    about_interval,
    about_letters,
    about_ranks,
    difference,
    margin_regions,
    pointwise_regions,
)


@make_command(
    "compare",
    SYSTEMS,
    CURVES,
    option(
        "claim",
        default=None,
        help="Test systems tuned on similar development sets (method), or these thresholds (deployed). Default: "
        "method; with --folds, which keep their thresholds, deployed.",
    ),
    *options("margin unpaired histogram"),
    *resampling_options("auto", leave_out=("resample",)),
    output_group(plot="Draw the difference and its band (two systems)"),
)
def compare(asked: Asked) -> None:
    """Test whether systems differ, at thresholds fixed on development scores.

    Both systems are resampled by the same trials (or users): the test is paired. Trials
    are paired by their ids; by row only where there are none and the labels agree. The csv columns are alpha,
    value_a, value_b, difference (A minus B), expected (the difference that the test is about), lower, upper, p_value,
    significant. With more than two systems every pair is compared on the same draws, all are tested together (max-T),
    and the systems are ranked.

    \b
    Examples:
      priori compare --system A a-dev.csv a-test.csv --system B b-dev.csv b-test.csv
      priori compare --system A a-dev.csv a-test.csv --system B b-dev.csv b-test.csv --alpha 0.5 --format json
      priori compare --system A a-dev.csv a-test.csv --system B b-dev.csv b-test.csv --plot difference.svg
      priori compare --system A a-dev.csv a-test.csv --system B b-dev.csv b-test.csv --histogram 0.3 --plot at-0.3.svg
    """
    plot, systems = asked.output.plot, asked.systems
    if len(systems) < 2:
        raise OptionError("a comparison needs two systems or more: --system NAME DEV TEST, twice")
    if plot and len(systems) > 2:
        raise OptionError("--plot draws one difference; give two systems, or use 'priori report' for more")
    if asked.histogram is not None and not plot:
        raise OptionError("--histogram says what --plot draws; add --plot FILE")
    if asked.margin is not None and len(systems) > 2:
        raise OptionError("--margin is about two systems; give two, or leave it out")
    claim: Claim = asked.claim or ("method" if systems.folds is None else "deployed")
    curves = systems.curves(asked.settings)
    if not asked.unpaired:
        curves = systems.with_the_same_trials(curves, with_dev=claim == "method")
    how = asked.only("margin unpaired threads")
    with Progress("bootstrap of the differences") as progress:
        evidence = gather_evidence(curves, asked.resampling, claim, progress=progress, **how)
        result = comparison_of(evidence) if len(curves) == 2 else ranking_of(evidence)
    asked.output.finish(
        result,
        table=lambda: _table(result, curves) if isinstance(result, Comparison) else _ranking(result, curves),
        figure=lambda plots: (
            plots.plot_comparison(result) if asked.histogram is None else plots.plot_histogram(result, asked.histogram)
        ),
    )


def _table(result: Comparison, curves: Sequence[priori.EPC]) -> str:
    notes = [difference(curves, pairs_of(result), result.nearest(0.5))]
    if result.alpha.size > 1:
        notes.append(pointwise_regions(result))
        area, rate = result.area, bool(result.settings["rate"])
        value, low, high = (percent(number.item(), rate) for number in (area.expected, area.lower, area.upper))
        mean = "Mean difference" if result.settings["claim"] == "deployed" else "Mean expected difference"
        notes.append(f"{mean} over the alphas: {value} (from {low} to {high}, p: {p_text(area.p_value.item())}).")
    if result.margin is not None:
        notes.append(margin_regions(result, curves[0].measure))
    notes.append(about_claim(result.settings["claim"]))
    title = f"{result.settings['measure']} difference ({result.name_a} minus {result.name_b})"
    interval = about_interval(result.settings)
    alpha = curves[0].criterion.alpha_name
    return tables_of(result, title=f"{title}, {interval}", whole=False, note="\n".join(notes), alpha=alpha)


def _ranking(result: Ranking, curves: Sequence[priori.EPC]) -> str:
    verdict = difference(curves, pairs_of(result), int(np.argmin(np.abs(result.alpha - 0.5))))
    note = "\n".join([verdict, about_letters(result.confidence_level), about_claim(result.settings["claim"])])
    at = "mean over the alphas" if result.alpha.size > 1 else f"{curves[0].criterion.alpha_name} {result.alpha[0]:g}"
    return tables_of(result, title=f"{result.settings['measure']}, {at}", note=note)


@make_command(
    "rank",
    SETS,
    judging("systems are ranked at one alpha"),
    option("against"),
    option(
        "claim",
        default="deployed",
        help="Rank these thresholds (deployed), or systems tuned on similar development sets (method).",
    ),
    option("family"),
    *resampling_options("auto"),
    output_group(plot="Draw the slope chart of both rankings"),
)
def rank(asked: Asked) -> None:
    """Rank systems at thresholds fixed in advance, beside the ranking by EER, minDCF or AUC on the test scores.

    All systems are resampled by the same trials or users; every pair is tested, all together (step-down max-T). The csv
    columns are system, value, lower, upper, rank, rank_lower, rank_upper, post_value, post_rank, groups: the
    interval of the rank holds for all systems at once, post_value and post_rank are a posteriori, and systems that
    share a letter do not differ significantly.

    \b
    Examples:
      priori rank --table scores.csv.gz --systems-in system --split set=dev:test
      priori rank --table scores.csv.gz --systems-in system --split set=dev:test --plot slopes.svg
      priori rank --system A a-dev.csv a-test.csv --system B b-dev.csv b-test.csv --against auc --format csv
    """
    settings = at_alpha(asked.settings)
    if len(asked.systems) < 2:
        raise OptionError("a ranking needs two systems or more: --system NAME DEV TEST, twice, or --table FILE")
    curves = at_one_alpha(asked.systems.curves(settings), settings["alpha"])
    curves = asked.systems.with_the_same_trials(curves, with_dev=asked.claim == "method")
    with Progress("ranking") as progress:
        evidence = gather_evidence(curves, asked.resampling, asked.claim, threads=asked.threads, progress=progress)
    board = leaderboard_of(evidence, ranking_of(evidence, **asked.only("family")), **asked.only("against"))
    measure, post = board.settings["measure"], board.settings["against"]
    at = f"{curves[0].criterion.alpha_name} {board.settings['alpha']:.4g}"
    title = f"{measure} at {at}, thresholds fixed in advance, and {post} on the test scores"
    asked.output.finish(board, table=lambda: tables_of(board, title=title, note=about_ranks(board)))
