"""An evaluation: everything a report shows about some systems, computed once; `priori.words` puts it into words."""

from priori.studies.evaluation.member import Member
from priori.studies.evaluation.settings import Settings
from priori.studies.evaluation.study import Study, make_study

__all__ = ["Member", "Settings", "Study", "make_study"]
