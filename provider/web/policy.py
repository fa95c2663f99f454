"""The administrator's settings for values: whether any are shown, masked columns, and opened derived columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from provspark.index_store.values.types import parts_of
from provspark.model.datasets import Field
from provspark.model.errors import SettingsError, ValuesUnavailableError

__all__ = ["Policy"]


@dataclass(frozen=True, slots=True)
class Policy:
    """The administrator's settings; `provspark.web.masks` computes which columns they cover.

    Parameters
    ----------
    show_values : bool
        False hides all values; row ids, counts and names stay.
    masks : tuple of str
        Shell patterns of column names, ignoring case. A column is masked if its name or the name of a nested field
        matches one, or if it is derived from such a column.
    opened : tuple of str
        Derived columns to show although they would be masked: shell patterns ``COLUMN`` or ``DATASET:COLUMN``, ignoring
        case. ``DATASET`` matches the dataset's URI or its last parts.
    """

    show_values: bool = True
    masks: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()

    @classmethod
    def of(cls, show_values: bool, masks: str, opened: str = "") -> Policy:
        """Create a policy from lists of masks and opened columns, separated by commas or spaces."""
        return cls(show_values, _words(masks), _words(opened))

    @classmethod
    def from_settings(cls, setting: Callable[[str], str | None]) -> Policy:
        """Read ``show_values``, ``mask_columns`` and ``open_columns``.

        Parameters
        ----------
        setting : callable
            Returns the text of the setting with a given name; None or an empty text for the default.

        Raises
        ------
        SettingsError
            ``show_values`` is neither true nor false.
        """
        text = (setting("show_values") or "true").strip().lower()
        if text not in _TRUE and text not in _FALSE:
            raise SettingsError(f"[provspark] show_values is {text!r}; set it to True or False")
        return cls.of(text in _TRUE, setting("mask_columns") or "", setting("open_columns") or "")

    @classmethod
    def read(cls, told: dict[str, Any]) -> Policy:
        """Create a policy from JSON."""
        return cls(told["show_values"], tuple(told["masks"]), tuple(told["opened"]))

    def masked_by_name(self, field: Field) -> bool:
        """Return whether the name of a column, or of a field nested in it, is masked."""
        if not self.masks:
            return False
        return bool(_CUT.search(field.type)) or any(self.covers(name) for name in _names(field))

    def covers(self, name: str) -> bool:
        """Return whether a name is masked."""
        return _matches(name.lower(), self.masks)

    def opens(self, dataset: str, column: str) -> bool:
        """Return whether a derived column is shown although it would be masked."""
        uri, name = dataset.rstrip("/").lower(), column.lower()
        for entry in self.opened:
            where, _, pattern = entry.rpartition(":")
            if fnmatchcase(name, pattern) and (not where or _matches(uri, (where, f"*/{where.lstrip('/')}"))):
                return True
        return False


_TRUE, _FALSE = ("t", "true", "y", "yes", "on", "1"), ("f", "false", "n", "no", "off", "0")


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.replace(",", " ").lower().split())


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _names(field: Field) -> Iterator[str]:
    yield field.name
    waiting = [field.type]
    for text in waiting:
        try:
            _, parts = parts_of(text) if "<" in text else ("", ())
        except ValuesUnavailableError:  # an unknown type: check every word that could be a name
            yield from _WORD.findall(text)
            continue
        yield from (name for name, _ in parts if name)
        waiting += [inner for _, inner in parts]


_WORD = re.compile(r"[^<>,:]+")
_CUT = re.compile(r"\.\.\. \d+ more fields")
"""End of a type that Spark truncated: it may have fields with any names."""
