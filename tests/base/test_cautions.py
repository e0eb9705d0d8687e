"""A caution is its text, and keeps its code through copies."""

import copy
import pickle

from priori.base.cautions import Caution


def test_a_caution_is_its_text_and_keeps_its_code() -> None:
    caution = Caution("few-users", "only 8 users")
    for each in (caution, copy.deepcopy(caution), pickle.loads(pickle.dumps(caution))):
        assert each == "only 8 users"
        assert each.code == "few-users"
