"""The reader's options that decide what a row is or how it reads; paths and credentials never leave here."""

from __future__ import annotations

from collections.abc import Mapping


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
}


def kept(format_name: str, options: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the options to remember, lower-case names, sorted.

    >>> kept("csv", {"Header": "true", "path": "/secret"})
    (('header', 'true'),)
    """
    names = KEPT[format_name]
    return tuple(sorted((k.lower(), v) for k, v in options.items() if k.lower() in names))
