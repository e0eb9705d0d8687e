"""The documentation does what it says, and lacks nothing: pages run, links lead somewhere, every name is there."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import signal
import sys
from pathlib import Path

import click
import pytest

import priori
import priori.cli
import priori.testing
from pages import DOCS, ROOT, check, pages, runnable, unexplained
from priori.base.caution_codes import CODES
from priori.cli import COMMANDS, cli
from priori.decisions.criteria import CRITERIA
from priori.decisions.measures import MEASURES
from priori.decisions.presets import PRESETS
from priori.decisions.tasks import TASKS
from priori.readers import FORMATS
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS

sys.path.insert(0, str(DOCS / "_ext"))
from commands import CAUTIONS, MARK, cautions_markdown, command_markdown, fill

EXAMPLES = sorted((DOCS / "examples").glob("*.py"))
#: Reports that are made with the site.
LIVE = {f"reports/{name}.html" for name in priori.examples.NAMES}


def text(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", runnable(), ids=short)
def test_pages_print_what_they_show(page: Path) -> None:
    assert check(page) == []


def test_pages_with_commands_are_found() -> None:
    assert {"README.md", "docs/tutorials/faces.md", "docs/averaging.md"} <= {short(page) for page in runnable()}


@pytest.mark.parametrize("script", EXAMPLES, ids=short)
def test_examples_draw(script: Path) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    try:
        exec(compile(script.read_text(encoding="utf-8"), script.name, "exec"), {})
        assert plt.gcf().axes[0].has_data()
    finally:
        plt.close("all")
    assert f".. plot:: examples/{script.name}" in text("examples/index.md")


# What must be somewhere in the documentation.


def test_every_command_has_its_section_and_every_option_is_in_it() -> None:
    assert MARK.findall(text("reference/commands.md")) == list(COMMANDS)
    for name in COMMANDS:
        assert f"\n## priori {name}\n" in text("reference/commands.md")
        described = command_markdown(name)
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        for parameter in command.params:
            written = [*parameter.opts, *parameter.secondary_opts] if isinstance(parameter, click.Option) else []
            missing = [option for option in written if not re.search(rf"^`[^`]*{re.escape(option)}\b", described, re.M)]
            assert missing == [], name
        assert (command.help or "").split("\n")[0] in described


def test_every_caution_is_explained() -> None:
    assert text("cautions.md").count(CAUTIONS) == 1
    assert cautions_markdown() in fill(text("cautions.md"))
    for code, kind in CODES.items():
        assert f"\n`{code}` ({kind.level})\n: " in f"\n{cautions_markdown()}"


def test_the_command_line_reference_refuses_an_unknown_command() -> None:
    with pytest.raises(ValueError, match="there is no command 'ecp'"):
        command_markdown("ecp")


def test_every_public_name_is_in_the_reference() -> None:
    reference = text("reference/api.md")
    assert [name for name in priori.__all__ if not re.search(rf"priori\.{name}\b", reference)] == []


def test_every_name_for_scikit_learn_is_in_the_reference() -> None:
    names = pytest.importorskip("priori.sklearn").__all__
    assert [name for name in names if f":: priori.sklearn.{name}\n" not in text("reference/api.md")] == []


def test_every_name_for_tests_of_your_own_is_in_the_reference() -> None:
    reference = text("reference/api.md")
    assert [name for name in priori.testing.__all__ if f":: priori.testing.{name}\n" not in reference] == []


def test_nothing_is_in_the_reference_that_is_not_public() -> None:
    for name in re.findall(r"^\.\. auto\w+:: priori\.(\w+)", text("reference/api.md"), flags=re.MULTILINE):
        assert name in {*priori.__all__, "uncertainty", "sklearn", "testing"}


@pytest.mark.parametrize(
    ("names", "page"),
    [
        (MEASURES, "concepts/criteria.md"),
        (CRITERIA, "concepts/criteria.md"),
        (TASKS, "concepts/criteria.md"),
        (PRESETS, "concepts/criteria.md"),
        (BOOTSTRAPS, "concepts/bootstraps.md"),
        (["calibrated", "percentile", "centred"], "concepts/bootstraps.md"),
        (FORMATS, "formats.md"),
        (priori.examples.NAMES, "tutorials/index.md"),
    ],
    ids=["measures", "criteria", "tasks", "presets", "bootstraps", "intervals", "formats", "examples"],
)
def test_every_name_people_type_is_explained(names: list[str], page: str) -> None:
    assert unexplained(names, page) == []


def test_every_exit_code_is_explained_and_no_other() -> None:
    codes: set[int] = set()
    for node in ast.walk(ast.parse(inspect.getsource(priori.cli))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("_fail", "sys.exit"):
            codes |= {
                argument.value
                for argument in node.args
                if isinstance(argument, ast.Constant) and isinstance(argument.value, int)
            }
    table = {int(code) for code in re.findall(r"^\| (\d+) \|", text("reference/exit-codes.md"), flags=re.MULTILINE)}
    codes |= {128 + number for number in (signal.SIGINT, signal.SIGTERM)}
    said = {int(code) for code in re.findall(r"\d+", cli.epilog or "")}
    assert table == codes == said


def test_every_error_is_explained() -> None:
    errors = [name for name in priori.__all__ if name.endswith("Error")]
    assert len(errors) >= 3
    assert [name for name in errors if f"`priori.{name}`" not in text("reference/exit-codes.md")] == []


# Links between pages.


def slug(heading: str) -> str:
    """Return the anchor that GitHub and MyST give a heading."""
    plain = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")


def without_code(content: str) -> str:
    return re.sub(r"^```.*?^```$", "", content, flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#{1,3} (.+)$", without_code(page.read_text(encoding="utf-8")), flags=re.MULTILINE)
    return {slug(heading) for heading in headings}


@pytest.mark.parametrize("page", pages(), ids=short)
def test_links_lead_somewhere(page: Path) -> None:
    content = without_code(page.read_text(encoding="utf-8"))
    for target in [*re.findall(r"\]\(([^)\s]+)\)", content), *re.findall(r'href="([^"]+)"', content)]:
        if re.match(r"https?:", target):
            continue
        if target in LIVE:
            continue
        name, _, anchor = target.partition("#")
        # Links in HTML lead to built pages.
        name = re.sub(r"(?<!gallery/index)\.html$", ".md", name)
        linked = (page.parent / name).resolve() if name else page
        assert linked.is_file(), target
        if anchor:
            assert anchor in anchors(linked), target


def test_the_reports_of_the_gallery_are_made_with_the_site() -> None:
    linked = re.findall(r'href="reports/(\w+)\.html"', text("gallery.md"))
    made = re.search(r"^REPORTS = \((.+)\)$", text("conf.py"), flags=re.MULTILINE)
    assert made is not None
    assert re.findall(r"\w+", made[1]) == linked
    assert len(linked) == 3


def test_every_page_is_in_a_table_of_contents() -> None:
    listed = {DOCS / "index.md"}
    for page in pages()[1:]:
        for block in re.findall(
            r"^```\{toctree\}\n(.*?)^```$", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE
        ):
            lines = [line for line in block.split("\n") if line and not line.startswith(":")]
            names = [re.sub(r"^.*<(.+)>$", r"\1", line) for line in lines]
            listed |= {(page.parent / f"{name}.md").resolve() for name in names}
    assert sorted(map(short, listed)) == sorted(map(short, pages()[1:]))


def test_pages_need_no_network() -> None:
    for page in pages()[1:]:
        assert not re.search(r"!\[[^\]]*\]\(https?:|src=\"https?:|\{image\} https?:", page.read_text("utf-8")), page


def test_members_on_the_page_of_python_exist() -> None:
    page = (DOCS / "reference/api.md").read_text(encoding="utf-8")
    listed = re.findall(r"autoclass:: (priori[\w.]*)\.(\w+)\n   :members: (.+)", page)
    assert len(listed) > 10
    for module, name, members in listed:
        found = getattr(importlib.import_module(module), name)
        known = {*dir(found), *getattr(found, "__dataclass_fields__", ())}
        assert {*members.split(", ")} <= known, name
