"""``priori coverage``: do bands hold the curves of users they have not seen?"""

from __future__ import annotations

from typing import Any

import click

from priori.base.errors import OptionError
from priori.cli.options import (
    MEASURE_HELP,
    Reading,
    criterion_options,
    output_options,
    reading_options,
    system_option,
    systems_of,
)
from priori.cli.output import csv_text, emit, json_text, percent, table_text
from priori.cli.progress import Progress
from priori.curves.epc import epc
from priori.decisions.measures import Measure
from priori.scores import Scores
from priori.studies.coverage import Coverage, coverage
from priori.studies.experiments import FOUR, PREDICTION

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
@click.option("--systems", type=click.IntRange(min=1), metavar="N", help="How many are simulated.  [default: 24]")
@click.option("--users", type=click.IntRange(min=4), metavar="N", help="Users in each of their sets.  [default: 124]")
@click.option("--genuine", type=click.IntRange(min=1), metavar="N", help="Genuine trials of a user.  [default: 9]")
@click.option("--impostor", type=click.IntRange(min=1), metavar="N", help="Impostor trials of a user.  [default: 96]")
@click.option("--user-effect", type=click.FloatRange(0, 1), metavar="SD",
              help="How much users differ, of a score's standard deviation.  [default: 0.5]")  # fmt: skip
@click.option("--train-users", type=int, default=31, show_default=True, help="Users that a band is made from.")
@click.option("--test-users", type=int, default=62, show_default=True, help="Other users whose curve it should hold.")
@click.option("--bootstraps", metavar="LIST", default=",".join((*FOUR, PREDICTION)), show_default=True,
              help="Which bands, between commas; prediction is the one that promises to hold such curves.")  # fmt: skip
@click.option("--resamples", metavar="LIST", default="10,30,100", show_default=True,
              help="Numbers of draws, U or S, to look at.")  # fmt: skip
@click.option("--fixed", type=click.IntRange(min=1), default=30, show_default=True,
              help="The number held while the other varies in the joint bootstrap.")  # fmt: skip
@click.option("--repeats", type=click.IntRange(min=1), default=1, show_default=True,
              help="How often users are drawn anew.")  # fmt: skip
@click.option("--resample", type=click.Choice(["test", "both"]), default="both", show_default=True,
              help="What the four bootstraps redraw: the test scores, or the development scores too.")  # fmt: skip
@click.option("--thresholds", type=click.Choice(["kept", "anew"]), default="kept", show_default=True,
              help="The unseen curve's: the band's own, or those of other development users.")  # fmt: skip
@click.option("--level", type=float, default=0.95, show_default=True, help="The confidence level.")
@criterion_options
@click.option("--measure", metavar="NAME", help=MEASURE_HELP)
@click.option("--points", type=int, default=101, show_default=True, help="How many alphas.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
              help="The same seed, the same numbers.")  # fmt: skip
@click.option("--threads", type=click.IntRange(min=1), help="Threads to use; the numbers do not depend on it.")
@output_options("table", "csv", "json")
@click.option("--plot", metavar="FILE", help="Draw the coverage against the number of draws: FILE.svg, .png or .pdf.")
@reading_options
def command(
    system: tuple[tuple[str, str, str], ...],
    trials: tuple[str, str] | None,
    simulate: bool,
    bootstraps: str,
    resamples: str,
    level: float,
    seed: int,
    format_: str,
    output: str | None,
    plot: str | None,
    reading: Reading,
    **options: Any,
) -> None:
    """Make bands from some users of each system and see how much of the curve of other users they cover.

    This is the experiment of section 5 of Poh and Bengio (2007), for the four bootstraps and for the band that
    promises to hold the curve of unseen users. The csv columns are bootstrap, U, S (draws of users, and of trials
    within each), coverage, standard_error, width.

    \b
    Examples:
      priori coverage --simulate
      priori coverage --simulate --systems 6 --repeats 4 --bootstraps user,joint,prediction
      priori coverage --system A a-dev.csv a-test.csv --train-users 20 --test-users 40
    """
    if plot:
        from priori.plots.style import check_format

        check_format(plot)
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
    if plot:
        from matplotlib.figure import Figure

        from priori.plots import save

        drawn = found.plot().figure
        assert isinstance(drawn, Figure)
        save(drawn, plot)
        click.echo(f"priori: wrote {plot}", err=True)
    if format_ == "csv":
        emit(csv_text([found.columns()]), output)
    elif format_ == "json":
        emit(json_text(found.to_dict()), output)
    else:
        emit(_table(found, measure), output)


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
