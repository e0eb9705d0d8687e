"""The bootstraps, one file each: what is drawn, what that needs, how its interval is calibrated, its words."""

from priori.uncertainty.bootstrap.designs.base import Bootstrap
from priori.uncertainty.bootstrap.designs.crossed import CROSSED
from priori.uncertainty.bootstrap.designs.joint import JOINT
from priori.uncertainty.bootstrap.designs.rows import ROWS
from priori.uncertainty.bootstrap.designs.sample import SAMPLE
from priori.uncertainty.bootstrap.designs.user import USER
from priori.uncertainty.bootstrap.designs.user_constrained import USER_CONSTRAINED

__all__ = ["BOOTSTRAPS", "SAMPLE", "USER", "Bootstrap"]

#: Every bootstrap by the name people type; a new one is its file and one line here.
BOOTSTRAPS: dict[str, Bootstrap] = {
    SAMPLE.name: SAMPLE,
    ROWS.name: ROWS,
    USER.name: USER,
    USER_CONSTRAINED.name: USER_CONSTRAINED,
    JOINT.name: JOINT,
    CROSSED.name: CROSSED,
}
