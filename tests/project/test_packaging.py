"""The wheel and the sdist hold what they must; the wheel works on its own (`make release` installs it for real)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import priori

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from release import ROOT, check_tags, declared_pythons, linked, pythons_here

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, and the wheel made from the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)],
        capture_output=True,
        check=True,
    )
    return folder


def test_the_wheel_holds_the_package_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    version = f"priori-{priori.__version__}.dist-info/"
    assert [name for name in names if not name.startswith(("priori/", version))] == []
    source = {
        f"priori/{path.relative_to(ROOT / 'src/priori').as_posix()}"
        for path in (ROOT / "src/priori").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if name.startswith("priori/")} == source
    assert "priori/py.typed" in names


def test_the_sdist_can_be_tested_and_built(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for wanted in (
        "pyproject.toml",
        "Makefile",
        "tests/conftest.py",
        "tests/api.txt",
        "docs/conf.py",
        "LICENSE",
        "CHANGELOG.md",
        "SECURITY.md",
        "tools/system-packages",
        "examples/make_faces.py",
        "benchmarks/bench_epc.py",
        "action.yml",
        "Dockerfile",
        "packaging/conda/recipe.yaml",
        "paper/paper.md",
    ):
        assert wanted in names, wanted


def test_the_wheel_works_on_its_own(built: Path, tmp_path: Path) -> None:
    """Unpacked beside the dependencies, so that no file of the source tree can help out."""
    (wheel,) = built.glob("*.whl")
    place = tmp_path / "place"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    (entry,) = place.glob("*.dist-info/entry_points.txt")
    assert "priori = priori.__main__:main" in entry.read_text()
    environment = {**os.environ, "PYTHONPATH": str(place)}
    code = (
        "import priori, priori.sklearn, priori.saving.documents\n"
        "priori.saving.documents.bundle()\n"
        "priori.examples.write('faces', '.')\n"
        "print(priori.__file__)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout.startswith(str(place))
    # Without a bootstrap: its kernels would be compiled for this place. `make release` runs the whole demo.
    given = ["--system", "A", "eigenfaces-dev.csv", "eigenfaces-test.csv", "--no-bootstrap", "-o", "report.html"]
    told = subprocess.run(
        [sys.executable, "-m", "priori", "report", *given],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert (tmp_path / "report.html").stat().st_size > 10_000


# -- files around the code agree with each other -------------------------------------------------------


def test_every_file_says_the_same_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, flags=re.MULTILINE) == [priori.__version__]


def test_a_release_is_tagged_with_the_version_that_it_has() -> None:
    assert check_tags("1.0.0", ["v1.0.0", "v1", "talk"]) == "tagged v1.0.0"
    assert check_tags("1.0.0", ["v1", "talk"]) == "not tagged; to publish: git tag v1.0.0"
    with pytest.raises(SystemExit, match=r"tagged v0\.9\.0, but the package says 1\.0\.0"):
        check_tags("1.0.0", ["v0.9.0"])


def test_links_of_the_published_readme_lead_to_the_tag_of_the_release() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    before, after = (re.findall(r"\]\(([^)#]+)", text) for text in (readme, linked(readme, "https://g.h/i", "v1.0.0")))
    assert len(before) > 20
    for link, published in zip(before, after, strict=True):
        if not link.startswith("https://"):
            kind = "raw" if link.endswith((".svg", ".png")) else "blob"
            assert published == f"https://g.h/i/{kind}/v1.0.0/{link}"
            assert (ROOT / link).is_file()


def test_a_release_is_tried_with_this_python() -> None:
    here = pythons_here([])
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in here
    assert set(here) <= set(declared_pythons())


def test_supported_pythons_are_the_tested_ones() -> None:
    declared = [
        line.rpartition(" ")[2] for line in SETTINGS["project"]["classifiers"] if re.search(r":: 3\.\d+$", line)
    ]
    workflow = (ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8")
    assert re.findall(r"3\.\d+", re.search(r"python: \[(.*)\]", workflow)[1]) == declared  # type: ignore[index]
    assert SETTINGS["project"]["requires-python"] == f">={declared[0]}"


def test_automation_calls_targets_that_exist() -> None:
    workflow = (ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8")
    listed = re.search(r"target: \[(.*)\]", workflow)
    assert listed is not None
    called = {*re.findall(r"run: make ([a-z-]+)", workflow), *listed[1].split(", ")}
    called |= set(re.findall(r"entry: make ([a-z-]+)", (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")))
    assert called <= TARGETS
    assert {"test", "test-lowest", "release", "lint", "types"} <= called
