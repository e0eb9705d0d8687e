"""Asking: questions to many sets of scores go in step, so that one scan of a panel answers all that wait for it.

What a set needs to answer is a generator: it yields requests to its panel, receives what came of them, and returns the
answer. A set in memory asks for nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar


class Answering(Protocol):
    """Where trials are: what is asked there at the same time costs one scan."""

    def answer(self, requests: Sequence[Any]) -> list[Any]:
        """Return what came of each request; of one that failed the error."""


class Request(Protocol):
    """What is asked of a panel."""

    @property
    def panel(self) -> Answering:
        """Who answers."""


Result = TypeVar("Result")
Asking: TypeAlias = Generator[Request, Any, Result]


def ask(askings: Sequence[Asking[Result]]) -> list[Result]:
    """Let all of them ask in step, until each has its answer.

    Examples
    --------
    >>> class Scale:
    ...     def answer(self, requests):
    ...         print(len(requests), "at once")
    ...         return [request.number * 2 for request in requests]
    >>> class Double:
    ...     panel = Scale()
    ...     def __init__(self, number): self.number = number
    >>> def doubled(number):
    ...     return (yield Double(number))
    >>> ask([doubled(1), doubled(5)])
    2 at once
    [2, 10]
    """
    results: dict[int, Result] = {}
    waiting: dict[int, Request] = {}

    def go_on(number: int, answer: Any) -> None:
        asking = askings[number]
        try:
            waiting[number] = asking.throw(answer) if isinstance(answer, Exception) else asking.send(answer)
        except StopIteration as done:
            results[number] = done.value

    for number in range(len(askings)):
        go_on(number, None)
    while waiting:
        asked, panels = dict(waiting), dict.fromkeys(request.panel for request in waiting.values())
        waiting.clear()
        for panel in panels:
            own = [number for number, request in asked.items() if request.panel is panel]
            for number, answer in zip(own, panel.answer([asked[number] for number in own]), strict=True):
                go_on(number, answer)
    return [results[number] for number in range(len(askings))]
