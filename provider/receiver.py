"""Former home of the receiver of OpenLineage events, which is part of `provspark serve` now."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING

from provspark.model.errors import PackageMissingError

if TYPE_CHECKING:
    from starlette.applications import Starlette

__all__ = ["create_app"]


def create_app(catalogue_url: str, api_key: str, *, max_bytes: int = 16 * 1024 * 1024) -> Starlette:
    """Create an app that only receives OpenLineage events; deprecated, see `provspark.web.events.events_app`.

    Raises
    ------
    SettingsError, CatalogueError
        See `provspark.web.events.Events`.
    PackageMissingError
        FastAPI is not installed.
    """
    try:
        import_module("fastapi")
        from provspark.web.events import Events, events_app
    except ImportError as e:
        raise PackageMissingError("the receiver of OpenLineage events", "fastapi") from e
    warnings.warn(
        "provspark.receiver.create_app will be removed in the next release; use events_app(Events(catalogue_url, "
        "api_key)) of provspark.web.events, or `provspark serve --events-key-file FILE`",
        DeprecationWarning,
        stacklevel=2,
    )
    return events_app(Events(catalogue_url, api_key, max_bytes=max_bytes))
