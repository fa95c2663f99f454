"""Which values may be shown: all or none, and columns masked by pattern."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import pyarrow as pa

from provspark.errors import ValuesUnavailableError
from provspark.index_store.model import Field, Version
from provspark.index_store.values.types import arrow_type

__all__ = ["Policy"]


@dataclass(frozen=True, slots=True)
class Policy:
    """What of the data the API shows.

    Parameters
    ----------
    show_values : bool
        False hides all values; row ids, counts and names stay.
    masks : tuple of str
        Shell patterns of column names, letter case aside. A column is masked where its name, or a field
        anywhere within it, matches one.
    """

    show_values: bool = True
    masks: tuple[str, ...] = ()

    @classmethod
    def of(cls, show_values: bool, masks: str) -> Policy:
        """Read the masks from one string, separated by commas or blanks."""
        return cls(show_values, tuple(masks.replace(",", " ").lower().split()))

    def masked(self, field: Field) -> bool:
        """Whether the values of a column stay hidden."""
        if not self.show_values:
            return True
        if not self.masks:
            return False
        return any(fnmatchcase(name.lower(), mask) for name in _names(field) for mask in self.masks)

    def shown(self, version: Version) -> list[str]:
        """Names of the columns whose values may be shown."""
        return [f.name for f in version.fields if not self.masked(f)]


def _names(field: Field) -> list[str]:
    try:
        kind = arrow_type(field.type)
    except ValuesUnavailableError:
        return [field.name]
    found, waiting = [field.name], [kind]
    for one in waiting:
        if pa.types.is_map(one):
            waiting += [one.key_type, one.item_type]
        elif pa.types.is_struct(one):
            children: list[Any] = [one.field(i) for i in range(one.num_fields)]
            found += [c.name for c in children]
            waiting += [c.type for c in children]
        elif pa.types.is_list(one) or pa.types.is_large_list(one):
            waiting.append(one.value_type)
    return found
