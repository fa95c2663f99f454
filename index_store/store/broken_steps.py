"""Steps that can't be read: answers leave them out and name them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from provspark.index_store.store.manifest import from_json
from provspark.index_store.store.paths import manifest_path
from provspark.model.errors import (
    CorruptIndexError,
    ProvSparkError,
    StepFileError,
    StoreFormatError,
    StoreUnreachableError,
)
from provspark.model.steps import StepKey

__all__ = ["Broken", "broken_step", "broken_store", "reason", "salvaged_key", "summary"]

Fault = Literal["corrupt", "newer", "unreadable"]
_KEY = re.compile(rb'"key":(\{[^{}]*\})')
_NAMED = 3
_ADVICE: dict[Fault, str] = {
    "corrupt": "Run `provspark verify` to check the store, then `provspark repair`, or run the task again.",
    "newer": "Upgrade airflow-provider-provspark where this store is read.",
    "unreadable": "Grant read permission to the user that reads the store, or remove the file if it doesn't belong.",
}


@dataclass(frozen=True, slots=True)
class Broken:
    """A step whose manifest can't be read; answers leave it out.

    Parameters
    ----------
    store : str
        URL of the store, without credentials.
    step : str
        Id of the step, which is the name of its folder; "" if a whole store, one of several, can't be read.
    file : str
        Path within the store.
    fault : {"corrupt", "newer", "unreadable"}
    why : str
        The reason, without the location.
    key : StepKey or None
        Key of the step, if its id, a hash of the key, confirms it.
    """

    store: str
    step: str
    file: str
    fault: Fault
    why: str
    key: StepKey | None = None

    @property
    def advice(self) -> str:
        """What to do about it."""
        if not self.step:
            return "Check that this store can be reached, or remove it from the catalogue."
        return _ADVICE[self.fault]

    def __str__(self) -> str:
        if not self.step:
            return f"The store {self.store} can't be read: {self.why}. {self.advice}"
        return f"Step {self.step} can't be read: {self.file}: {self.why}. {self.advice}"


def broken_step(store: str, step: str, error: ProvSparkError, key: StepKey | None) -> Broken:
    """Describe a step whose manifest raised an error."""
    fault: Fault = "unreadable"
    if isinstance(error, StepFileError):
        fault = "newer" if isinstance(error, StoreFormatError) else "corrupt"
    return Broken(store, step, manifest_path(step), fault, reason(error), key)


def broken_store(store: str, error: ProvSparkError) -> Broken:
    """Describe a store that can't be opened."""
    parts = urlsplit(store)
    clean = store if not parts.netloc else f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    return Broken(clean, "", "", "unreadable", reason(error))


def reason(error: Exception) -> str:
    """Return the reason of an error as a clause, without the location if that is known separately."""
    if isinstance(error, StepFileError):
        return error.what
    said = error.reason if isinstance(error, StoreUnreachableError) and error.reason else str(error)
    return " ".join(said.split()).rstrip(".")


def salvaged_key(data: bytes, step: str) -> StepKey | None:
    """Return the key of this step if a damaged manifest still contains it; else None.

    The step's id is a hash of its key, so a key with that id is right, whatever else is damaged.
    """
    for match in _KEY.finditer(data):
        try:
            key = from_json(StepKey, json.loads(match[1]), step)
        except (ValueError, RecursionError, CorruptIndexError):
            continue
        if key.id == step:
            return key
    return None


def summary(broken: Iterable[Broken]) -> str:
    """Describe broken steps in one line; "" if there are none."""
    steps = list(broken)
    if not steps:
        return ""
    if len(steps) == 1:
        return f"{steps[0]} Answers leave it out."
    some = "; ".join(f"{b.file or b.store}: {b.why}" for b in steps[:_NAMED])
    more = f"; and {len(steps) - _NAMED} more" if len(steps) > _NAMED else ""
    advice = " ".join(dict.fromkeys(b.advice for b in steps))
    return f"{len(steps)} steps can't be read and are missing from the answers: {some}{more}. {advice}"
