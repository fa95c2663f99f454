"""Where a write is sealed: in the driver, or, beyond a size, by jobs of the script's own Spark; to the same lineage.

The session's setting ``spark.provspark.sealing`` says which: ``auto``, ``driver`` or ``spark``.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from provspark.errors import CaptureError, SettingsError
from provspark.index_store.model import PendingWrite
from provspark.tracker.jvm import Jvm
from provspark.tracker.seal import Noted, seal
from provspark.tracker.sealing_jobs import seal_by_jobs
from provspark.tracker.troubles import log

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
    found: Any = str(jvm.session.conf().get(_SETTING, "auto")).lower()
    if found not in get_args(Way):
        raise SettingsError(f"{_SETTING} is {found!r}; set it to one of {', '.join(get_args(Way))}, or leave it out")
    return found  # type: ignore[no-any-return]


def keys(noted: Noted) -> int:
    """Return how many keys rows may ask for: one for each row noted, for each leg to groups."""
    legs = ((tap, sum(leg.grouped for leg in tap.legs)) for tap in noted.taps)
    return sum(n * receipt.rows for tap, n in legs if n for receipt in noted.receipts.get(tap.place, []))


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
