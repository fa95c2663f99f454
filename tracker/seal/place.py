"""Where a write is sealed: in the driver, or, beyond a size, by jobs of the script's own Spark; to the same lineage.

The session's setting ``spark.provspark.sealing`` says which: ``auto``, ``driver`` or ``spark``.
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
"""Keys that rows may ask for in the driver: each takes some 150 bytes there (docs/performance.md, "Sealing")."""
_SETTING = "spark.provspark.sealing"


def way(jvm: Jvm) -> Way:
    """Read the setting.

    Raises
    ------
    SettingsError
        It has no such value.
    """
    setting: Any = str(jvm.session.conf().get(_SETTING, "auto")).lower()
    if setting not in get_args(Way):
        raise SettingsError(f"{_SETTING} is {setting!r}; set it to one of {', '.join(get_args(Way))}, or leave it out")
    return setting  # type: ignore[no-any-return]


def keys(noted: Noted) -> int:
    """Return how many keys the driver would hold: what one tap may be asked for, and of what waits for others a sixth.

    Each provenance column to groups may ask for one key for each row noted. Taps are resolved one after the other; what
    is asked of the others is kept as it was noted meanwhile, 24 bytes a key.
    """
    asked: Counter[int] = Counter()
    for tap in noted.taps:
        rows = sum(receipt.rows for receipt in noted.receipts.get(tap.place, []))
        for column in (column for column in tap.provenance if column.grouped):
            asked[column.origin] += rows
    most = max(asked.values(), default=0)
    return most + (asked.total() - most) // 6


def sealed(jvm: Jvm, noted: Noted, how: Way, site: str = "") -> PendingWrite:
    """Resolve a write's notes to tensors; where Spark's jobs fail, in the driver.

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
