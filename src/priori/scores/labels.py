"""What labels and names mean: which is the positive class, which are attacks, and which names are no person's.

A name that stands for many people, or for nobody, is no person. A trial with such a name has one identity, the claimed
one: its probe user is set to that, as it is where somebody claims to be himself. Everything that keeps a person's
trials together asks `Trials.partner`, which has no such names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priori.base.cautions import Caution
from priori.base.dataframes import as_text, is_missing, unmasked
from priori.base.errors import InputError, OneClassError, argument
from priori.base.types import Codes, Index, Mask
from priori.scores.sorting import counted
from priori.scores.trials import Names, Trials, codes_in_use, one_each

#: At most this many labels are sorted.
FEW = 1 << 10
#: The pairs that need no option, positive first; compared in lower case.
KNOWN_PAIRS: tuple[tuple[str, str], ...] = (
    ("1", "0"),
    ("1", "-1"),
    ("true", "false"),
    ("target", "nontarget"),
    ("genuine", "impostor"),
    ("client", "impostor"),
    ("bonafide", "spoof"),
    ("bonafide", "attack"),
    ("yes", "no"),
    ("positive", "negative"),
    ("pos", "neg"),
    ("spam", "ham"),
    ("match", "nonmatch"),
    ("mated", "nonmated"),
    ("same", "different"),
    ("case", "control"),
    ("malignant", "benign"),
    ("fraud", "legitimate"),
    ("fraud", "legit"),
    ("fraud", "honest"),
    ("ill", "healthy"),
    ("sick", "healthy"),
    ("anomaly", "normal"),
    ("fake", "real"),
    ("machine", "human"),
)

#: Labels of attacks, beside those of a pair; compared in lower case.
KNOWN_ATTACKS = ("spoof", "attack")

#: What stands in a column of attack types where a trial is no attack; compared in lower case.
NO_ATTACK = (
    "",
    "-",
    "none",
    "no",
    "na",
    "n/a",
    "nan",
    "<na>",
    "null",
    "bonafide",
    "bona fide",
    "bona-fide",
    "genuine",
    "licit",
    "real",
    "impostor",
    "nontarget",
    "zero-effort",
)

#: How a label that is missing is written, besides NaN; compared in lower case.
MISSING = ("", "na", "n/a", "<na>", "null")

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


def normal(value: Any) -> str:
    """Return a label as text that compares well: lower case, and 1.0 the same as 1."""
    text = str(value).strip().lower()
    if _WHOLE.fullmatch(text):
        return str(int(text))
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else text


def is_missing_label(value: Any) -> bool:
    """Tell whether a label is missing: None, NaN or NA, as a value or as text.

    Examples
    --------
    >>> [label for label in (1, "NA", "nan", "none", float("nan"), None, "") if is_missing_label(label)]
    ['NA', 'nan', nan, None, '']
    """
    if is_missing(value):
        return True
    text = normal(value)
    try:
        return text in MISSING or math.isnan(float(text))
    except ValueError:
        return False


def missing_labels(where: str, number: int, labels: Iterable[Any], first: str | None = None) -> InputError:
    """Return the error for so many labels that are missing; ``first`` says where the first one is."""
    written = sorted({repr(str(label)) for label in labels if not is_missing(label)})
    details = [f"written as {', '.join(written)}"] if written else []
    details += [f"the first {first}"] if first else []
    said = f" ({'; '.join(details)})" if details else ""
    return InputError(
        f"{where}: {number} label{'s are' if number != 1 else ' is'} missing{said}; every trial needs one"
    )


def attack_values(values: list[Any], attack_label: Any = None, *, where: str = "labels") -> list[Any]:
    """Return which of the distinct label values mark attacks: those asked for, or of three the one known to do so."""
    if attack_label is None:
        return [value for value in values if normal(value) in KNOWN_ATTACKS] if len(values) > 2 else []
    asked = attack_label if isinstance(attack_label, (list, tuple)) else [attack_label]
    known = {normal(value): value for value in values}
    for value in asked:
        if normal(value) not in known:
            listed = ", ".join(repr(str(value)) for value in values[:5]) + (", ..." if len(values) > 5 else "")
            raise InputError(f"{where}: the attack label {str(value)!r} does not occur; the labels are {listed}")
    return [known[normal(value)] for value in asked]


def attackers(names: Iterable[Any], attack_label: Any = None) -> list[Any]:
    """Return which of the people who were really there are attacks: by the word before a slash.

    Examples
    --------
    >>> attackers(["anna", "attack", "attack/mask", "Attackson"])
    ['attack', 'attack/mask']
    """
    asked = KNOWN_ATTACKS if attack_label is None else attack_label
    words = {normal(word) for word in (asked if isinstance(asked, (list, tuple)) else [asked])}
    return [name for name in names if normal(str(name).partition("/")[0]) in words]


def attack_codes(
    types: NDArray[Any] | None, marked: Mask | None, labels: NDArray[Any], positive: Mask
) -> tuple[Names | None, Codes | None]:
    """Return the names of the attack types, "" first, and the code of every trial's; None where nothing names attacks.

    ``types`` is a column of attack types, ``marked`` says which labels mark attacks; one without a type has its label
    as type. Without marks, a trial of the negative class is an attack where its type is neither a word for none nor one
    that a positive trial has too.

    Examples
    --------
    >>> names, codes = attack_codes(np.array(["real", "-", "mask"]), None, np.zeros(3), np.array([True, False, False]))
    >>> names.values.tolist(), codes.tolist()
    (['', 'mask'], [0, 0, 1])
    """
    if types is None and marked is None:
        return None, None
    if marked is None:
        assert types is not None
        values, index = np.unique(types.astype(str), return_inverse=True)
        none = {*NO_ATTACK, *(normal(value) for value in values[np.unique(index[positive])])}
        marked = ~np.array([normal(value) in none for value in values], dtype=np.bool_)[index]
    attack = marked & ~positive
    held = labels.astype(str)
    if types is not None:
        held = np.where(types.astype(str) == "", held, types.astype(str))
    values, index = np.unique(held[attack], return_inverse=True)
    codes = np.zeros(attack.size, dtype=np.int32)
    codes[attack] = index + 1
    return Names(np.append(np.array([""], dtype=values.dtype), values)), codes


def type_names(values: ArrayLike, size: int) -> NDArray[Any]:
    """Return a column of attack types as text; where one is missing, the trial is no attack."""
    array = one_each(unmasked(np.asanyarray(values)), "attack", size)
    return as_text(np.array(["" if is_missing(value) else value for value in array.tolist()], dtype=object), "attack")


def positive_value(
    values: list[Any], pos_label: Any = None, *, where: str = "labels", attacks: Iterable[Any] = ()
) -> Any:
    """Choose, among the distinct label values, the positive one; ``attacks`` are labels of attacks among them.

    Raises
    ------
    InputError
        When there are not two values, or when the pair is unknown and ``pos_label`` is not given.
    """
    if not values:
        raise InputError(f"{where}: no trials; both classes are needed")
    listed = ", ".join(repr(str(value)) for value in values[:5]) + (", ..." if len(values) > 5 else "")
    marked = {normal(value) for value in attacks}
    by_name = {normal(value): value for value in values if normal(value) not in marked}
    if pos_label is not None:
        for value in values:
            if normal(value) == normal(pos_label) or value == pos_label:
                return value
        raise InputError(f"{where}: the positive label {str(pos_label)!r} does not occur; the labels are {listed}")
    if len(by_name) == 1 and marked:
        return next(iter(by_name.values()))
    if len(by_name) == 1:
        raise OneClassError(f"{where}: one class only, every label is {listed}; trials of both classes are needed")
    if len(by_name) != 2:
        raise InputError(
            f"{where}: {len(by_name)} different labels ({listed}) where two are needed; "
            f"say which one is positive ({argument('pos_label', 'VALUE')}): all others are then negative"
        )
    for positive, negative in KNOWN_PAIRS:
        if set(by_name) == {positive, negative}:
            return by_name[positive]
    raise InputError(
        f"{where}: the labels {listed} are not a pair we know; say which one is positive "
        f"({argument('pos_label', 'VALUE')})"
    )


def is_positive(word: str, pos_label: Any, *, where: str) -> bool:
    """Tell whether the only label that occurs, as `normal` writes it, is that of the positive class."""
    if pos_label is not None:
        return word == normal(pos_label)
    for pair in KNOWN_PAIRS:
        if word in pair:
            return word == pair[0]
    raise InputError(
        f"{where}: every label is {word!r}, which we do not know; say which is positive "
        f"({argument('pos_label', 'VALUE')})"
    )


def classes_of(
    labels: NDArray[Any], pos_label: Any = None, attack_label: Any = None, *, where: str = "labels"
) -> tuple[NDArray[np.bool_], NDArray[np.bool_] | None]:
    """Return, for each label, whether it is of the positive class, and whether it marks an attack (None: none does).

    Examples
    --------
    >>> import numpy as np
    >>> positive, attack = classes_of(np.array(["target", "nontarget", "spoof"]))
    >>> positive.tolist(), attack.tolist()
    ([True, False, False], [False, False, True])
    """
    if labels.dtype == np.bool_ and pos_label is None and attack_label is None:
        return labels, None
    if labels.dtype.kind == "O":
        _refuse_missing(np.fromiter(map(is_missing, labels), dtype=np.bool_, count=labels.size), [], where)
    if labels.dtype.kind in "OS":
        labels = as_text(labels, where)
    # For the distinct values of many labels numpy imports its masked arrays; those of a file are few.
    values = np.unique(labels, return_index=True)[0] if labels.size < FEW else np.unique(labels)
    missing = [value for value in values if is_missing_label(value)]
    _refuse_missing(np.isin(labels, missing) | (labels != labels) if missing else np.zeros(0, np.bool_), missing, where)
    attacks = attack_values(list(values), attack_label, where=where)
    chosen = normal(positive_value(list(values), pos_label, where=where, attacks=attacks))
    matching = [value for value in values if normal(value) == chosen]
    positive = np.isin(labels, matching)
    marked = [value for value in values if normal(value) in {normal(attack) for attack in attacks} - {chosen}]
    return positive, np.isin(labels, marked) if marked else None


def _refuse_missing(missing: NDArray[np.bool_], labels: list[Any], where: str) -> None:
    if missing.any():
        raise missing_labels(where, int(missing.sum()), labels, f"in row {int(missing.argmax()) + 1}")


#: Words for negatives that somebody else than the claimed user made; for a column of claimed users, and formats of it.
IMPOSTORS = (
    "impostor",
    "impostors",
    "imposter",
    "nontarget",
    "non-target",
    "nonmatch",
    "non-match",
    "nonmated",
    "non-mated",
    "zero-effort",
)
CLAIMED = (
    "claimed",
    "claimed_id",
    "claimed_user",
    "claimed_identity",
    "enrol",
    "enroll",
    "model",
    "model_id",
    "kaldi",
    "voxceleb",
)
#: What stands for the real identity where nobody knows it, besides words for attacks; compared in lower case.
NOBODY = ("-", "none", "nobody", "unknown", "other", "others", "na", "n/a", "<na>", "nan", "null", *IMPOSTORS)
#: A name that never claims, with more than this share of a class and so many trials, is not taken for one person's.
MOST, MANY = 0.5, 10


def no_people(
    names: NDArray[Any], probe: Codes, claimed: Index, number: NDArray[Any] | None = None, attack_label: Any = None
) -> Index:
    """Return the codes, among those who were really there, that are no person's; who claims to be somebody is one.

    Examples
    --------
    >>> names = np.array(["anna", "attack/mask", "bert", "carl"])
    >>> no_people(names, np.array([0, 0, 1, 2, 3], dtype=np.int32), np.array([0, 2])).tolist()
    [1]
    """
    strangers = np.setdiff1d(codes_in_use(probe), claimed)
    if not strangers.size:
        return strangers
    listed = names[strangers].tolist()
    attacks = set(attackers(listed, attack_label))
    times = counted(lambda part: probe[part].astype(np.int64), probe.size, names.size, number)
    words = np.array([name in attacks or normal(name) in NOBODY for name in listed], dtype=np.bool_)
    return np.asarray(strangers[words | (times[strangers] > max(MOST * times.sum(), MANY - 1))])


def settle_people(
    classes: tuple[Trials, Trials], users: Names | None, attack_label: Any = None
) -> tuple[tuple[Trials, Trials], tuple[str, ...]]:
    """Return the trials of both classes with people only, and the names that are none's.

    Where nobody is known besides the claimed identity of any negative, there is no column of real ones.
    """
    negative, positive = classes
    if users is None or any(trials.user is None or trials.probe_user is None for trials in classes):
        return classes, ()
    claimed, found, settled = codes_in_use(negative.user, positive.user), list[Index](), list[Trials]()
    for trials in classes:
        assert trials.user is not None
        assert trials.probe_user is not None
        nobody = no_people(users.values, trials.probe_user, claimed, trials.number, attack_label)
        if nobody.size:
            unknown = np.zeros(len(users), dtype=np.bool_)
            unknown[nobody] = True
            trials = replace(trials, probe_user=np.where(unknown[trials.probe_user], trials.user, trials.probe_user))
        found.append(nobody)
        settled.append(trials)
    if settled[0].partner is None:
        settled = [replace(trials, probe_user=None) for trials in settled]
    return (settled[0], settled[1]), tuple(users.values[np.unique(np.concatenate(found))].astype(str).tolist())


def unnamed(words: Iterable[Any]) -> tuple[str, ...]:
    """Return the first of the words for negatives, or for users, that says that negatives are somebody else's.

    Examples
    --------
    >>> unnamed(["ham", "user"]), unnamed(["Impostor", "user"]), unnamed([0, "claimed_id"])
    ((), ('Impostor',), ('claimed_id',))
    """
    return tuple(str(word) for word in words if normal(word) in (*IMPOSTORS, *KNOWN_ATTACKS, *CLAIMED))[:1]


def unknown_impostors(nobody: tuple[str, ...]) -> Caution:
    """Return the caution that the people behind such names are not known."""
    more = ", ..." * (len(nobody) > 1)
    mend = f"name them ({argument('columns', 'probe_user=NAME')})"
    text = f"impostors are not known ({nobody[0]!r}{more}): the interval of the FAR may be too narrow; {mend}"
    return Caution("unknown-impostors", text)
