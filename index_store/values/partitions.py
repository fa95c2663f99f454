"""Values of partition columns, which folder names contain (``year=2024/month=05``)."""

from __future__ import annotations

import re

from provspark.index_store.values.files import DataFile
from provspark.model.errors import ValuesUnavailableError

__all__ = ["partition_text", "unescape"]

NULL_NAME = "__HIVE_DEFAULT_PARTITION__"
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")


def unescape(text: str) -> str:
    """Undo Hive's escapes in a folder's name.

    >>> unescape("a%2Fb%20c")
    'a/b c'
    """
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)), text)


def partition_text(file: DataFile, column: str) -> str | None:
    """Return the text of a partition column's value for the rows of a file; None for null.

    Raises
    ------
    ValuesUnavailableError
        Not exactly one folder in the file's path is named after the column.
    """
    pairs = [part.split("=", 1) for part in file.path.split("/")[:-1] if "=" in part]
    named = [(unescape(name), value) for name, value in pairs]
    matches = [v for n, v in named if n == column] or [v for n, v in named if n.lower() == column.lower()]
    if len(matches) != 1:
        raise ValuesUnavailableError(
            f"{file.full} is not in exactly one folder {column}=…, so the value of that partition column is unknown. "
            f"Select other columns."
        )
    return None if matches[0] == NULL_NAME else unescape(matches[0])
