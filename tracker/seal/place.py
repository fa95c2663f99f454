"""Choice of where to seal a write: in the driver, or by Spark jobs if it is large. The lineage is the same.

The session's setting ``spark.provspark.sealing`` is ``auto``, ``driver`` or ``spark``.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal, get_args

from provspark.model.errors import CaptureError, SettingsError
from provspark.model.pending import PendingWrite
from provspark.tracker.seal.by_jobs import seal_by_jobs
from provspark.tracker.seal.in_driver import seal
from provspark.tracker.seal.notes import Noted
from provspark.tracker.session.troubles import log
from provspark.tracker.spark.jvm import Jvm

__all__ = ["MOST_KEYS", "Way", "sealed", "way"]

Way = Literal["auto", "driver", "spark"]

MOST_KEYS = 5_000_000
"""Largest number of keys resolved in the driver. Each takes some 150 bytes there (docs/performance.md, "Sealing")."""
_SETTING = "spark.provspark.sealing"


def way(jvm: Jvm) -> Way:
    """Return the session's setting.

    Raises
    ------
    SettingsError
        The setting has an unknown value.
    """
    setting: Any = str(jvm.session.conf().get(_SETTING, "auto")).lower()
    if setting not in get_args(Way):
        raise SettingsError(f"{_SETTING} is {setting!r}; set it to one of {', '.join(get_args(Way))}, or leave it out")
    return setting  # type: ignore[no-any-return]


def keys(noted: Noted) -> int:
    """Estimate how many keys the driver must hold in memory: all requests to the largest tap, a sixth of the others.

    Each provenance column that refers to groups may request one key per noted row. Taps are resolved one by one.
    Meanwhile, requests to the other taps are held as noted, with 24 bytes per key.
    """
    asked: Counter[int] = Counter()
    for tap in noted.taps:
        rows = sum(receipt.rows for receipt in noted.receipts.get(tap.place, []))
        for column in (column for column in tap.provenance if column.grouped):
            asked[column.origin] += rows
    most = max(asked.values(), default=0)
    return most + (asked.total() - most) // 6


def sealed(jvm: Jvm, noted: Noted, how: Way, site: str = "") -> PendingWrite:
    """Resolve a write's notes to tensors. If the Spark jobs fail, fall back to the driver.

    Raises
    ------
    CaptureError
        The notes contradict each other.
    """
    if how == "spark" or (how == "auto" and keys(noted) > MOST_KEYS):
        try:
            return seal_by_jobs(jvm, noted, site)
        except CaptureError:
            raise
        except Exception as e:
            log.warning("provspark: Spark's jobs could not seal this write; it is sealed in the driver: %s", e)
    return seal(noted, site)
