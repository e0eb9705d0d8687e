"""What is published, made and tried: ``make release``.

The commit is cloned twice, and both clones must give the same sdist and wheel, byte for byte. The wheel is installed
into empty environments of every Python on this machine that the project declares, bare and with each extra, and run
there. ``dist/`` then holds sdist, wheel and the bill of materials (CycloneDX) of all that ``priori[all]`` brings.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = ("", "[report]", "[all]")
#: The scores that the bare package is tried with, which cannot draw the demo's page.
WRITE_SCORES = "import priori.examples; priori.examples.write('faces', '.')"


def run(*words: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    """Run a program and return what it prints; where it fails, end with what it said."""
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))} failed ({done.returncode}):\n{done.stdout}")
    return done.stdout.strip()


def check_tags(version: str, tags: list[str]) -> str:
    """Return what to say of the commit's tags; a version tag that is not that of the package ends it.

    Examples
    --------
    >>> check_tags("1.0.0", ["v1.0.0", "v1"])
    'tagged v1.0.0'
    """
    wanted = f"v{version}"
    if wanted in tags:
        return f"tagged {wanted}"
    wrong = [tag for tag in tags if re.fullmatch(r"v\d+\.\d.*", tag)]
    if wrong:
        sys.exit(f"the commit is tagged {', '.join(wrong)}, but the package says {version} (src/priori/_version.py)")
    return f"not tagged; to publish: git tag {wanted}"


def linked(readme: str, repository: str, tag: str) -> str:
    """Return the README as the package index shows it, which has no other file: links lead to the repository.

    Examples
    --------
    >>> linked("![A](a.svg) [B](b.md#c) [D](https://e.f)", "https://g.h/i", "v1")
    '![A](https://g.h/i/raw/v1/a.svg) [B](https://g.h/i/blob/v1/b.md#c) [D](https://e.f)'
    """

    def absolute(link: re.Match[str]) -> str:
        return f"{link[1]}({repository}/{'raw' if link[1][0] == '!' else 'blob'}/{tag}/{link[2]})"

    return re.sub(r"(!?\[[^\]]*\])\((?!https?:|#)([^)]+)\)", absolute, readme)


def build(tools: Path, folder: Path, repository: str) -> dict[str, Path]:
    """Build from a clean clone in a folder; return sdist and wheel by their names."""
    clone = folder / "source"
    run("git", "clone", "--quiet", ROOT, clone)
    if repository:
        readme, project = clone / "README.md", clone / "pyproject.toml"
        version = re.search(r'__version__ = "(.+)"', (clone / "src/priori/_version.py").read_text(encoding="utf-8"))
        readme.write_text(linked(readme.read_text(encoding="utf-8"), repository, f"v{version[1]}"), encoding="utf-8")
        with project.open("a", encoding="utf-8") as file:
            file.write(f'\n[project.urls]\nSource = "{repository}"\n')
    epoch = run("git", "log", "-1", "--format=%ct", cwd=clone)
    run(tools / "python", "-m", "build", "--outdir", folder / "dist", clone, SOURCE_DATE_EPOCH=epoch)
    return {path.name: path for path in sorted((folder / "dist").iterdir())}


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def declared_pythons() -> list[str]:
    """Return the versions that the project says it works with."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [line.rpartition(" ")[2] for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)]


