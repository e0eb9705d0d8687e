"""The published scores: who published them, and which rows choose and judge. Stated before any result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

#: A shift: development and test differ in a way that people meet. A control: one population, split.
Kind = Literal["shift", "control"]


@dataclass(frozen=True)
class Question:
    """One leaderboard: which rows choose the thresholds, and which judge them, as SQL on the source's columns."""

    name: str
    dev: str
    test: str
    kind: Kind = "shift"


@dataclass(frozen=True)
class Source:
    """A file of published scores.

    ``user`` and ``trial`` are SQL for the person or text that is resampled, and for what pairs the systems' trials.
    """

    key: str
    title: str
    file: str
    published: str
    protocol: str
    user: str
    trial: str
    units: str
    questions: tuple[Question, ...]


#: The attacks of BTAS 2016; the last two were not in the development data.
REPLAYS = ("replay_laptop", "replay_laptop_HQ_speaker", "replay_phone1", "replay_phone2")
CONVERTED = tuple(
    f"{kind}_physical_access{speaker}"
    for kind in ("speech_synthesis", "voice_conversion")
    for speaker in ("", "_HQ_speaker")
)
UNSEEN = ("replay_laptop_phone3", "replay_phone2_phone3")
DOMAINS = ("pubmed", "writing", "xsum")


def _attacks(dev: str, test: str, genuine: str, attacks: Sequence[str]) -> tuple[Question, ...]:
    """All attacks together, then each by itself; thresholds come from the whole development set."""
    pooled = Question("all attacks", f"set = '{dev}'", f"set = '{test}'")
    return (
        pooled,
        *(Question(attack, pooled.dev, f"{pooled.test} AND attack IN ('{genuine}', '{attack}')") for attack in attacks),
    )


def _domains(experiment: str, writers: Sequence[str]) -> tuple[Question, ...]:
    """Every ordered pair of domains of every writer; as a control, each domain's texts in two halves."""
    shifts = [
        Question(
            f"{writer}, {dev} to {test}", *(f"{_written(experiment, writer)} AND set = '{x}'" for x in (dev, test))
        )
        for writer in writers
        for dev, test in permutations(DOMAINS, 2)
    ]
    controls = [
        Question(
            f"{writer}, within {domain}",
            *(f"{_written(experiment, writer)} AND set = '{domain}' AND prompt % 2 = {half}" for half in (0, 1)),
            "control",
        )
        for writer in writers
        for domain in DOMAINS
    ]
    return (*shifts, *controls)


def _written(experiment: str, writer: str) -> str:
    return f"exp = '{experiment}' AND source = '{writer}'"


#: A text and its machine-written partner share a prompt and are resampled together; domains share no texts.
_TEXT = "set || '/' || prompt"

SOURCES = (
    Source(
        "btas2016",
        "Speaker anti-spoofing, BTAS 2016",
        "btas2016/btas2016_scores.csv.gz",
        "Korshunov et al., *Overview of BTAS 2016 Speaker Anti-spoofing Competition*; the five entries' scores are in "
        "the package `bob.paper.btas_c2016` (GPLv3).",
        "Thresholds from the competition's development set (all its attacks); judged on its official test set "
        "(`test_v2`): all attacks together, and each of the ten by itself. Two of the ten were not in the development "
        "set. Speakers are resampled, 14 and 16 of them.",
        '"user"',
        "trial",
        "speakers",
        _attacks("dev", "test_v2", "genuine", (*REPLAYS, *CONVERTED, *UNSEEN)),
    ),
    Source(
        "asvspoof2019",
        "Speech countermeasures, ASVspoof 2019 LA",
        "asvspoof2019_LA_cm/asvspoof2019_LA_cm_dev_eval.csv.gz",
        "Zhang et al. (ASVspoof2021_AIR) and Shani et al. (ASVspoof2019 against ASVspoof5), MIT licence; corpus: "
        "ASVspoof 2019.",
        "Thresholds from the official development set, judged on the official evaluation set: all attacks, and each of "
        "the thirteen by itself, all new. Speakers are resampled, 20 and 67 of them.",
        '"user"',
        "trial",
        "speakers",
        _attacks("dev", "eval", "A00", [f"A{number:02d}" for number in range(7, 20)]),
    ),
    Source(
        "glimpse",
        "Machine-written text, Glimpse",
        "glimpse/glimpse_scores.csv.gz",
        "Bao et al., *Glimpse*, MIT licence: scores of 61 detectors on texts of five language models in three domains.",
        "The authors have no development set; ours is one domain, the test set another: all 30 ordered pairs (five "
        "models, six pairs). Control: the texts of one domain in two halves, by even and odd prompt (15). Texts are "
        "resampled with their machine-written partners, about 150 (75 in the halves).",
        _TEXT,
        f"{_TEXT} || '/' || label",
        "texts",
        _domains(
            "exp_main",
            ("claude-3-opus-20240229", "claude-3-sonnet-20240229", "gemini-1.5-pro", "gpt-3.5-turbo", "gpt-4"),
        ),
    ),
    Source(
        "fast-detect-gpt",
        "Machine-written text, Fast-DetectGPT",
        "fast_detect_gpt/fast_detect_gpt_scores.csv.gz",
        "Bao et al., *Fast-DetectGPT*, MIT licence: ten detectors on texts of three language models (`exp_gpt3to4`).",
        "As for Glimpse: 18 ordered pairs of domains, nine controls. Texts are resampled with their partners.",
        _TEXT,
        f"{_TEXT} || '/' || label",
        "texts",
        _domains("exp_gpt3to4", ("davinci", "gpt-3.5-turbo", "gpt-4")),
    ),
)
