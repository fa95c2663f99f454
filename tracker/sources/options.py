"""Options of a reader that are stored with a version: those needed to read its rows, but no paths or credentials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from provspark.model.datasets import Field


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TIMES = _names("dateformat timestampformat timestampntzformat timezone locale enabledatetimeparsingfallback")
_LINES = _names("multiline linesep encoding charset compression mode columnnameofcorruptrecord")

KEPT: dict[str, frozenset[str]] = {
    "parquet": _names("mergeschema datetimerebasemode int96rebasemode"),
    "orc": _names("mergeschema compression"),
    "text": _names("wholetext linesep encoding charset compression"),
    "csv": _TIMES
    | _LINES
    | _names(
        "header comment sep delimiter quote escape chartoescapequoteescaping nullvalue emptyvalue nanvalue "
        "positiveinf negativeinf ignoreleadingwhitespace ignoretrailingwhitespace enforceschema prefersdate "
        "preferdate unescapedquotehandling maxcolumns maxcharspercolumn singlevariantcolumn"
    ),
    "json": _TIMES
    | _LINES
    | _names(
        "primitivesasstring prefersdecimal allowcomments allowunquotedfieldnames allowsinglequotes "
        "allownumericleadingzeros allowbackslashescapinganycharacter allowunquotedcontrolchars "
        "allownonnumericnumbers singlevariantcolumn"
    ),
    "xml": _TIMES
    | _LINES
    | _names(
        "rowtag samplingratio excludeattribute attributeprefix valuetag ignoresurroundingspaces nullvalue "
        "wildcardcolname ignorenamespace preferdate singlevariantcolumn"
    ),
}


def kept(
    format_name: str, options: Mapping[str, str], time_zone: str, partitions: Iterable[Field] = ()
) -> tuple[tuple[str, str], ...]:
    """Return the options to store, sorted, with lower-case names; with the session's time zone if times are texts.

    >>> kept("csv", {"Header": "true", "path": "/secret"}, "UTC")
    (('header', 'true'), ('timezone', 'UTC'))
    """
    names = KEPT[format_name]
    lowered = {k.lower(): v for k, v in options.items() if k.lower() in names}
    return tuple(sorted((zone_of_texts(format_name, time_zone, partitions) | lowered).items()))


def zone_of_texts(format_name: str, time_zone: str, partitions: Iterable[Field]) -> dict[str, str]:
    """Return the session's time zone as an option if lines or folder names of a version contain times as texts."""
    in_folders = any(f.type.startswith("timestamp") for f in partitions)
    return {"timezone": time_zone} if format_name in ("csv", "json", "xml") or in_folders else {}
