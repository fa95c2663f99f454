"""What the last release answered, and how answers of today compare with it.

Its own code ran the scripts, commands and requests here by `_recording`, `_commands` and `_requests`, over the stores
of `_last_release`, and the DAG in dags/ in Airflow.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

ANSWERS: dict[str, Any] = json.loads(gzip.decompress(Path(__file__).with_name("answers.json.gz").read_bytes()))
"""By script, and for commands and requests; all of its own store at /data."""

PLACED = ("sha256", "size", "stored_bytes")
"""What goes by the length of the store's own place."""


def at_data(told: Any, places: dict[str, str]) -> Any:
    """Return an answer as of a store at /data, where the last release's was; `places` are those of `unpack`."""
    text = json.dumps(told)
    for place, old in places.items():
        text = text.replace(place, old)
    return json.loads(text)


def without(told: Any, *keys: str) -> Any:
    """Return an answer without some keys, wherever they are."""
    if isinstance(told, dict):
        return {k: without(v, *keys) for k, v in told.items() if k not in keys}
    return [without(v, *keys) for v in told] if isinstance(told, list) else told


def without_format_stops(told: Any) -> Any:
    """Return an answer without the stop that steps of format 2 are: they do not tell what their drivers read."""
    if isinstance(told, dict):
        return {k: without_format_stops(v) for k, v in told.items()}
    if isinstance(told, list):
        return [without_format_stops(v) for v in told if not _is_format_stop(v)]
    return told


def _is_format_stop(told: Any) -> bool:
    return isinstance(told, dict) and told.get("what") == "before-format-3"
