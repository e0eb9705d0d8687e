"""The conda package, built and tried where no conda channel can be reached: ``make conda``.

A channel of its own is made of this Python and of what pip installs, one conda package for each distribution, with the
names that conda-forge has for them. rattler-build then builds ``packaging/conda`` against it and runs the tests of the
recipe in an environment made of that channel. That shows that the recipe works; conda-forge builds what is published.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from rattler_build import ArchiveType, Stage0Recipe, ToolConfiguration, VariantConfig, assemble_package, collect_files

ROOT = Path(__file__).parents[1]
VERSION = "{}.{}.{}".format(*sys.version_info)
PLATFORM = "linux-64"
SITE = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
#: Where conda-forge has another name than PyPI.
NAMES = {"duckdb": "python-duckdb", "matplotlib": "matplotlib-base"}


def conda_name(name: str) -> str:
    """Return what conda-forge calls a distribution.

    Examples
    --------
    >>> conda_name("MarkupSafe"), conda_name("duckdb")
    ('markupsafe', 'python-duckdb')
    """
    plain = canonicalize_name(name)
    return NAMES.get(plain, plain)


def needs(distribution: Distribution) -> Iterator[str]:
    """Yield what a distribution needs here, without its extras, as conda writes it."""
    for text in distribution.requires or ():
        need = Requirement(text)
        if need.marker is None or need.marker.evaluate({"extra": ""}):
            yield f"{conda_name(need.name)} {str(need.specifier).replace('~=', '>=')}".strip()


def package_python(channel: Path) -> None:
    """Put this Python into the channel, without what is installed into it."""
    kept = Path(sys.base_prefix)
    files = collect_files(kept, exclude_globs=[f"{SITE}/**", "**/__pycache__/**", "**/test/**", "share/**"])
    describe = {"archive_type": ArchiveType.Conda, "compression_level": 1, "detect_prefix": False}
    assemble_package("python", VERSION, PLATFORM, "0_cpython", channel / PLATFORM, files=files, **describe)


def package_distribution(distribution: Distribution, installed: Path, staged: Path, channel: Path) -> None:
    """Put an installed distribution into the channel, all of it that lies in its packages."""
    for file in distribution.files or ():
        source = installed / file
        if ".." not in file.parts and "__pycache__" not in file.parts and source.is_file():
            target = staged / SITE / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    depends = [f"python {sys.version_info.major}.{sys.version_info.minor}.*", *needs(distribution)]
    name, version = conda_name(distribution.metadata["Name"]), re.sub(r"[-+].*", "", distribution.version)
    describe = {"depends": depends, "compression_level": 1, "detect_prefix": False}
    assemble_package(name, version, PLATFORM, "0_pip", channel / PLATFORM, files_dir=staged, **describe)


def make_channel(folder: Path) -> Path:
    """Make the channel of this Python and of what pip installs for ``priori[all]`` and to build it."""
    channel, installed = folder / "channel", folder / "installed"
    (channel / PLATFORM).mkdir(parents=True)
    wanted = [f"{ROOT}[all]", "pip", "hatchling"]
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", installed, *wanted], check=True)
    package_python(channel)
    for number, distribution in enumerate(distributions(path=[str(installed)])):
        if distribution.metadata["Name"] != "priori":
            package_distribution(distribution, installed, folder / f"staged-{number}", channel)
    return channel


def build(output: Path) -> None:
    """Build the recipe against such a channel, run its tests, and copy the package into a folder."""
    with tempfile.TemporaryDirectory() as scratch:
        channel = make_channel(Path(scratch))
        recipe = Stage0Recipe.from_file(ROOT / "packaging/conda/recipe.yaml")
        for variant in recipe.render(VariantConfig()):
            result = variant.run_build(
                tool_config=ToolConfiguration(test_strategy="native"),
                output_dir=channel,  # indexed before it is searched
                channels=[channel.as_uri()],
            )
            for package in result.packages:
                output.mkdir(parents=True, exist_ok=True)
                shutil.copy(package, output)
                print(f"{Path(package).stat().st_size / 1e6:6.2f} MB  {output.name}/{Path(package).name}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="where the package goes")
    build(parser.parse_args().output)
