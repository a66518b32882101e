"""What is wrong with a table, its labels or a model: each kind of finding is one function."""

from mauc.difficulty.doctor.diagnose import diagnose, examine
from mauc.difficulty.doctor.findings import Diagnosis, Finding
from mauc.difficulty.doctor.kinds import TABLE, Kind

__all__ = ["TABLE", "Diagnosis", "Finding", "Kind", "diagnose", "examine"]