def pythons_here(more: list[str]) -> dict[str, str]:
    """Return a Python for each declared version that this machine has: given, in PATH, or one of pyenv's."""
    versions = declared_pythons()
    found = [*more, sys.executable, *filter(None, (shutil.which(f"python{version}") for version in versions))]
    found += [str(path) for path in Path.home().glob(".pyenv/versions/3.*/bin/python")]
    here: dict[str, str] = {}
    for python in found:
        asked = [python, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"]
        answer = subprocess.run(asked, capture_output=True, text=True, check=False)
        if answer.returncode == 0 and (version := answer.stdout.strip()) in versions:
            here.setdefault(version, python)
    return dict(sorted(here.items(), key=lambda item: versions.index(item[0])))


def install(tools: Path, python: str, folder: Path, what: str) -> Path:
    """Install into an empty environment, which does not even hold pip; return its programs."""
    run(python, "-m", "venv", "--without-pip", folder)
    run(tools / "python", "-m", "pip", "--python", folder / "bin/python", "install", "--quiet", what)
    return folder / "bin"


def try_out(programs: Path, extra: str, folder: Path) -> str:
    """Use what is installed as somebody would in the first minute; return what was run."""
    folder.mkdir()
    if not extra:
        run(programs / "python", "-c", WRITE_SCORES, cwd=folder)
        run(programs / "priori", "epc", "eigenfaces-dev.csv", "eigenfaces-test.csv", cwd=folder)
        refused = subprocess.run([programs / "priori", "demo"], cwd=folder, capture_output=True, text=True, check=False)
        if refused.returncode != 2 or "pip install 'priori[report]'" not in refused.stderr:
            sys.exit(f"priori demo without its libraries does not say what to install:\n{refused.stderr}")
        return "priori epc"
    run(programs / "priori", "demo", "faces", "--output", "demo", cwd=folder)
    if (folder / "demo/report.html").stat().st_size < 10_000:
        sys.exit("priori demo wrote no page")
    return "priori demo"


def megabytes(folder: Path) -> float:
    """Return the size of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def bill_of_materials(tools: Path, programs: Path, path: Path) -> int:
    """Write what an environment holds as CycloneDX JSON; return how many components that are."""
    about = ["--pyproject", ROOT / "pyproject.toml", "--mc-type", "library"]
    run(tools / "cyclonedx-py", "environment", *about, "--output-reproducible", "-o", path, programs / "python")
    return len(json.loads(path.read_text(encoding="utf-8"))["components"])


def release(pythons: list[str], target: Path, repository: str) -> None:
    """Build, compare, try out everywhere, and put what can be published into the target folder."""
    if run("git", "status", "--porcelain"):
        print("there are changes that are not committed; they are left out")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        run(sys.executable, "-m", "venv", folder / "tools")
        tools = folder / "tools/bin"
        run(tools / "python", "-m", "pip", "install", "--quiet", "--upgrade", "pip", "build", "twine", "cyclonedx-bom")
        built, again = (build(tools, folder / name, repository) for name in ("one", "two"))
        for name, path in built.items():
            if digest(path) != digest(again[name]):
                sys.exit(f"{name} differs when it is built again")
        run(tools / "twine", "check", "--strict", *built.values())
        wheel = next(path for name, path in built.items() if name.endswith(".whl"))
        version = wheel.name.split("-")[1]
        print(f"priori {version}, {check_tags(version, run('git', 'tag', '--points-at', 'HEAD').split())}")
        here = pythons_here(pythons)
        print(f"{'Python':8}{'installed':18}{'MB':>6}  tried")
        for python in declared_pythons():
            for extra in EXTRAS if python in here else ():
                place = folder / f"{python}{extra}"
                programs = install(tools, here[python], place, f"{wheel}{extra}")
                tried = try_out(programs, extra, place / "try")
                print(f"{python:8}{'priori' + extra:18}{megabytes(place / 'lib'):6.0f}  {tried}", flush=True)
                if extra == EXTRAS[-1]:
                    bill = folder / f"priori-{version}.cdx.json"
                    components = bill_of_materials(tools, programs, bill)
                shutil.rmtree(place)
            if python not in here:
                print(f"{python:8}not on this machine")
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for path in (*built.values(), bill):
            shutil.copy(path, target)
            print(f"{path.stat().st_size / 1e6:6.2f} MB  {digest(path)}  {target.name}/{path.name}")
        print(f"the bill of materials has {components} components")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", default=[], help="another Python to try (repeatable)")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="where it goes (replaced)")
    parser.add_argument("--repository", default="", help="https://...: where the links of the README are to lead")
    arguments = parser.parse_args()
    if not arguments.repository:
        print("no --repository: on the package index, links and pictures of the README lead nowhere")
    release(arguments.python, arguments.output, arguments.repository.rstrip("/"))
