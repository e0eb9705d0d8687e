"""``priori rank``: many systems from best to worst, with the uncertainty of their ranks."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from priori.base.errors import OptionError
from priori.base.texts import cell as percent
from priori.cli.commands import make_command, option
from priori.cli.options import COSTS, CRITERION, MEASURE, curve_at, one_alpha, output_group, resampling_options
from priori.cli.output import Output, Progress, table_of
from priori.cli.systems import SYSTEMS, Systems
from priori.decisions.costs import price
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.comparing.evidence import gather_evidence
from priori.uncertainty.ranking.both_rankings import POSTERIORS
from priori.uncertainty.ranking.leaderboard import Leaderboard, at_one_alpha, leaderboard_of
from priori.words.sentences import about_ranks


@make_command(
    "rank",
    SYSTEMS,
    *CRITERION,
    MEASURE,
    option("--alpha", metavar="NUMBER", help="Where systems are ranked. Default: 0.5, or the alpha of --costs."),
    *COSTS,
    option(
        "--against",
        type=click.Choice([*POSTERIORS]),
        default="eer",
        help="What the a posteriori ranking goes by, on the test scores themselves.",
    ),
    option(
        "--claim",
        type=click.Choice(["deployed", "method"]),
        default="deployed",
        help="Rank the thresholds as they are, or the systems tuned on other development sets.",
    ),
    option(
        "--family",
        type=click.Choice(["pairs", "best"]),
        default="pairs",
        help="What is tested together: every pair, or the best against the rest.",
    ),
    *resampling_options("auto"),
    output_group("table", "csv", "json", plot="Draw the slope chart of both rankings: FILE.svg, .png or .pdf."),
)
def command(
    systems: Systems,
    resampling: Resampling,
    output: Output,
    alpha: str | None,
    task: str,
    criterion: str | None,
    measure: str | None,
    costs: str | None,
    prior: str | None,
    claim: Any,
    against: Any,
    family: Any,
    threads: int | None,
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
    asked = one_alpha(alpha, "systems are ranked at one alpha")
    shown, chosen = price(task, criterion, measure, asked, costs, prior)
    settings = curve_at(task, criterion, chosen, measure=shown)
    if len(systems) < 2:
        raise OptionError("a ranking needs two systems or more: --system NAME DEV TEST, twice, or --table FILE")
    curves = at_one_alpha(systems.curves(settings), settings["alpha"])
    with Progress("ranking") as progress:
        evidence = gather_evidence(curves, resampling, claim, threads=threads, progress=progress)
    board = leaderboard_of(evidence, against=against, family=family, threads=threads)
    output.finish(board, table=lambda: _table(board))


def _table(board: Leaderboard) -> str:
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
