"""Record-level lineage for DAGs of Spark jobs.

Importing this package costs milliseconds: it loads neither Airflow nor pyspark; names are resolved on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from provspark.api import Answer as Answer
    from provspark.api import Provenance as Provenance
    from provspark.api import open as open
    from provspark.declare import keeps_index as keeps_index
    from provspark.declare import rowwise as rowwise
    from provspark.naming import operation as operation
    from provspark.recording import Data as Data
    from provspark.recording import Relation as Relation
    from provspark.recording import record as record
    from provspark.said import constant as constant

__version__ = "0.1.0"
__all__ = [
    *("Answer", "Data", "Provenance", "Relation", "constant", "keeps_index", "open", "operation", "record", "rowwise"),
]

_LAZY = dict.fromkeys(("Answer", "Provenance", "open"), "provspark.api")
_LAZY |= dict.fromkeys(("Data", "Relation", "record"), "provspark.recording")
_LAZY |= dict.fromkeys(("keeps_index", "rowwise"), "provspark.declare")
_LAZY["constant"] = "provspark.said"
_LAZY["operation"] = "provspark.naming"


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'provspark' has no attribute {name!r}")
