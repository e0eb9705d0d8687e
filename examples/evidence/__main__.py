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
from priori.base.cautions import CODES, silenced
from priori.cli.progress import Progress

#: The boards that have figures of their own, each with the systems whose curves are drawn.
SHOWN = {
    "btas2016": ("replay_laptop_phone3", ("Idiap", "Baseline", "SJTUSpeech")),
    "asvspoof2019": ("all attacks", ("ocs_avishai", "lfcc_ecapa512ctsf_ocs", "lfcc_ecapa512ctst_ocs")),
    "glimpse": (
        "claude-3-opus-20240229, xsum to pubmed",
        ("gpt-4-1106.likelihood", "gpt-4-1106.pde_fastdetect_geometric"),
    ),
    "fast-detect-gpt": (
        "gpt-4, xsum to pubmed",
        ("gpt-j-6B_gpt-neo-2.7B.sampling_discrepancy_analytic", "roberta-base-openai-detector"),
    ),
}


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
    drawn = _figures(judged, folder)
    (output / "evidence.md").write_text(page(rows, curve, attacked, drawn), encoding="utf-8")


def _judged(data: Path, asked: list[tuple[Source, Question]], resamples: int) -> list[Judged]:
    """Judge every board. What there is to mind stands in the text, not in a hundred warnings."""
    done = []
    with Progress("judging") as progress, silenced(*CODES):
        for number, (source, question) in enumerate(asked, 1):
            done.append(judge(data, source, question, n_resamples=resamples))
            progress(number, len(asked))
    return done


def _figures(judged: list[Judged], folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Draw each source's figures; return their names and what to see."""
    drawn: dict[str, list[tuple[str, str]]] = {}
    for key, (board, names) in SHOWN.items():
        one = next(one for one in judged if one.source == key and one.question.name == board)
        pictures = [
            (f"{key}-slopes.svg", f"Ranks by EER and at thresholds fixed in advance: {board}"),
            (f"{key}-curves.svg", f"Expected Performance Curves with 95 % bands: {board}"),
        ]
        figures.draw_slopes(one, folder / f"{key}-slopes.svg")
        figures.draw_curves(one, names, folder / f"{key}-curves.svg")
        if key == "btas2016":
            figures.draw_attacks(one, folder / "btas2016-attack.svg")
            pictures.insert(0, ("btas2016-attack.svg", f"What the EER promises and what happens: {board}"))
        own = [other for other in judged if other.source == key]
        if any(other.question.kind == "control" for other in own):
            figures.draw_taus(own, folder / f"{key}-tau.svg")
            pictures.append((f"{key}-tau.svg", "Kendall's tau of every board, another domain and the same one"))
        drawn[key] = pictures
    return drawn


if __name__ == "__main__":
    command(prog_name="python -m examples.evidence")
