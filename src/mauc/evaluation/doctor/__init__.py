"""What is wrong with a table, its labels or a model: each kind of finding is one function."""

from mauc.evaluation.doctor.diagnose import diagnose, examine
from mauc.evaluation.doctor.findings import Diagnosis, Finding
from mauc.evaluation.doctor.kinds import TABLE, Kind

__all__ = ["TABLE", "Diagnosis", "Finding", "Kind", "diagnose", "examine"]
