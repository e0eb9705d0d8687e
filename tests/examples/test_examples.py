"""The bundled real scores: they load, have the counts their provenance says, and can be made again."""

from __future__ import annotations

import csv
import gzip
import importlib
import io
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import priori.examples
from priori.base.errors import OptionError

SCRIPTS = Path(__file__).resolve().parents[2] / "examples"
TABLES = Path(priori.examples.__file__).parent


@pytest.fixture(scope="module")
def scripts() -> Iterator[Callable[[str], ModuleType]]:
    """Import the scripts as they import each other: from their own folder."""
    sys.path.insert(0, str(SCRIPTS))
    yield importlib.import_module
    sys.path.remove(str(SCRIPTS))


def rows(packed: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(gzip.decompress(packed).decode())))


@pytest.mark.parametrize(
    ("name", "task", "systems", "dev", "test"),
    [
        ("texts", "texts", 4, (75, 371), (150, 750)),
        ("faces", "authentication", 5, (1470, 105), (1470, 105)),
        ("spam", "spam", 4, (6776, 979), (6771, 989)),
        ("cancer", "diagnosis", 3, (357, 212), (357, 212)),
    ],
)
def test_counts(name: str, task: str, systems: int, dev: tuple[int, int], test: tuple[int, int]) -> None:
    example = priori.examples.load(name)
    assert (example.name, example.task, len(example.systems)) == (name, task, systems)
    for sets in example.systems.values():
        assert (len(sets.dev.negative), len(sets.dev.positive)) == dev
        assert (len(sets.test.negative), len(sets.test.positive)) == test


@pytest.mark.parametrize("name", priori.examples.NAMES)
def test_trials_pair_the_systems(name: str) -> None:
    systems = list(priori.examples.load(name).systems.values())
    for part in ("dev", "test"):
        for trials in ("negative", "positive"):
            ids = [getattr(getattr(sets, part), trials).trial for sets in systems]
            assert np.unique(ids[0]).size == ids[0].size
            assert all(np.array_equal(ids[0], other) for other in ids)


def test_faces_never_share_a_person_between_the_sets_and_genuine_means_same_person() -> None:
    for dev, test in priori.examples.load("faces").systems.values():
        assert dev.users is not None
        assert test.users is not None
        assert not set(dev.users.values) & set(test.users.values)
        for scores in (dev, test):
            assert np.array_equal(scores.positive.user, scores.positive.probe_user)
            assert np.all(scores.negative.user != scores.negative.probe_user)


@pytest.mark.parametrize("name", ["spam", "cancer"])
def test_no_example_is_in_both_sets_of_a_data_set(name: str) -> None:
    for dev, test in priori.examples.load(name).systems.values():
        assert list(dev.by()) == list(test.by())
        assert len(dev.by()) == 5
        for mine, theirs in zip(dev.by().values(), test.by().values(), strict=True):
            here = np.concatenate([mine.negative.trial, mine.positive.trial])
            there = np.concatenate([theirs.negative.trial, theirs.positive.trial])
            assert np.intersect1d(here, there).size == 0


def test_an_unknown_example_is_refused_by_name() -> None:
    with pytest.raises(OptionError, match="unknown example 'birds'; choose one of: texts, faces, spam, cancer"):
        priori.examples.load("birds")
    with pytest.raises(OptionError, match="unknown example"):
        priori.examples.write("birds", "nowhere")
    assert not Path("nowhere").exists()


@pytest.mark.parametrize("name", priori.examples.NAMES)
def test_written_files_hold_the_same_scores(name: str, tmp_path: Path) -> None:
    example = priori.examples.load(name)
    paths = priori.examples.write(name, tmp_path / "scores")
    wanted = [f"{system}-{part}.csv" for system in example.systems for part in ("dev", "test")]
    assert [path.name for path in paths] == wanted
    assert sorted(path.name for path in (tmp_path / "scores").iterdir()) == sorted(wanted)
    header, *lines = csv.reader(paths[1].read_text().splitlines())
    assert header[:2] == ["score", "label"]
    scores = example.systems[next(iter(example.systems))].test
    positives = np.sort([float(line[0]) for line in lines if line[1] == "1"])
    assert np.array_equal(positives, scores.positives)
    assert len(lines) == len(scores)


