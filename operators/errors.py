"""Errors that Airflow treats in a way of its own."""

from __future__ import annotations

from airflow.providers.common.compat.sdk import AirflowFailException

from provspark.model.errors import CaptureError

__all__ = ["NotCapturableError"]


class NotCapturableError(CaptureError, AirflowFailException):  # type: ignore[misc]
    """A job that can't be captured however often it is tried; Airflow fails the task without using up its retries."""
