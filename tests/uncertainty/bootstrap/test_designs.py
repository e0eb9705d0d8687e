"""A bootstrap is one object in the registry: a toy that draws data sets turns up wherever bootstraps do."""

from __future__ import annotations

import importlib
import json
import re

import numpy as np
import pytest

import priori
from pages import unexplained
from priori import OptionError, Scores
from priori.app.choices import Choices
from priori.app.limits import Limits
from priori.app.pages import Pages
from priori.report import render_html
from priori.scores.influence import People
from priori.scores.systems import System
from priori.studies.evaluation import Settings, make_study
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS, Bootstrap
from priori.words.sentences import describe_settings

COMMANDS = ["epc", "compare", "report"]


class DataSets(Bootstrap):
    """Data sets, each with all its trials, as clusters."""

    def suits(self, sets, measures=()):
        return all(scores.datasets is not None for scores in sets)

    def check(self, scores):
        if scores.datasets is None:
            raise OptionError(f"the {self.name} bootstrap needs the data set of each trial; {scores.source} has none")

    def warnings(self, sets):
        return []

    def share(self, dev, test, wanted):
        return False, []

    def identities(self, sets, *, shared=False):
        return [
            tuple(People(trials.dataset, len(scores.datasets)) for trials in (scores.negative, scores.positive))
            for scores in sets
        ]


TOY = DataSets(name="by-set", resamples="data sets, with all their trials", draws_users=True, preference=4)


@pytest.fixture
def toy(monkeypatch):
    """The toy in the registry, and commands that were made after it came."""
    modules = [importlib.import_module(f"priori.cli.{name}") for name in ("options", "commands", "systems", *COMMANDS)]
    with monkeypatch.context() as patched:
        patched.setitem(BOOTSTRAPS, TOY.name, TOY)
        for module in modules:
            importlib.reload(module)
        yield TOY
    for module in modules:
        importlib.reload(module)


