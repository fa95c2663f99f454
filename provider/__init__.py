"""Record-level lineage for DAGs of Spark jobs.

Importing this package takes milliseconds: it imports neither Airflow nor pyspark. Names are resolved on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from provspark.model.release import __version__

if TYPE_CHECKING:
    from provspark.api import Answer as Answer
    from provspark.api import Provenance as Provenance
    from provspark.api import open as open
    from provspark.function_declarations import keeps_index as keeps_index
    from provspark.function_declarations import rowwise as rowwise
    from provspark.model.operation_names import operation as operation
    from provspark.model.said_constants import constant as constant
    from provspark.recording import Data as Data
    from provspark.recording import Relation as Relation
    from provspark.recording import record as record

__all__ = [
    "__version__",
    *("Answer", "Data", "Provenance", "Relation", "constant", "keeps_index", "open", "operation", "record", "rowwise"),
]

_LAZY = dict.fromkeys(("Answer", "Provenance", "open"), "provspark.api")
_LAZY |= dict.fromkeys(("Data", "Relation", "record"), "provspark.recording")
_LAZY |= dict.fromkeys(("keeps_index", "rowwise"), "provspark.function_declarations")
_LAZY["constant"] = "provspark.model.said_constants"
_LAZY["operation"] = "provspark.model.operation_names"


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'provspark' has no attribute {name!r}")
