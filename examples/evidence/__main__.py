"""``python -m examples.evidence DATA`` (``make evidence DATA=...``): published scores judged again, minutes."""

from __future__ import annotations

from pathlib import Path

import click

from examples.evidence import figures
from examples.evidence.attacks import attack_rows
from examples.evidence.judging import Judged, judge
from examples.evidence.page import page
from examples.evidence.sources import SOURCES, Question, Source
from examples.evidence.tables import BOARDS, SYSTEMS, board_row, system_rows, write_csv
from examples.evidence.told import told
from priori.cli.output import Progress

#: The board that has figures of its own, and the systems whose curves are drawn.
SHOWN, CURVES = "replay_laptop_phone3", ("Idiap", "Baseline", "SJTUSpeech")


@click.command("evidence")
@click.argument("data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--output",
    default="docs",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Where evidence.md and the folder evidence/ go.",
)
@click.option("--only", type=click.Choice([source.key for source in SOURCES]), multiple=True, help="These sources.")
@click.option("--resamples", default=10_000, show_default=True)
def command(data: Path, output: Path, only: tuple[str, ...], resamples: int) -> None:
    """Judge the published score files in the folder DATA again, and write the page about them."""
    asked = [
        (source, question) for source in SOURCES if not only or source.key in only for question in source.questions
    ]
    missing = [source.file for source, _ in asked if not (data / source.file).exists()]
    if missing:
        raise click.ClickException(f"{data} has no {missing[0]}")
    folder = output / "evidence"
    folder.mkdir(parents=True, exist_ok=True)
    judged = _judged(data, asked, resamples)
    rows = [board_row(one) for one in judged]
    write_csv(folder / "boards.csv", BOARDS, rows)
    write_csv(folder / "systems.csv", SYSTEMS, [row for one in judged for row in system_rows(one)])
    if only:
        return
    curve, attacked = attack_rows(data)
    write_csv(folder / "attacks.csv", list(attacked[0]), attacked)
    shown = next(one for one in judged if one.question.name == SHOWN)
    figures.draw_attacks(shown, folder / "btas2016-attack.svg")
    figures.draw_curves(shown, CURVES, folder / "btas2016-curves.svg")
    figures.draw_taus(rows, folder / "tau.svg")
    (output / "evidence.md").write_text(page(rows, curve, attacked, told(data)), encoding="utf-8")


def _judged(data: Path, asked: list[tuple[Source, Question]], resamples: int) -> list[Judged]:
    """Judge every board. What there is to mind stands in the text, not in a hundred warnings."""
    done = []
    with Progress("judging") as progress:
        for number, (source, question) in enumerate(asked, 1):
            done.append(judge(data, source, question, n_resamples=resamples))
            progress(number, len(asked))
    return done


if __name__ == "__main__":
    command(prog_name="python -m examples.evidence")
