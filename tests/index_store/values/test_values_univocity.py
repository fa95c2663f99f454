from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provspark.errors import ValuesUnavailableError
from provspark.index_store.values.univocity import LineParser, UnivocityFormat, split_line

BLANKS = "".join(map(chr, range(33)))


def random_format(rnd: random.Random) -> UnivocityFormat:
    quote = rnd.choice(['"', '"', "'", "\0"])
    escape = rnd.choice(["\\", "\\", '"', quote])
    return UnivocityFormat(
        delimiter=rnd.choice([",", ",", "\t", "|"]),
        quote=quote,
        escape=escape,
        escape_escape="\0" if quote == escape else escape,
        null_value=rnd.choice(["", "NULL"]),
        empty_value=rnd.choice(["", "EMPTY"]),
        trim_leading=rnd.random() < 0.4,
        trim_trailing=rnd.random() < 0.4,
        stop_at_delimiter=rnd.random() < 0.8,
    )


def univocity(jvm: Any, fmt: UnivocityFormat) -> Any:
    package = jvm.com.univocity.parsers.csv
    settings = package.CsvParserSettings()
    out = settings.getFormat()
    out.setDelimiter(fmt.delimiter)
    out.setQuote(fmt.quote)
    out.setQuoteEscape(fmt.escape)
    settings.setCommentProcessingEnabled(False)
    settings.setIgnoreLeadingWhitespaces(fmt.trim_leading)
    settings.setIgnoreTrailingWhitespaces(fmt.trim_trailing)
    settings.setReadInputOnSeparateThread(False)
    settings.setNullValue(fmt.null_value)
    settings.setEmptyValue(fmt.empty_value)
    settings.setMaxCharsPerColumn(-1)
    how = "STOP_AT_DELIMITER" if fmt.stop_at_delimiter else "STOP_AT_CLOSING_QUOTE"
    settings.setUnescapedQuoteHandling(getattr(package.UnescapedQuoteHandling, how))
    return package.CsvParser(settings)


def split(call: Any) -> Any:
    try:
        return list(call())
    except ValuesUnavailableError:
        return "refused"


@pytest.mark.spark
@pytest.mark.parametrize("seed", range(4))
def test_lines_split_as_univocity_splits_them(spark: Any, seed: int) -> None:
    from py4j.protocol import Py4JJavaError

    rnd = random.Random(seed)
    compared = 0
    for _ in range(12):
        fmt = random_format(rnd)
        parser = univocity(spark._jvm, fmt)
        # The first line a parser sees decides how it treats headers: give it one that is plain.
        parser.parseLine("x")
        letters = ["a", "b", " ", "x", "\t", "\\", '"', fmt.delimiter, fmt.delimiter, fmt.quote, fmt.quote, fmt.quote]
        for _ in range(60):
            line = "".join(rnd.choice(letters) for _ in range(rnd.randint(1, 12)))
            if not line.strip(BLANKS) or (fmt.trim_leading and line.lstrip(BLANKS)[0] == fmt.delimiter):
                continue
            try:
                want: Any = list(parser.parseLine(line))
            except Py4JJavaError:
                want = "refused"
                parser = univocity(spark._jvm, fmt)
                parser.parseLine("x")
            assert split(lambda line=line, fmt=fmt: split_line(line, fmt)) == want, (fmt, line)
            compared += 1
    assert compared > 300


@settings(max_examples=300, deadline=None)
@given(st.text("ab ,\t\\'", min_size=1, max_size=12), st.integers(0, 10_000))
def test_the_fast_way_equals_the_state_machine(line: str, seed: int) -> None:
    fmt = random_format(random.Random(seed))
    if not line.strip(BLANKS) or fmt.quote in line:
        return
    assert split(lambda: split_line(line, fmt)) == split(lambda: LineParser(fmt).parse(line))


def test_a_quote_beside_a_long_delimiter_is_refused() -> None:
    fmt = UnivocityFormat(delimiter="||")
    assert split_line("a||b|||c||", fmt) == ["a", "b", "|c", ""]
    with pytest.raises(ValuesUnavailableError, match="depends on the lines before"):
        split_line('a||"b"', fmt)


def test_a_blank_first_cell_is_refused_where_univocity_fails() -> None:
    with pytest.raises(ValuesUnavailableError, match="blank cell"):
        split_line(" ,b", UnivocityFormat(trim_trailing=True))
    assert split_line(" ,b", UnivocityFormat(trim_trailing=True, trim_leading=True)) == ["", "b"]
