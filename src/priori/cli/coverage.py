"""``priori coverage``: the measured coverage of bands for unseen users."""

from __future__ import annotations

from typing import Any

import click

from priori.base.errors import OptionError
from priori.cli.ending import Ending, ending_options
from priori.cli.options import (
    MEASURE_HELP,
    Reading,
    criterion_options,
    reading_options,
    resampling_option,
    system_option,
    systems_of,
    threads_option,
)
from priori.cli.output import table_text
from priori.cli.progress import Progress
from priori.curves.epc import epc
from priori.decisions.measures import Measure
from priori.scores import Scores
from priori.studies.coverage import FOUR, PREDICTION, Coverage, coverage
from priori.words.numbers import cell as percent

SIMULATED = ("systems", "users", "genuine", "impostor", "user_effect")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _numbers(text: str) -> list[int]:
    parts = _names(text)
    if not parts or not all(part.isdigit() and int(part) > 0 for part in parts):
        raise OptionError(f"--resamples {text!r}: write whole numbers from 1 up between commas, such as 10,30,100")
    return [int(part) for part in parts]


@click.command(name="coverage", short_help="Do bands cover the curves of unseen users?")
@system_option
@click.option("--simulate", is_flag=True, help="Simulated systems instead of files, of the NIST 2005 subset's shape.")
@click.option("--systems", type=click.IntRange(min=1), metavar="N", help="Number of simulated systems.  [default: 24]")
@click.option("--users", type=click.IntRange(min=4), metavar="N", help="Users in each of their sets.  [default: 124]")
@click.option("--genuine", type=click.IntRange(min=1), metavar="N", help="Genuine trials of a user.  [default: 9]")
@click.option("--impostor", type=click.IntRange(min=1), metavar="N", help="Impostor trials of a user.  [default: 96]")
@click.option("--user-effect", type=click.FloatRange(0, 1), metavar="SD",
              help="Standard deviation between users, in units of a score's.  [default: 0.5]")  # fmt: skip
@click.option("--train-users", type=int, default=31, show_default=True, help="Users that a band is made from.")
@click.option("--test-users", type=int, default=62, show_default=True, help="Unseen users whose curve it should cover.")
@click.option("--bootstraps", metavar="LIST", default=",".join((*FOUR, PREDICTION)), show_default=True,
              help="Which bands, between commas; prediction is the one made to cover such curves.")  # fmt: skip
@click.option("--resamples", metavar="LIST", default="10,30,100", show_default=True,
              help="Numbers of resamples, U or S, to try.")  # fmt: skip
@click.option("--fixed", type=click.IntRange(min=1), default=30, show_default=True,
              help="The number kept fixed while the other varies in the joint bootstrap.")  # fmt: skip
@click.option("--repeats", type=click.IntRange(min=1), default=1, show_default=True,
              help="Number of random splits of the users.")  # fmt: skip
@resampling_option(
    "resample",
    default="both",
    help="What the four bootstraps resample: the test scores, or the development scores too.",
)
@click.option("--thresholds", type=click.Choice(["kept", "anew"]), default="kept", show_default=True,
              help="Thresholds of the unseen curve: the band's, or those of other development users.")  # fmt: skip
@resampling_option("confidence_level")
@criterion_options
@click.option("--measure", metavar="NAME", help=MEASURE_HELP)
@click.option("--points", type=int, default=101, show_default=True, help="Number of alphas.")
@resampling_option("rng")
@threads_option
@ending_options("table", "csv", "json", plot="Draw the coverage against the resamples: FILE.svg, .png or .pdf.")
@reading_options
def command(
    system: tuple[tuple[str, str, str], ...],
    trials: tuple[str, str] | None,
    simulate: bool,
    bootstraps: str,
    resamples: str,
    level: float,
    seed: int,
    ending: Ending,
    reading: Reading,
    **options: Any,
) -> None:
    """Make bands from some users of each system and measure how much of the curve of other users they cover.

    This is the experiment of section 5 of Poh and Bengio (2007), for the four bootstraps and for the prediction band,
    which is made to cover the curve of unseen users. The csv columns are bootstrap, U, S (resamples of users, and of
    trials within each), coverage, standard_error, width.

    \b
    Examples:
      priori coverage --simulate
      priori coverage --simulate --systems 6 --repeats 4 --bootstraps user,joint,prediction
      priori coverage --system A a-dev.csv a-test.csv --train-users 20 --test-users 40
    """
    wanted = {name: options.pop(name) for name in SIMULATED}
    if simulate == bool(system):
        raise OptionError("give score files (--system NAME DEV TEST) or --simulate, one of the two")
    pool = _simulated(wanted, seed) if simulate else _read(system, reading, trials, wanted)
    curve = {name: options[name] for name in ("task", "criterion", "measure")}
    measure = epc(*pool[0], **curve, alpha=["0.5"]).measure
    with Progress("coverage") as progress:
        found = coverage(
            pool,
            bootstraps=_names(bootstraps),
            n_resamples=_numbers(resamples),
            confidence_level=level,
            rng=seed,
            progress=progress,
            **options,
        )
    ending.finish(table=lambda: _table(found, measure), csv=found.columns, json=found.to_dict, figure=found.plot)


def _simulated(wanted: dict[str, Any], seed: int) -> list[tuple[Scores, Scores]]:
    from priori.studies.simulation import systems

    names = {"systems": "count", "users": "n_users", "genuine": "genuine_per_user", "impostor": "impostor_per_user",
             "user_effect": "user_effect_sd"}  # fmt: skip
    return systems(**{names[name]: value for name, value in wanted.items() if value is not None}, rng=seed)


def _read(
    system: tuple[tuple[str, str, str], ...], reading: Reading, trials: tuple[str, str] | None, wanted: dict[str, Any]
) -> list[tuple[Scores, Scores]]:
    given = [f"--{name.replace('_', '-')}" for name, value in wanted.items() if value is not None]
    if given:
        raise OptionError(f"{given[0]} goes with --simulate, not with score files")
    return [(one.dev.load(), one.test.load()) for one in systems_of(system, reading, trials)]


def _table(found: Coverage, measure: Measure) -> str:
    columns = found.columns()
    rows = []
    for name, users, samples, share, error, width in zip(*columns.values(), strict=True):
        spread = "-" if error != error else f"{100 * error:.1f}"
        rows.append([str(name), str(users), str(samples), f"{100 * share:.1f} %", spread, percent(width, measure.rate)])
    told = found.settings
    note = [f"nominal {100 * told['confidence_level']:g} %; +- is the standard error over "
            f"{len(found.covered)} experiments"]  # fmt: skip
    conjecture = found.conjecture
    if conjecture is not None:
        widths = " <= ".join(percent(width, measure.rate) for width in conjecture.widths)
        note.append(
            f"conjecture (14), width(S, 1) <= width(1, U) <= width(S, U): {'yes' if conjecture.holds else 'no'} "
            f"({widths}; in {100 * conjecture.share:.0f} % of the experiments)"
        )
    return table_text(
        f"Coverage of the curve of {told['test_users']} unseen users by bands from {told['train_users']}",
        ["bootstrap", "U", "S", "coverage", "+-", "width"],
        rows,
        note="\n".join(note),
    )
