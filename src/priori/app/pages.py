"""Pages: what the server shows, from templates with autoescaping; a name is text, whatever it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from priori.app.choices import Choices, options
from priori.app.jobs import Job, describe
from priori.app.limits import Limits, Refusal, megabytes
from priori.app.result import fill_result, library_styles


class Pages:
    """The pages of the app."""

    def __init__(self, limits: Limits) -> None:
        from jinja2 import PackageLoader
        from markupsafe import Markup

        from priori.report.page import asset, environment

        self.limits = limits
        self.environment = environment(PackageLoader("priori.app"))
        self.environment.filters["size"] = megabytes
        # The style sheet is ours: trusted text.
        style = Markup(asset("report.css"))
        self.environment.globals.update(
            limits=limits, stated=describe(limits), options=options(), style=style, policy=None, static=True, styles=()
        )

    def _render(self, template: str, **context: Any) -> str:
        return self.environment.get_template(template).render(**context)

    def front(self, key: str, nonce: str, jobs: Sequence[Job]) -> str:
        """The form, and the visitor's analyses."""
        return self._render("app.html", **_form(key), nonce=nonce, job=None, status=None, jobs=jobs)

    def job(self, key: str, nonce: str, job: Job, status: Mapping[str, Any]) -> str:
        """A job that is not done."""
        context = _form(key, job, errors=job.errors)
        return self._render("app.html", **context, nonce=nonce, job=job, status=status, jobs=[])

    def wrong(self, key: str, nonce: str, job: Job | None, fields: Mapping[str, str], errors: Mapping[str, str]) -> str:
        """A form that cannot be used, with what is wrong."""
        context = _form(key, job, fields, errors)
        return self._render("app.html", **context, nonce=nonce, job=job, status=None, jobs=[])

    def result(self, key: str, nonce: str, job: Job, page: str) -> str:
        """A job that is done: its report, with the bar on top."""
        context = {**_form(key, job, errors=job.errors), "job": job, "nonce": nonce}
        head = self._render("head.html", **context, styles=library_styles())
        bar = self._render("result_bar.html", **context)
        return fill_result(page, job.mark, nonce=nonce, head=head, bar=bar)

    def refused(self, nonce: str, refusal: Refusal) -> str:
        """Why a request was not carried out."""
        return self._render("refused.html", nonce=nonce, refusal=refusal)


def _form(
    key: str,
    job: Job | None = None,
    fields: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return what the form's template needs: values as text, systems with their files, errors by field."""
    choices = asdict(job.choices if job is not None else Choices())
    values = {name: ("1" if value else "") if isinstance(value, bool) else value for name, value in choices.items()}
    kept = job.systems if job is not None else {}
    names = {key: one.name for key, one in kept.items()}
    if fields is not None:
        values = {name: fields.get(name, "") for name in values}
        names = {name.removeprefix("name-"): text for name, text in fields.items() if name.startswith("name-")}
    return {
        "key": key,
        "values": values,
        "systems": [{"key": one, "name": name, "files": kept.get(one)} for one, name in (names or {"0": ""}).items()],
        "errors": dict(errors or {}),
        "notes": job.notes if job is not None else {},
    }
