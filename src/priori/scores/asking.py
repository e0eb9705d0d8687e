"""Asking: questions to many sets of scores go in step, so that one scan of a panel answers all that wait for it.

What a table needs to answer is a generator: it yields requests to its panel, receives what came of them, and returns
the answer. A set in memory asks for nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

Result = TypeVar("Result")
Owner = TypeVar("Owner")
Arguments = ParamSpec("Arguments")
#: Yields requests, each with the ``panel`` that answers it.
Asking: TypeAlias = Generator[Any, Any, Result]


def asked(
    method: Callable[Concatenate[Owner, Arguments], Asking[Result]],
) -> Callable[Concatenate[Owner, Arguments], Result]:
    """Make a question of a method that is a generator of requests: called, it is asked alone."""

    @wraps(method)
    def alone(self: Owner, /, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        return ask([method(self, *arguments, **named)])[0]

    given = inspect.signature(method)
    returned = str(given.return_annotation).removeprefix("Asking[").removesuffix("]")
    alone.__dict__.update(generator=method, __signature__=given.replace(return_annotation=returned))
    return alone


def asking(question: Callable[..., Result], *arguments: Any) -> Asking[Result]:
    """Return a question, a method of some set, to be asked beside others."""
    generator = getattr(question, "generator", None)
    if generator is None:  # in memory nothing need be asked for
        return question(*arguments)
    found: Result = yield from generator(question.__self__, *arguments)  # type: ignore[attr-defined]
    return found


def ask(askings: Sequence[Asking[Result]]) -> list[Result]:
    """Let all of them ask in step, until each has its answer.

    Examples
    --------
    >>> class Panel:
    ...     def answer(self, requests):
    ...         print(len(requests), "at once")
    ...         return [request.number * 2 for request in requests]
    >>> class Double:
    ...     panel = Panel()
    ...     def __init__(self, number): self.number = number
    >>> def doubled(number):
    ...     return (yield Double(number))
    >>> ask([doubled(1), doubled(5)])
    2 at once
    [2, 10]
    """
    results: dict[int, Result] = {}
    waiting: dict[int, Any] = {}

    def go_on(number: int, answer: Any) -> None:
        asking = askings[number]
        try:
            waiting[number] = asking.throw(answer) if isinstance(answer, Exception) else asking.send(answer)
        except StopIteration as done:
            results[number] = done.value

    for number in range(len(askings)):
        go_on(number, None)
    while waiting:
        requests, panels = dict(waiting), dict.fromkeys(request.panel for request in waiting.values())
        waiting.clear()
        for panel in panels:
            own = [number for number, request in requests.items() if request.panel is panel]
            for number, answer in zip(own, panel.answer([requests[number] for number in own]), strict=True):
                go_on(number, answer)
    return [results[number] for number in range(len(askings))]