def test_cancer_can_be_made_again(scripts: Callable[[str], ModuleType], tmp_path: Path) -> None:
    first, second = tmp_path / "first.csv.gz", tmp_path / "second.csv.gz"
    for path in (first, second):
        scripts("make_cancer").main([str(path)])
    assert first.read_bytes() == second.read_bytes()
    ours, shipped = rows(first.read_bytes()), rows((TABLES / "cancer.csv.gz").read_bytes())
    assert [row[:-1] for row in ours] == [row[:-1] for row in shipped]
    # Another scikit-learn may stop its solver a little earlier or later: the last of four decimals may move.
    scores = [np.array([float(row[-1]) for row in table[1:]]) for table in (ours, shipped)]
    assert np.allclose(*scores, rtol=1e-3, atol=2e-3)


@pytest.mark.parametrize(
    ("script", "content", "message"),
    [
        ("make_faces", b"not an archive", "not a tar archive; give the ORL faces"),
        ("make_spam", b"hello\n", "line 1: not 'ham' or 'spam'"),
        ("make_spam", b"ham\thello\n", "1 messages where the SMS Spam Collection v.1 has 4827 ham and 747 spam"),
        ("make_spam", b"\xff\xfe", "not text; give the SMS Spam Collection"),
        ("make_texts", b"exp,source\n", "give Glimpse's table"),
        ("make_cancer", b"1,2,3\n", "not scikit-learn's breast_cancer.csv"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line(
    scripts: Callable[[str], ModuleType],
    script: str,
    content: bytes,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    wrong, output = tmp_path / "wrong", tmp_path / "output.csv.gz"
    wrong.write_bytes(content)
    options = ["--data"] if script == "make_cancer" else []
    with pytest.raises(SystemExit) as ending:
        scripts(script).main([*options, str(wrong), str(output)])
    said = capsys.readouterr().err
    assert ending.value.code == 2
    assert message in said
    assert said.count("\n") == 1
    assert not output.exists()


def test_an_archive_without_the_images_is_refused(
    scripts: Callable[[str], ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "faces.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        file.add(__file__, "s1/readme")
    with pytest.raises(SystemExit):
        scripts("make_faces").main([str(archive), str(tmp_path / "output.csv.gz")])
    assert "0 images s1/1.pgm .. s40/10.pgm where the ORL faces have 400" in capsys.readouterr().err


def test_without_a_path_the_usage_is_shown() -> None:
    done = subprocess.run([sys.executable, str(SCRIPTS / "make_faces.py")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "usage: python examples/make_faces.py" in done.stderr


def test_tables_stay_small() -> None:
    assert sum(path.stat().st_size for path in TABLES.glob("*.csv.gz")) < 600_000


def test_faces_rank_differently_by_development_equal_error_rate_and_a_priori_on_test() -> None:
    systems = priori.examples.load("faces").systems
    curves = {name: priori.epc(*sets, criterion="eer", alpha=0.5) for name, sets in systems.items()}
    on_dev = {name: float(curve.dev_v1[0] + curve.dev_v2[0]) / 2 for name, curve in curves.items()}
    on_test = {name: float(curve.value[0]) for name, curve in curves.items()}
    assert {name: round(100 * value, 1) for name, value in on_dev.items()} == {
        "correlation": 6.6,
        "binary-patterns": 7.8,
        "fisherfaces": 9.4,
        "gradients": 9.5,
        "eigenfaces": 10.5,
    }
    assert {name: round(100 * value, 1) for name, value in on_test.items()} == {
        "correlation": 12.9,
        "binary-patterns": 10.4,
        "fisherfaces": 13.3,
        "gradients": 13.9,
        "eigenfaces": 9.8,
    }
    assert min(on_dev, key=on_dev.__getitem__) == "correlation"
    assert max(on_dev, key=on_dev.__getitem__) == min(on_test, key=on_test.__getitem__) == "eigenfaces"


def test_on_texts_the_best_by_the_tests_equal_error_rate_is_significantly_the_worst_a_priori() -> None:
    curves = [priori.epc(*sets, name=name) for name, sets in priori.examples.load("texts").systems.items()]
    board = priori.rank(curves, n_resamples=1000)
    shown = {
        str(name): (round(100 * value, 1), int(rank))
        for name, value, rank in zip(board.system, board.value, board.post_rank, strict=True)
    }
    assert shown == {"babbage": (21.7, 3), "gpt-4": (28.6, 2), "davinci": (30.1, 4), "gpt-3.5": (38.9, 1)}
    assert (int(board.rank_lower[-1]), board.could_be_best) == (4, ("babbage",))


def test_examples_are_there_after_importing_priori_alone() -> None:
    code = (
        "import priori, sys; assert 'priori.examples' not in sys.modules; print(priori.examples.load('cancer').title)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("Malignant or benign"), done.stderr
