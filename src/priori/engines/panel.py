"""Panels: trials x systems that stay where they are; each scan of their rows answers as many requests as it can."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import InputError, argument
from priori.base.types import Floats, Ints, Mask
from priori.engines.counting import By, Count, Entries, Fetch, Owned, Work, begun, fed
from priori.engines.sql import SqlTable, TableSettings
from priori.scores import Names, Scores, Trials
from priori.scores.grid import Grid
from priori.scores.labels import attack_codes
from priori.scores.trials import as_amounts

#: Bytes that counts may take, however little memory is given.
LEAST_ROOM = 1 << 24


def systems_of(requests: Sequence[Count | Fetch]) -> tuple[int, ...]:
    """Return the systems that requests are about."""
    return tuple(sorted({system for request in requests for system in request.systems}))


def changed(source: str) -> InputError:
    """Return the error for scores that are not the same in two scans."""
    return InputError(f"{source}: the scores changed while they were read; try again when they are complete")


class Panel(SqlTable):
    """The trials of one system or more; what is asked of all of them at a time is counted in one scan."""

    #: Bytes that counts may take.
    memory: int = 1 << 30

    def view(self, panel: Any, text: str, number: int) -> str:
        """Return a query over another panel's ``trials`` as something to join."""
        raise NotImplementedError

    def placed(self, file: str, row: str) -> str:
        """Return all rows in SQL, with columns that say in which file each stands, and where in it."""
        raise NotImplementedError

    def part(self, condition: str, rows: int, settings: TableSettings) -> Panel:
        """Return the panel of the so many rows that meet a condition, read by settings of its own."""
        raise NotImplementedError

    def panel_of(self, joined: Any, settings: TableSettings) -> Panel:
        """Return a panel of what a query returned."""
        raise NotImplementedError

    def close(self) -> None:
        """Give back what the panel holds: connections, temporary files."""

    # -- scans -------------------------------------------------------------------------------------------

    def answer(self, requests: Sequence[Count | Fetch]) -> list[Any]:
        """Return `Entries`, or `Distinct` scores, for each request, None where too many; by few scans."""
        for system in dict.fromkeys(system for request in requests for system in request.systems):
            self.known(system)
        answers: dict[int, Any] = {}
        for by in dict.fromkeys(request.by for request in requests):
            numbers = [number for number, request in enumerate(requests) if request.by == by]
            owned = self.owned(by, requests[numbers[0]].limit)
            if owned is not None:
                for some in self._at_once({number: requests[number] for number in numbers}, owned):
                    answers |= zip(some, self.scanned([*some.values()], by, owned), strict=True)
        return [answers.get(number) for number in range(len(requests))]

    def _at_once(self, requests: Mapping[int, Count | Fetch], owned: Owned) -> Iterator[dict[int, Count | Fetch]]:
        """Yield the requests that one scan answers: as many as fit in memory together."""
        together, held = dict[int, Count | Fetch](), 0
        for number, request in requests.items():
            size = 16 * (request.limit or 1 << 20)
            if isinstance(request, Count):
                size = min(size, 16 * owned.number * math.prod(request.sizes))
            if together and held + size > self.memory // 2:
                yield together
                together, held = {}, 0
            together[number] = request
            held += size
        yield together

    def begin(self, requests: Sequence[Count | Fetch], owned: Owned) -> Callable[[], list[Work]]:
        """Return what begins the work for each request."""
        dtypes = {system: self.dtype(system) for system in systems_of(requests)}
        return partial(begun, requests, owned, dtypes, max(self.memory // 8, LEAST_ROOM))

    def scanned(self, requests: Sequence[Count | Fetch], by: By, owned: Owned) -> list[Any]:
        """Answer requests by one scan."""
        works = self.begin(requests, owned)()
        with closing(self.batches(systems_of(requests), by)) as rows:
            fed(works, rows)
        return [work.answer() for work in works]

    # -- what came of it, as scores ------------------------------------------------------------------------

    def load(self, system: int = 0) -> Scores:
        """Return all the trials of a system in memory."""
        self.known(system)
        texts, others = (
            [role for role in roles if role in self.columns]
            for roles in (("trial", "dataset", "group"), ("user", "probe_user", "amount"))
        )
        columns = [f"CAST({self.column(role)} AS STRING) AS {self.quoted(role)}" for role in texts]
        columns += [f"{self.column(role)} AS {self.quoted(role)}" for role in others]
        columns += [f"{self._name('attack')} AS attack"] if self.tells("attack") else []
        chosen = ", ".join([f"{self.score(system)} AS score", f"{self.labels.expression} AS label", *columns])
        names = self.table(f"SELECT {chosen} FROM trials WHERE {self.own(system)}")
        label, score = names.pop("label"), names.pop("score").astype(np.float64)
        positive = label == 1
        ids = names.get("trial", np.empty(0)).tolist()
        missing = sum(name is None or (name == "" and self.settings.as_text) for name in ids)
        if ids:
            self.refuse_names("trial", missing, sum("\0" in name for name in ids if name))
        failed = np.isnan(score)
        score[failed] = -np.inf
        return self._scores_of(system, score, positive, names, failed=failed if failed.any() else None)

    def _scores_of(
        self,
        system: int,
        score: Floats,
        positive: Mask,
        names: Mapping[str, NDArray[Any]],
        number: Ints | None = None,
        failed: Mask | None = None,
    ) -> Scores:
        """Return the trials of a system, or the entries that stand for so many, with their names in each role."""
        people = (self.as_names(names[role]) if role in names else None for role in ("user", "probe_user"))
        users, (user, probe) = Names.encode(*people)
        if "part" in names:
            user = names["part"].astype(np.int32)
        datasets, (dataset,) = Names.encode(names["dataset"].astype(str) if "dataset" in names else None)
        groups, (group,) = Names.encode(names["group"].astype(str) if "group" in names else None)
        types, attack = None, None
        if "attack" in names:
            held = names["attack"].astype(str)
            types, attack = attack_codes(held, held != "" if self.labels.attacks else None, held, positive)
        ids = names["trial"].astype(str) if "trial" in names else None
        amount = as_amounts(names["amount"], f"{self.sources[system]}: amount") if "amount" in names else None
        trials = Trials(
            score, user, probe, ids, dataset, group=group, failed=failed, number=number, attack=attack, amount=amount
        )
        return Scores.from_columns(
            trials,
            positive,
            users=users,
            datasets=datasets,
            groups=groups,
            attack_types=types,
            attack_label=self.settings.attack_label,
            source=self.sources[system],
        ).told(self.words)

    def counted(self, request: Count, counts: Entries) -> list[Scores]:
        """Return counts as sets of entries, one for each system, in one order: by names, then by bins.

        An entry has the cut above its bin as score: counts at the cuts are exact.
        """
        named = {role: self.as_names(column) if "user" in role else column for role, column in counts.names.items()}
        texts = [column.astype(str) if column.dtype.kind == "O" else column for column in reversed(named.values())]
        order = np.lexsort([*counts.bins[::-1], counts.positive, *texts])
        names = {role: column[order] for role, column in named.items()}
        failed = None if counts.failed is None else counts.failed[order]
        sets = []
        for system, cuts, bins in zip(request.systems, request.bins, counts.bins, strict=True):
            assert not isinstance(cuts, Grid)
            score = np.append(cuts, np.inf)[bins[order]]
            sets.append(self._scores_of(system, score, counts.positive[order], names, counts.number[order], failed))
        return sets

    # -- pairs -------------------------------------------------------------------------------------------

    @cached_property
    def _known_pairs(self) -> dict[Any, Any]:
        """Sizes of systems, pairs that were compared, and joins, by systems; and other panels, so that ids last."""
        return {}

    def joined(self, system: int, others: Sequence[tuple[Panel, int]]) -> tuple[Panel, tuple[int, ...]]:
        """Return a panel that has these systems for every trial, and their numbers in it.

        This itself, where they are columns of it; else trials are paired by a join on their ids.
        """
        if not others or (self.wide and all(panel is self for panel, _ in others)):
            for panel, number in others:
                self.same_trials(system, panel, number)
            return self, (system, *(number for _, number in others))
        key = "joined", system, *((id(panel), number) for panel, number in others)
        if key not in self._known_pairs:
            paired = [(self, system), *others]
            sizes = [panel.size(number) for panel, number in paired]
            joined, told = self._join(paired)
            for panel, number in others if len(others) > 1 and told[0][0] != sizes[0] else ():
                self.same_trials(system, panel, number)  # which of them has other trials
            for (panel, number), own in zip(others, told, strict=True):
                self._check_pair(system, panel, number, own)
            self._known_pairs[key] = joined, others
        return self._known_pairs[key][0], tuple(range(1 + len(others)))

    def same_trials(self, system: int, other: Panel, number: int) -> bool:
        """Raise an error unless two systems have the same trials; return whether their users are the same too."""
        if self.wide and other is self:
            for own in (system, number) if self.settings.nan == "drop" else ():
                if left_out := self.known(own).nan:
                    raise InputError(
                        f"cannot pair the trials: {left_out} of {self.sources[own]} are NaN and left out; reject them "
                        f"instead ({argument('nan', 'reject')})"
                    )
            return self.has_users
        key = "same", system, id(other), number
        if key not in self._known_pairs:
            pair = (self, system), (other, number)
            for panel, own in pair:
                panel.size(own)  # ids are looked at before anything is joined by them
            with self.guarded():
                (told,) = self._compared(f"({self._joining(pair, self._differences(pair))})", 2)
            self._known_pairs[key] = self._check_pair(system, other, number, told), other
        return bool(self._known_pairs[key][0])

    def _check_pair(self, system: int, other: Panel, number: int, told: tuple[int, int, int, int]) -> bool:
        """Return whether all users are known and the same; an error where trials, labels or users differ."""
        rows, labels, users, missing = told
        sizes = self.size(system), other.size(number)
        one, two, retry = self.sources[system], other.sources[number], argument("unpaired", "True")
        if not rows == sizes[0] == sizes[1]:
            repeated = [(panel, own, panel.by_label(own)) for panel, own in ((self, system), (other, number))]
            if sum(bool(found) for *_, found in repeated) == 1:
                raise next(panel._not_an_id(own, *found[0]) for panel, own, found in repeated if found)
            raise InputError(
                f"cannot pair the trials: {one} has {sizes[0]}, {two} has {sizes[1]}, and {rows} ids are in both; "
                f"if the test sets hold different trials, use compare with {retry}"
            )
        if labels:
            raise InputError(f"cannot pair the trials: {labels} have different labels in {one} and {two}")
        if users:
            raise InputError(
                f"cannot pair the trials: {users} have different users in {one} and {two}; check the user "
                f"columns, or use compare with {retry}"
            )
        return self.has_users and other.has_users and not missing

    def size(self, system: int) -> int:
        """Return how many trials a system has; an error where an id names none of them, or two of one class."""
        if "trial" not in self.columns:
            raise InputError(
                f"cannot pair the trials: {self.sources[system]} has no trial ids, and the rows of a table have no "
                f"order; give a trial column ({argument('columns', 'trial=NAME')}), or use compare "
                f"with {argument('unpaired', 'True')}"
            )
        if system not in self._known_pairs:
            trial, own = self.column("trial"), self.own(system)
            shared, repeated = list[tuple[Any, ...]](), list[tuple[Any, ...]]()
            for label in ("", f", {self.labels.expression} AS label"):
                grouped = f"SELECT {trial} AS name, count(*) AS times{label} FROM trials WHERE {own} GROUP BY ALL"
                odd = f"SELECT name, times FROM ({grouped}) WHERE times > 1 OR name IS NULL LIMIT 1"
                shared, repeated = repeated, self.rows(odd)
                if not repeated:
                    break
            for name, times in repeated:
                raise self._not_an_id(system, name, times)
            self._known_pairs["by label", system] = shared
            self._known_pairs[system] = self.rows(f"SELECT count(*) FROM trials WHERE {own}")[0][0]
        return int(self._known_pairs[system])

    def by_label(self, system: int) -> list[tuple[Any, ...]]:
        """Return an id that names a trial of each class, and how often, if there is one: the label then tells them."""
        self.size(system)
        found: list[tuple[Any, ...]] = self._known_pairs["by label", system]
        return found

    def _not_an_id(self, system: int, name: Any, times: int) -> InputError:
        return InputError(
            f"cannot pair the trials: {self.sources[system]} has the trial id {str(name)!r} {times} times; "
            "an id must name one trial"
        )

    def _join(self, paired: Sequence[tuple[Panel, int]]) -> tuple[Panel, list[tuple[int, int, int, int]]]:
        """Return a panel of systems, joined by their ids, with the names of the first; each of the others compared."""
        names = [role for role in ("user", "probe_user") if role in self.columns]
        scores = [f"score{n}" for n in range(len(paired))]
        selected = [*(f"t{n}.score AS {name}" for n, name in enumerate(scores)), "t0.label", *self._differences(paired)]
        selected += [f"t0.{self.quoted(role)}" for role in names]
        settings = TableSettings(
            {"score": "score0", "label": "label", **{role: role for role in names}},
            nan=self.settings.nan,
            as_text=self.settings.as_text,
            systems=[(panel.sources[own], name) for (panel, own), name in zip(paired, scores, strict=True)],
        )
        with self.guarded():
            joined = self.panel_of(self.query(self._joining(paired, selected)), settings)
        joined.memory = self.memory
        return joined, joined._compared("trials", len(paired))

    def _joining(self, paired: Sequence[tuple[Panel, int]], selected: Sequence[str]) -> str:
        """Return the query for columns of t0, t1, ..., the trials of each system, joined by their ids."""
        # With two trials for an id, one of each class, the label tells them apart.
        labels = " AND t0.label = t{n}.label" if any(panel.by_label(system) for panel, system in paired) else ""
        source = ""
        # Ids of one type are compared as they are, others as text.
        kinds = {panel.type_of("trial") for panel, _ in paired}
        kind = kinds.pop() if len(kinds) == 1 else "STRING"
        for n, (panel, system) in enumerate(paired):
            if type(panel) is not type(self):
                raise InputError(
                    f"cannot pair the trials of {self.source} and {panel.source}: both must come from the same engine"
                )
            name = self.view(panel, panel._plain(system, "STRING" if kind == "VARCHAR" else kind), n)
            source += f" JOIN {name} t{n} ON t0.trial = t{n}.trial{labels.format(n=n)}" if n else f"{name} t0"
        return f"SELECT {', '.join(selected)} FROM {source}"

    def _plain(self, system: int, kind: str) -> str:
        """Return the query for the trials of a system by names of ours, with ids of one kind."""
        known = [role for role in ("user", "probe_user") if role in self.columns]
        people = "".join(f", {self.column(role)} AS {self.quoted(role)}" for role in known)
        return (
            f"SELECT CAST({self.column('trial')} AS {kind}) AS trial, {self.score(system)} AS score, "
            f"{self.labels.expression} AS label"
            f"{people} FROM trials WHERE {self.own(system)}"
        )

    def _differences(self, paired: Sequence[tuple[Panel, int]]) -> list[str]:
        """Return the columns that say how trials of t0 differ from those of t1, ...: in label 1, user 2, no user 4."""
        columns = []
        for n, (panel, _) in enumerate(paired[1:], 1):
            one, two = (f"CAST(t{number}.{self.quoted('user')} AS STRING)" for number in (0, n))
            users = f" + 2 * CAST(coalesce({one} != {two}, false) AS INT)"
            users += f" + 4 * CAST({one} IS NULL OR {two} IS NULL AS INT)"
            known = paired[0][0].has_users and panel.has_users
            columns.append(f"CAST(t0.label != t{n}.label AS INT){users if known else ''} AS differs{n}")
        return columns

    def _compared(self, joined: str, systems: int) -> list[tuple[int, int, int, int]]:
        """Return, for all systems but the first, how many pairs of trials with one id there are.

        With it comes how many of them have other labels, other users, a missing user; users are not compared where a
        system has none.
        """
        asked = [f"count(*) FILTER (WHERE (differs{n} & {bit}) > 0)" for n in range(1, systems) for bit in (1, 2, 4)]
        ((rows, *told),) = self.rows(f"SELECT {', '.join(['count(*)', *asked])} FROM {joined}")
        numbers = iter(map(int, told))
        return [(int(rows), labels, users, missing) for labels, users, missing in zip(*[numbers] * 3, strict=True)]
