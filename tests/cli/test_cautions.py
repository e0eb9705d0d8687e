"""Cautions at the command line: every command says them on standard error with their codes, and is silent if asked."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from priori.base.caution_codes import CODES
from priori.base.errors import OptionError
from priori.cli import COMMANDS, cli
from priori.words.headline import UNTRUSTED


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two systems whose scores are distances, taken for similarities; the test set of each is the development set."""
    rng, label = np.random.default_rng(0), np.repeat([0, 1], 300)
    for name in "ab":
        rows = [f"{y},{score}" for y, score in zip(label.tolist(), rng.normal(-2 * label).tolist(), strict=True)]
        (tmp_path / f"{name}.csv").write_text("label,score\n" + "\n".join(rows) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def said(result: Result) -> list[str]:
    return [line for line in result.stderr.splitlines() if "[" in line.split(":")[1]]


TWO = ("--system", "A", "a.csv", "a.csv", "--system", "B", "b.csv", "b.csv")
#: Commands that read scores, each as short as it can be.
CALLS = {
    "epc": ("epc", *TWO, "--points", "3"),
    "epc with bands": ("epc", *TWO, "--points", "3", "--bootstrap", "sample", "--resamples", "100"),
    "compare": ("compare", *TWO, "--alpha", "0.5", "--resamples", "100"),
    "ztest": ("ztest", *TWO),
    "report": ("report", *TWO, "--no-bootstrap", "--points", "3", "--format", "json"),
    "threshold": ("threshold", "a.csv"),
    "rates": ("rates", "a.csv", "--threshold", "0"),
    "roc": ("roc", "--scores", "A", "a.csv"),
    "det": ("det", "--scores", "A", "a.csv"),
}


@pytest.mark.parametrize("call", CALLS)
def test_every_command_says_what_its_scores_warn_of(folder: Path, call: str) -> None:
    done = run(*CALLS[call])
    lines = said(done)
    assert any(line.startswith("priori: warning [reversed-scores]: ") for line in lines)
    assert len(lines) == len(set(lines))
    if call not in ("threshold", "rates", "roc", "det"):
        assert any(line.startswith("priori: warning [same-data]: development and test set") for line in lines)  # once
    assert "--lower-is-better" in done.stderr


@pytest.mark.parametrize("call", CALLS)
def test_what_is_silenced_is_not_said_and_the_numbers_say_so(folder: Path, call: str) -> None:
    extra = () if "--format" in CALLS[call] else ("--json",)
    codes = "reversed-scores,same-data,extreme-threshold"
    done = run(*CALLS[call], *extra, "--silence", codes)
    assert not any(code in line for line in said(done) for code in codes.split(","))
    assert sorted(json.loads(done.stdout)["silenced"]) == sorted(codes.split(","))
    assert "silenced" not in json.loads(run(*CALLS[call], *extra).stdout)


def test_results_keep_what_is_silenced(folder: Path) -> None:
    found = json.loads(run("epc", *TWO, "--alpha", "0.5", "--json", "--silence", "same-data").stdout)
    assert "same-data" in [caution["code"] for caution in found["systems"][0]["warnings"]]


def test_the_page_shows_all_but_the_silenced_and_names_those(folder: Path) -> None:
    report = ("report", *TWO, "--no-bootstrap", "--points", "3", "-o", "page.html")
    run(*report)
    assert 'data-caution="same-data"' in (folder / "page.html").read_text()
    run(*report, "--silence", "same-data")
    page = (folder / "page.html").read_text()
    assert 'data-caution="same-data"' not in page
    assert 'data-caution="reversed-scores"' in page
    assert "Cautions not shown" in page
    assert "--silence same-data" in page  # the command that makes it again


def test_a_code_that_is_none_is_refused_before_anything_is_read(folder: Path) -> None:
    with pytest.raises(OptionError, match="unknown caution 'no-such'; choose one of: same-data"):
        run("epc", "--system", "A", "missing.csv", "missing.csv", "--silence", "same-data,no-such")


def test_every_command_that_gives_results_can_be_silenced() -> None:
    without = {"app", "explain", "schema"}
    for name in set(COMMANDS) - without:
        assert "--silence" in run(name, "--help").stdout, name
        assert "--verbose" in run(name, "--help").stdout, name


def test_three_warnings_are_printed_the_gravest_first_and_all_if_asked(folder: Path) -> None:
    call = (*CALLS["epc with bands"][:-1], "20", "--resample", "both", "--interval", "percentile")
    short, whole = run(*call), run(*call, "--verbose")
    lines = said(whole)
    assert len(lines) > 4
    assert said(short) == lines[:3]
    assert [line.split("]")[0] for line in lines[:2]] == [f"priori: warning [{code}" for code in UNTRUSTED[:2]]
    assert short.stderr.endswith(f"priori: and {len(lines) - 3} more warnings (--verbose)\n")
    assert whole.stdout.startswith(short.stdout)  # areas follow


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_explained(code: str) -> None:
    first, *lines = run("explain", code).stdout.splitlines()
    kind = CODES[code]
    assert first == f"{kind.level} [{code}]: {kind.heading}"
    text = " ".join(" ".join(lines).split())
    assert f"When {kind.meaning} It matters {kind.matters} What to do {kind.remedy} More docs/{kind.page}.md" == text
    assert max(map(len, lines)) <= 100


def test_explain_lists_the_codes_and_knows_what_was_meant() -> None:
    assert [line.split()[0] for line in run("explain").stdout.splitlines()] == [*CODES]
    assert "'few-unit'; did you mean 'few-units'?" in run("explain", "few-unit").stderr


def test_threshold_says_that_no_threshold_keeps_a_limit(folder: Path) -> None:
    result = run("threshold", "a.csv", "--lower-is-better", "--criterion", "at-most-far:0.95", "--alpha", "0.001")
    assert " -inf " in result.stdout
    assert [line.split("]")[0] for line in said(result)] == ["priori: warning [limit-not-kept"]


@pytest.mark.parametrize(
    "command",
    ["threshold a.csv", "plan --width 0.1", "roc", "det", "ztest", "check --max frr=0.9", "rank", "report", "pad"],
)
def test_a_limit_without_its_value_is_an_error(folder: Path, command: str) -> None:
    systems = () if command.startswith("threshold") else TWO
    with pytest.raises(OptionError, match="at-most-far was given without the far that is wanted"):
        run(*command.split(), *systems, "--criterion", "at-most-far")
