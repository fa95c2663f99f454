"""Options of a writer that are stored with a version: those needed to split its files into rows and read them back."""

from __future__ import annotations

from collections.abc import Mapping

_SHARED = ("compression", "timezone", "locale", "dateformat", "timestampformat", "timestampntzformat")

KEPT: dict[str, tuple[str, ...]] = {
    "parquet": ("compression",),
    "orc": ("compression",),
    "text": ("compression", "encoding", "linesep"),
    "json": (*_SHARED, "encoding", "linesep", "ignorenullfields"),
    "xml": (
        *_SHARED,
        "encoding",
        "rowtag",
        "roottag",
        "declaration",
        "arrayelementname",
        "attributeprefix",
        "valuetag",
        "nullvalue",
    ),
    "csv": (
        *_SHARED,
        "encoding",
        "linesep",
        "sep",
        "quote",
        "escape",
        "header",
        "nullvalue",
        "emptyvalue",
        "quoteall",
        "escapequotes",
        "chartoescapequoteescaping",
        "ignoreleadingwhitespace",
        "ignoretrailingwhitespace",
        "comment",
    ),
}
"""Stored options by format. Only listed options are stored, so that no credentials are."""

_ALIASES = {"delimiter": "sep", "charset": "encoding", "codec": "compression", "orc.compress": "compression"}


def kept(format_name: str, options: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the options to store with a version, sorted, with lower-case names and aliases resolved.

    >>> kept("csv", {"Delimiter": "|", "header": "true", "fs.s3a.secret.key": "x"})
    (('header', 'true'), ('sep', '|'))
    """
    lowered: dict[str, str] = {}
    for name, value in options.items():
        lower = name.lower()
        if lower not in _ALIASES:
            lowered[lower] = value
        else:
            lowered.setdefault(_ALIASES[lower], value)
    return tuple(sorted((k, lowered[k]) for k in KEPT[format_name] if k in lowered))