def trials(seed: int, quality: float = 2.0) -> dict[str, np.ndarray]:
    """Twelve data sets of thirty trials, each shifted by an effect of its own; ids pair systems."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(12), 30)
    label = np.tile([0, 0, 1], 120)
    score = rng.normal(quality * label, 1) + rng.normal(0, 0.5, 12)[group]
    names = np.array(list("abcdefghijkl"))[group]
    return {"label": label, "score": score.round(3), "group": names, "trial": np.arange(label.size)}


def scores(column: str, seed: int, quality: float = 2.0) -> Scores:
    """The same trials, their groups read as data sets or as users."""
    made = trials(seed, quality)
    return Scores.from_predictions(made["label"], made["score"], trial=made["trial"], **{column: made["group"]})


def curve(column: str, quality: float = 2.0, name: str = "A") -> priori.EPC:
    return priori.epc(scores(column, 1, quality), scores(column, 2, quality), points=7, name=name)


@pytest.mark.parametrize("resample", ["test", "both"])
def test_its_bands_are_those_of_users_that_are_the_same_clusters(toy, resample):
    options = {"n_resamples": 300, "resample": resample, "rng": 3, "keep": True}
    band = curve("dataset").band(bootstrap="by-set", **options)
    expected = curve("user").band(bootstrap="user", interval="percentile", shared_users=False, **options)
    np.testing.assert_array_equal(band.replicates, expected.replicates)
    np.testing.assert_array_equal(band.lower, expected.lower)
    np.testing.assert_array_equal(band.upper, expected.upper)
    assert (band.width > 0).all()
    assert (band.settings["bootstrap"], band.settings["interval"]) == ("by-set", "percentile")
    told = [caution.code for caution in band.warnings if caution not in curve("dataset").warnings]
    assert told == ["ends"] * (resample == "both")


def test_it_is_the_default_where_it_suits_best(toy):
    assert curve("dataset").band(n_resamples=20).settings["bootstrap"] == "by-set"
    assert curve("user").band(n_resamples=20).settings["bootstrap"] == "user"
    with pytest.raises(OptionError, match="needs the data set of each trial"):
        curve("user").band(bootstrap="by-set")
    with pytest.raises(OptionError, match="goes with the bootstraps sample, rows, user, crossed, not with by-set"):
        curve("dataset").band(bootstrap="by-set", interval="calibrated")


def test_systems_are_compared_and_ranked_by_it(toy):
    options = {"n_resamples": 300, "rng": 5, "claim": "deployed"}
    found = priori.compare(curve("dataset"), curve("dataset", 1.2, "B"), bootstrap="by-set", **options)
    pair = curve("user"), curve("user", 1.2, "B")
    expected = priori.compare(*pair, bootstrap="user", interval="percentile", **options)
    np.testing.assert_array_equal(found.replicates, expected.replicates)
    np.testing.assert_array_equal(found.p_value, expected.p_value)
    assert found.significant.any()
    ranking = priori.compare_all([curve("dataset"), curve("dataset", 1.2, "B")], bootstrap="by-set", **options)
    assert ranking.settings["bootstrap"] == "by-set"


def test_the_default_claim_takes_it_wherever_one_kind_of_unit_is_drawn(toy):
    by_user = priori.compare(curve("user"), curve("user", 1.2, "B"), n_resamples=50, shared_users=False)
    by_set = curve("dataset"), curve("dataset", 1.2, "B")
    for options in ({}, {"bootstrap": "by-set"}):
        found = priori.compare(*by_set, n_resamples=50, **options)
        assert (found.settings["claim"], found.settings["bootstrap"]) == ("method", "by-set")
        np.testing.assert_allclose(found.p_value, by_user.p_value, rtol=1e-9)
    assert [name for name, each in BOOTSTRAPS.items() if not each.one_level] == ["user-constrained", "joint"]
    with pytest.raises(OptionError, match="takes the bootstraps sample, rows, user, crossed, by-set, not joint"):
        priori.compare(*by_set, n_resamples=50, bootstrap="joint")


def test_the_command_line_has_it(toy, write, run):
    for part, seed in (("dev", 1), ("test", 2)):
        made = trials(seed)
        rows = zip(made["label"], made["score"], made["group"], strict=True)
        lines = [f"{label},{score},{group}" for label, score, group in rows]
        write(f"{part}.csv", "\n".join(["label,score,dataset", *lines, ""]))
    for command in COMMANDS:
        code, help_, _ = run(command, "--help-all")
        assert code == 0
        assert "by-set" in help_
    system = ("--system", "A", "dev.csv", "test.csv")
    pair = (*system, "--system", "B", "dev.csv", "test.csv")
    code, out, err = run("compare", *pair, "--points", "7", "--bootstrap", "by-set", "--resamples", "50", "--json")
    assert code in (0, 1), err
    assert json.loads(out)["bootstrap"] == "by-set"
    code, out, err = run("epc", *system, "--points", "7", "--bootstrap", "by-set", "--resamples", "200", "--json")
    assert code == 0, err
    found = json.loads(out)["systems"][0]["band"]
    expected = curve("dataset").band(bootstrap="by-set", n_resamples=200)
    assert found["bootstrap"] == "by-set"
    np.testing.assert_array_equal(found["lower"], expected.lower)
    np.testing.assert_array_equal(found["upper"], expected.upper)


def test_the_form_has_it(toy):
    page = Pages(Limits()).form("key", "nonce")
    assert re.search(r'<option value="by-set">data sets, with all their trials</option>', page)
    assert Choices.from_fields({"bootstrap": "by-set"}, Limits()).settings().resampling.bootstrap == "by-set"


def test_the_page_says_what_it_redraws(toy):
    system = System("A", scores("dataset", 1), scores("dataset", 2))
    study = make_study([system], Settings(bootstrap="by-set", n_resamples=100, points=3))
    assert describe_settings(study)["Bootstrap"] == "by-set: data sets, with all their trials"
    assert "by-set: data sets, with all their trials" in render_html(study)


def test_the_docs_must_explain_it(toy):
    assert unexplained(BOOTSTRAPS, "concepts/bootstraps.md") == ["by-set"]


def test_none_of_this_outlives_the_toy(run):
    assert list(BOOTSTRAPS) == ["sample", "rows", "user", "user-constrained", "joint", "crossed"]
    assert "by-set" not in run("epc", "--help")[1]
    with pytest.raises(OptionError, match="unknown bootstrap 'by-set'; choose one of: sample, rows, user, "):
        curve("dataset").band(bootstrap="by-set")


@pytest.mark.parametrize("bootstrap", BOOTSTRAPS.values(), ids=BOOTSTRAPS)
def test_every_bootstrap_draws_something_and_says_so(bootstrap):
    assert bootstrap.draws_users or bootstrap.draws_trials
    assert bootstrap.by_user or not bootstrap.draws_users
    assert bootstrap.resamples
    assert not re.search(r"[A-Z.]", bootstrap.resamples[:1] + bootstrap.resamples[-1:])


def test_no_code_asks_a_bootstrap_for_its_name():
    """What differs between bootstraps is asked of the object; its name is for people."""
    from pathlib import Path

    source = Path(priori.__file__).parent
    names = "|".join(BOOTSTRAPS)
    compared = re.compile(rf"bootstrap\"?\]? *(?:==|!=|in) *\(?[\"'](?:{names})[\"']")
    assert [path for path in source.rglob("*.py") if compared.search(path.read_text(encoding="utf-8"))] == []
