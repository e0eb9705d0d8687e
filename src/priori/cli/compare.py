"""``priori compare``, ``priori rank``: is A better than B, and which of many is best?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import priori
from priori.base.errors import OptionError
from priori.base.options import Claim
from priori.base.texts import cell as percent
from priori.base.texts import cells as percents
from priori.base.texts import p_text
from priori.cli.commands import CURVES, Judging, judging, make_command, output_group, resampling_options
from priori.cli.options import option, options
from priori.cli.output import Output, Progress, table_of, table_text
from priori.cli.systems import SETS, SYSTEMS, Systems
from priori.studies.evaluation.pairs import pairs_of
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.comparing.comparison import Comparison, comparison_of
from priori.uncertainty.comparing.evidence import gather_evidence
from priori.uncertainty.ranking.leaderboard import Leaderboard, at_one_alpha, leaderboard_of
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

#: The alphas that the summary shows when there are more than a dozen.
SHOWN = (0.1, 0.25, 0.5, 0.75, 0.9)
#: The columns of a comparison besides the systems' own.
HEADINGS = {
    **{name: name for name in ("difference", "expected", "lower", "upper")},
    "p_value": "p-value",
    "significant": "significant",
}


@make_command(
    "compare",
    SYSTEMS,
    CURVES,
    *options("claim margin unpaired alternative histogram"),
    *resampling_options("auto", leave_out=("resample",)),
    output_group(plot="Draw the difference and its band (two systems)"),
)
def compare(
    systems: Systems,
    settings: dict[str, Any],
    margin: float | None,
    histogram: float | None,
    resampling: Resampling,
    output: Output,
    options: dict[str, Any],
) -> None:
    """Test whether systems differ, each judged at thresholds chosen on its own development scores.

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
    if len(systems) < 2:
        raise OptionError("a comparison needs two systems or more: --system NAME DEV TEST, twice")
    if resampling.promise != "confidence":
        raise OptionError("a comparison is about the whole population; leave out --promise")
    if output.plot and len(systems) > 2:
        raise OptionError("--plot draws one difference; give two systems, or use 'priori report' for more")
    if histogram is not None and not output.plot:
        raise OptionError("--histogram says what --plot draws; add --plot FILE")
    if margin is not None and len(systems) > 2:
        raise OptionError("--margin is about two systems; give two, or leave it out")
    curves = systems.curves(settings)
    result: Comparison | Ranking
    with Progress("bootstrap of the differences") as progress:
        evidence = gather_evidence(curves, resampling, margin=margin, progress=progress, **options)
        result = comparison_of(evidence) if len(curves) == 2 else ranking_of(evidence)
    output.finish(
        result,
        table=lambda: _table(result, curves) if isinstance(result, Comparison) else _ranking(result, curves),
        figure=lambda plots: (
            plots.plot_comparison(result) if histogram is None else plots.plot_histogram(result, histogram)
        ),
    )


def _table(result: Comparison, curves: Sequence[priori.EPC]) -> str:
    rate = bool(result.settings["rate"])
    every = list(range(result.alpha.size))
    rows = every if len(every) <= 12 else sorted({result.nearest(alpha) for alpha in SHOWN})
    title = f"{result.settings['measure']} difference ({result.name_a} minus {result.name_b})"
    headings = {"alpha": "", "value_a": result.name_a, "value_b": result.name_b, **HEADINGS}
    notes = [difference(curves, pairs_of(result), result.nearest(0.5))]
    if result.alpha.size > 1:
        notes.append(pointwise_regions(result))
        area = result.area
        value, low, high = (percent(number.item(), rate) for number in (area.expected, area.lower, area.upper))
        mean = "Mean difference" if result.settings["claim"] == "deployed" else "Mean expected difference"
        notes.append(f"{mean} over the alphas: {value} (from {low} to {high}, p: {p_text(area.p_value.item())}).")
    if result.margin is not None:
        notes.append(margin_regions(result, curves[0].measure))
    notes.append(about_claim(result.settings["claim"]))
    return table_of(
        f"{title}, {about_interval(result.settings)}",
        result.columns(),
        headings,
        rate=rate,
        rows=rows,
        note="\n".join(notes),
        alpha="alpha {:.4g}".format,
    )


def _ranking(result: Ranking, curves: Sequence[priori.EPC]) -> str:
    rate = bool(result.settings["rate"])
    verdict = difference(curves, pairs_of(result), int(np.argmin(np.abs(result.alpha - 0.5))))
    sentences = [verdict, about_letters(result.confidence_level), about_claim(result.settings["claim"])]
    near = (alpha for alpha in (0.1, 0.5, 0.9) if np.min(np.abs(result.alpha - alpha)) < 0.02)
    alphas: list[float | None] = [None, *near] if result.alpha.size > 1 else result.alpha.tolist()
    parts = []
    for alpha in alphas:
        where = "mean over the alphas" if alpha is None else f"alpha {alpha:g}"
        rows = (
            [
                ranked.name,
                *percents([ranked.value, ranked.expected], rate),
                f"{ranked.rank} ({ranked.rank_lower} to {ranked.rank_upper})",
                ranked.groups,
            ]
            for ranked in result.places(alpha)
        )
        header = ["", "value", "expected", "rank", "group"]
        note = "\n" + "\n".join(sentences) if alpha == alphas[-1] else ""
        parts.append(table_text(f"{result.settings['measure']}, {where}", header, rows, note=note))
    return "\n".join(parts)


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
def rank(
    systems: Systems,
    judging: Judging,
    claim: Claim,
    resampling: Resampling,
    threads: int | None,
    output: Output,
    options: dict[str, Any],
) -> None:
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
    settings = judging.at_alpha()
    if len(systems) < 2:
        raise OptionError("a ranking needs two systems or more: --system NAME DEV TEST, twice, or --table FILE")
    curves = at_one_alpha(systems.curves(settings), settings["alpha"])
    with Progress("ranking") as progress:
        evidence = gather_evidence(curves, resampling, claim, threads=threads, progress=progress)
    board = leaderboard_of(evidence, threads=threads, **options)
    output.finish(board, table=lambda: _board_table(board))


def _board_table(board: Leaderboard) -> str:
    post, measure = board.settings["against"], board.settings["measure"]
    ranks = zip(board.rank_lower, board.rank_upper, strict=True)
    between = [f"{lower}" if lower == upper else f"{lower}-{upper}" for lower, upper in ranks]
    headings = {
        "rank": "rank",
        "between": "between",
        "system": "system",
        "value": measure,
        "lower": "lower",
        "upper": "upper",
        "post_value": post,
        "post_rank": f"{post} rank",
        "groups": "group",
    }
    return table_of(
        f"{measure} at alpha {board.settings['alpha']:.4g}, thresholds fixed in advance",
        {**board.columns(), "between": between},
        headings,
        rate=bool(board.settings["rate"]),
        note=about_ranks(board),
        post_value=partial(percent, rate=post != "minDCF"),
    )
