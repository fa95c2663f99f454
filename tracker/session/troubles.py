"""What of a step is not tracked, and whether that stops the script."""

from __future__ import annotations

import logging

from provspark.model.errors import CaptureError, ProvSparkError, UnsupportedPlanError
from provspark.model.steps import OnError
from provspark.model.writes import Untracked

log = logging.getLogger("provspark")


class Troubles:
    """The reasons, in the order in which they arose; with `on_error` ``fail`` most of them are raised as well."""

    def __init__(self, on_error: OnError) -> None:
        self._on_error = on_error
        self._reasons: list[Untracked] = []
        self._raised: Exception | None = None

    @property
    def reasons(self) -> tuple[Untracked, ...]:
        """What was noted so far."""
        return tuple(self._reasons)

    @property
    def fatal(self) -> bool:
        """Whether the user asked that lost lineage fails the script."""
        return self._on_error == "fail"

    def note(self, reason: Untracked) -> None:
        """Note it, and tell the log."""
        self._reasons.append(reason)
        log.warning("provspark: not tracked: %s", reason)

    def trouble(self, reason: Untracked, error: Exception, *, fatal: bool = True) -> None:
        """Note that lineage is lost, or raise where the user asked for that."""
        self.note(reason)
        log.debug("provspark: the error behind it", exc_info=error)
        if self.fatal and fatal:
            self._raised = error if isinstance(error, ProvSparkError) else CaptureError(str(reason))
            if self._raised is error:
                raise error
            raise self._raised from error

    def stops(self, error: Exception) -> bool:
        """Whether an error is trouble that was noted, and raised to stop the script."""
        return error is self._raised

    def refuse(self, error: Exception, site: str = "") -> Untracked:
        """Note an error that stands for itself, and return the reason that it makes."""
        if isinstance(error, UnsupportedPlanError):
            reason = Untracked(error.node, error.why, error.site or site)
        else:
            reason = Untracked("capture", f"{type(error).__name__}: {error}", site)
        self.trouble(reason, error)
        return reason
