"""Record of a step's lost lineage, and the decision whether it stops the script."""

from __future__ import annotations

import logging

from provspark.model.errors import CaptureError, ProvSparkError, UnsupportedPlanError
from provspark.model.steps import OnError
from provspark.model.writes import Untracked

log = logging.getLogger("provspark")


class Troubles:
    """Reasons for a step's lost lineage, in the order they occurred. With `on_error` ``fail``, most are also raised."""

    def __init__(self, on_error: OnError) -> None:
        self._on_error = on_error
        self._reasons: list[Untracked] = []
        self._raised: Exception | None = None

    @property
    def reasons(self) -> tuple[Untracked, ...]:
        """Reasons recorded so far."""
        return tuple(self._reasons)

    @property
    def fatal(self) -> bool:
        """Whether lost lineage makes the script fail."""
        return self._on_error == "fail"

    def note(self, reason: Untracked) -> None:
        """Record a reason and log it as a warning."""
        self._reasons.append(reason)
        log.warning("provspark: not tracked: %s", reason)

    def trouble(self, reason: Untracked, error: Exception, *, fatal: bool = True) -> None:
        """Record a reason for lost lineage. Raise if lost lineage makes the script fail and `fatal` is true."""
        self.note(reason)
        log.debug("provspark: traceback of this error", exc_info=error)
        if self.fatal and fatal:
            self._raised = error if isinstance(error, ProvSparkError) else CaptureError(str(reason))
            if self._raised is error:
                raise error
            raise self._raised from error

    def stops(self, error: Exception) -> bool:
        """Whether this object raised an error to stop the script."""
        return error is self._raised

    def refuse(self, error: Exception, site: str = "") -> Untracked:
        """Record an error as a reason for lost lineage, as `trouble` does, and return the reason."""
        if isinstance(error, UnsupportedPlanError):
            reason = Untracked(error.node, error.why, error.site or site)
        else:
            reason = Untracked("capture", f"{type(error).__name__}: {error}", site)
        self.trouble(reason, error)
        return reason
