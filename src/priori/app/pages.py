"""Pages: what the server shows, from templates with autoescaping; a name is text, whatever it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
from typing import TYPE_CHECKING, Any

from priori.app.choices import Choices, options
from priori.app.limits import Limits, Refusal, megabytes

if TYPE_CHECKING:
    from priori.app.jobs import Job


def _marks(mark: str) -> dict[str, str]:
    """Return the places to fill in; nobody who writes a file or a name can know them."""
    return {name: f"{name}-{mark}" for name in ("nonce", "head", "bar")}


def render_result(context: Mapping[str, Any], mark: str) -> str:
    """Render the page in the job's process, from what a report shows, with places left open."""
    from jinja2 import PackageLoader

    from priori.report.page import environment

    marks = _marks(mark)
    template = environment(PackageLoader("priori.app")).get_template("result.html")
    # The server sends a policy with every answer; the page has none of its own.
    return template.render(**{**context, "nonce": marks["nonce"], "policy": None, "marks": marks})


def fill_result(page: str, mark: str, *, nonce: str, head: str, bar: str) -> str:
    """Fill in the places, in the server: a nonce of this answer's own; links to our files and the bar, as HTML."""
    texts = {"nonce": escape(nonce), "head": head, "bar": bar}
    for name, place_mark in _marks(mark).items():
        page = page.replace(place_mark, texts[name])
    return page


class Pages:
    """The pages of the app."""

    def __init__(self, limits: Limits) -> None:
        from jinja2 import PackageLoader
        from markupsafe import Markup

        from priori.report.page import asset, environment

        self.environment = environment(PackageLoader("priori.app"))
        self.environment.filters["size"] = megabytes
        # The style sheet is our own, hence trusted text.
        style = Markup(asset("report.css"))
        self.environment.globals.update(
            limits=limits, stated=_stated(limits), options=options(), style=style, policy=None
        )

    def _render(self, template: str, **context: Any) -> str:
        return self.environment.get_template(template).render(**context)

    def form(
        self,
        key: str,
        nonce: str,
        job: Job | None = None,
        *,
        jobs: Sequence[Job] = (),
        status: Mapping[str, Any] | None = None,
        fields: Mapping[str, str] | None = None,
        errors: Mapping[str, str] | None = None,
    ) -> str:
        """The form, with the visitor's analyses, with a job that is not done, or with what is wrong in its fields."""
        context = _form(key, job, fields, errors)
        return self._render("app.html", **context, nonce=nonce, job=job, status=status, jobs=jobs)

    def result(self, key: str, nonce: str, job: Job, page: str) -> str:
        """A job that is done: its report, with the bar on top."""
        context = {**_form(key, job, errors=job.errors), "job": job, "nonce": nonce}
        head = self._render("head.html", **context)
        bar = self._render("result_bar.html", **context)
        return fill_result(page, job.mark, nonce=nonce, head=head, bar=bar)

    def refused(self, nonce: str, refusal: Refusal) -> str:
        """Why a request was not carried out."""
        return self._render("refused.html", nonce=nonce, refusal=refusal)


def _stated(limits: Limits) -> dict[str, str]:
    """Return the limits as the page states them."""
    return {
        **{name: megabytes(getattr(limits, name)) for name in ("upload", "unpacked", "memory")},
        "systems": str(limits.systems),
        "minutes": f"{limits.seconds / 60:g}",
        "keep": f"{limits.keep / 60:g}",
        "kept": str(limits.kept_per_visitor),
    }


def _form(
    key: str, job: Job | None = None, fields: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return what the form's template needs: values as text, systems with their files, errors by field."""
    choices = asdict(job.choices if job is not None else Choices())
    values = {name: ("1" if value else "") if isinstance(value, bool) else value for name, value in choices.items()}
    files = job.systems if job is not None else {}
    names = {number: system.name for number, system in files.items()}
    if fields is not None:
        values = {name: fields.get(name, "") for name in values}
        names = {name.removeprefix("name-"): text for name, text in fields.items() if name.startswith("name-")}
    systems = [{"key": number, "name": name, "files": files.get(number)} for number, name in names.items()]
    return {
        "key": key,
        "values": values,
        "systems": systems or [{"key": "0", "name": "", "files": files.get("0")}],
        "errors": dict(errors or {}),
        "notes": job.notes if job is not None else {},
    }
