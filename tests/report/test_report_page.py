"""The page as text: self-contained, escaped, small enough, and what it says."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

import small_studies
from priori.plots.style import COLOURS
from priori.report import render_html
from priori.report.page import asset, environment, pack, page_data, unpack
from priori.studies.evaluation import Study
from priori.words.cautions import cautions
from priori.words.sentences import verdict

VOID = {"meta", "link", "input", "br", "img", "hr"}


class Reader(HTMLParser):
    """Collects the elements of a page and checks that they are nested as they should be."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture(scope="module")
def two() -> Study:
    return small_studies.study(2.5, 1.6)


@pytest.fixture(scope="module")
def page(two: Study) -> str:
    return render_html(two)


def test_one_file_with_everything_inside(page: str) -> None:
    assert len(page.encode()) < 300_000
    read = Reader(page)
    assert [one.get("type") for one in read.all("script")] == ["text/plain", None]
    assert not any("src" in one for one in read.all("script"))
    assert [one["href"] for one in read.all("link")] == ["data:,"]
    assert read.all("iframe") == read.all("img") == []
    assert set(re.findall(r"https?://[^\s\"'<>]+", page)) == set()


def test_no_handlers_and_no_style_attributes(page: str) -> None:
    for tag, attributes in Reader(page).found:
        assert not any(name.startswith("on") for name in attributes), tag
        assert "style" not in attributes, tag


def test_the_page_carries_its_own_policy(two: Study, page: str) -> None:
    policy = next(one["content"] for one in Reader(page).all("meta") if "http-equiv" in one) or ""
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy.partition("script-src")[2].partition(";")[0]
    served = render_html(two, nonce="abc")
    assert "http-equiv" not in served
    read = Reader(served)
    assert [one.get("nonce") for one in [*read.all("script"), *read.all("style")]] == ["abc"] * 3


def test_what_it_says() -> None:
    doubtful = small_studies.study(3.2, 1.6)  # so good that few errors are seen, and this is said
    page = render_html(doubtful)
    text = re.sub(r"\s+", " ", page.replace("\xa0", " "))
    for answer in verdict(doubtful).answers:
        assert answer.answer.replace("'", "&#39;").replace("<", "&lt;") in text
    said = cautions(doubtful)
    assert [caution.code for caution in said] == ["few-units"]
    for caution in said:
        assert caution.sentence in text
    order = [
        'id="headline"',
        'id="plot-dots"',
        'class="deploy"',
        'id="alpha"',
        'id="verdict"',
        'id="cautions"',
        'id="plot-epc"',
    ]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert text.count("a posteriori</span>") == 2
    assert "ab" * 32 in text
    assert "priori report --system A a b" in text
    assert '<html lang="en">' in page
    assert re.search(r"<dt>Seed</dt><dd>0</dd>", page)


def test_the_same_study_the_same_page(two: Study, page: str) -> None:
    assert render_html(two) == page


def test_the_data_for_the_script(two: Study, page: str) -> None:
    packed = re.search(r'id="priori-data">(.*?)</script>', page)
    assert packed
    data = unpack(packed[1])
    assert data == unpack(pack(page_data(two)))
    assert data["systems"][1]["value"] == two.curves[1].value.tolist()
    assert data["live"]["answers"]["performance"][3].replace("\xa0", " ") == verdict(two, 3).answers[0].answer
    assert [len(column) for column in data["live"]["answers"].values()] == [21] * 4


def test_pages_of_many_systems_and_of_large_ones_stay_small() -> None:
    many = small_studies.study(*[2.0] * 12, names=tuple(f"system {n}" for n in range(12)), points=101, n_resamples=20)
    assert len(render_html(many).encode()) < 600_000
    large = small_studies.study(2.5, 1.5, sizes={"negatives": 100_000, "positives": 50_000}, bootstrap=None)
    for member in large.members:
        assert member.roc.fpr.size <= 2000
        assert member.det.fpr.size <= 2000
    assert len(render_html(large).encode()) < 200_000


def test_hostile_names() -> None:
    study = small_studies.study(2.5, 1.6, 2.0, names=small_studies.HOSTILE, title=small_studies.HOSTILE[1])
    page = render_html(study)
    read = Reader(page)
    assert read.all("img") == []
    assert len(read.all("script")) == 2
    assert "{{ 7*7 }}" in page
    assert page.count("w" * 300) == 33  # in full once, among the files; cut everywhere else


def test_names_that_no_encoding_has() -> None:
    study = small_studies.study(2.5, 1.6, names=("bad \udcff name", "tab\tand\nline"), bootstrap=None)
    assert "bad \ufffd name" in render_html(study).encode("utf-8").decode()


def test_colours_are_the_figures_own() -> None:
    style = asset("report.css")
    light, dark = (re.findall(r"--c\d: (#\w+)", style)[at : at + 8] for at in (0, 8))
    assert [colour.upper() for colour in light] == [colour.upper() for colour in COLOURS]
    for colours, paper in ((light, "#ffffff"), (dark, "#14171a")):
        assert min(contrast(colour, paper) for colour in colours) >= 3


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_templates_escape_and_miss_nothing() -> None:
    made = environment()
    assert made.from_string("{{ x }}").render(x="<b>") == "&lt;b&gt;"
    with pytest.raises(Exception, match="undefined"):
        made.from_string("{{ missing }}").render()


def test_one_system_has_nothing_to_compare() -> None:
    page = render_html(small_studies.study(2.5, bootstrap=None, points=5))
    read = Reader(page)
    assert "figure-difference" not in {attributes.get("id") for _, attributes in read.found}
    assert not any("data-toggle" in one for one in read.all("input"))
