"""Parsers of dates and times like Spark's (``DateTimeUtils.stringToDate``, ``stringToTimestamp``, patterns)."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from provspark.model.errors import ValuesUnavailableError

__all__ = ["Pattern", "names_zone", "parse_date", "parse_timestamp", "zone_of"]

_BLANKS = "".join(map(chr, range(33)))
_DATE = re.compile(r"([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.DOTALL)
_TIME = r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?"
_TIMESTAMP = re.compile(r"([+-]?\d{4,6})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T](?:" + _TIME + r"(.*))?)?)?)?", re.DOTALL)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{1,2}))?(?::?(\d{2}))?")
# java.time.ZoneId.SHORT_IDS
_SHORT = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "EST": "-05:00",
    "HST": "-10:00",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "MST": "-07:00",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}


def zone_of(text: str) -> tzinfo | None:
    """Return the zone of a name (``Europe/Paris``) or offset (``Z``, ``+02:00``, ``UTC+1``); None if it is neither."""
    text = text.strip(_BLANKS)
    if text in ("Z", "UTC", "GMT", "UT"):
        return timezone.utc
    text = _SHORT.get(text, text)
    if match := _OFFSET.fullmatch(text):
        offset = timedelta(hours=int(match[2]), minutes=int(match[3] or 0), seconds=int(match[4] or 0))
        if offset > timedelta(hours=18):
            return None
        return timezone(-offset if match[1] == "-" else offset)
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def names_zone(text: str) -> bool:
    """Return whether a time ends with a zone."""
    match = _TIMESTAMP.fullmatch(text.strip(_BLANKS))
    return bool(match and match[8])


def parse_date(text: str) -> date | None:
    """Parse ``yyyy``, ``yyyy-M``, ``yyyy-M-d``, with anything after a blank or a T; None where Spark reads no date."""
    match = _DATE.fullmatch(text.strip(_BLANKS))
    return _date(match[1], match[2], match[3]) if match else None


def parse_timestamp(text: str, zone: tzinfo | None) -> datetime | None:
    """Parse a time like Spark's cast; `zone` applies to text without a zone.

    Returns
    -------
    datetime or None
        In UTC; None where Spark reads no time.

    Raises
    ------
    ValuesUnavailableError
        The text has no zone and `zone` is None, or it has only a time of day.
    """
    text = text.strip(_BLANKS)
    match = _TIMESTAMP.fullmatch(text)
    if not match:
        if re.match(r"T?\d{1,2}:\d", text):
            raise ValuesUnavailableError(
                f"{text!r} has no date, so Spark adds the current date, and the value can't be reproduced. Select "
                f"other columns."
            )
        return None
    day = _date(match[1], match[2], match[3])
    own = zone
    if match[8]:
        own = zone_of(match[8])
        if own is None:
            return None
    return None if day is None else _instant(day, match[4], match[5], match[6], match[7], own, text)


def _date(year: str, month: str | None, day: str | None) -> date | None:
    number = int(year)
    if not 1 <= number <= 9999:
        raise ValuesUnavailableError(
            f"The year {year} is outside of 1 to 9999 and can't be read here. Select other columns."
        )
    try:
        return date(number, int(month or 1), int(day or 1))
    except ValueError:
        return None


def _instant(
    day: date, h: str | None, m: str | None, s: str | None, part: str | None, zone: tzinfo | None, text: str
) -> datetime | None:
    micros = int((part or "").ljust(6, "0")[:6] or 0)
    try:
        local = datetime(day.year, day.month, day.day, int(h or 0), int(m or 0), int(s or 0), micros)
    except ValueError:
        return None
    if zone is None:
        raise ValuesUnavailableError(
            f"{text!r} has no time zone, and the session's time zone was not recorded (reader option timeZone). "
            f"Select other columns."
        )
    try:
        # fold=0 takes the earlier offset in overlaps and moves gaps forward, as java.time does.
        return local.replace(tzinfo=zone).astimezone(timezone.utc)
    except OverflowError:
        raise ValuesUnavailableError(
            f"{text!r} is outside of the years 1 to 9999 and can't be read here. Select other columns."
        ) from None


_LETTERS: dict[str, tuple[str, str]] = {
    "yyyy": ("y", r"(\d{4})"),
    "MM": ("M", r"(\d{2})"),
    "M": ("M", r"(\d{1,2})"),
    "dd": ("d", r"(\d{2})"),
    "d": ("d", r"(\d{1,2})"),
    "HH": ("H", r"(\d{2})"),
    "H": ("H", r"(\d{1,2})"),
    "mm": ("m", r"(\d{2})"),
    "m": ("m", r"(\d{1,2})"),
    "ss": ("s", r"(\d{2})"),
    "s": ("s", r"(\d{1,2})"),
    "XXX": ("X", r"(Z|[+-]\d{2}:\d{2})"),
}
_TOKENS = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|.", re.DOTALL)


class Pattern:
    """A pattern of Java's ``DateTimeFormatter`` with the letters y M d H m s S X.

    Raises
    ------
    ValuesUnavailableError
        The pattern has other letters, or numbers without a separator between them.
    """

    def __init__(self, option: str, pattern: str) -> None:
        self._names: list[str] = []
        out: list[str] = []
        free = False
        for token in _TOKENS.finditer(pattern):
            text = token[0]
            if token[1] is not None:
                out.append(re.escape(token[1].replace("''", "'") or "'"))
            elif text in "[]":
                out.append("(?:" if text == "[" else ")?")
                continue
            elif text[0].isalpha():
                free = self._letter(text, out, free, option, pattern)
                continue
            elif text in "{}#":
                raise _unknown(option, pattern, text)
            else:
                out.append(re.escape(text))
            free = False
        if len(set(self._names)) != len(self._names) or ("[" in pattern and pattern.count("[") != pattern.count("]")):
            raise _unknown(option, pattern, pattern)
        self._match: Callable[[str], re.Match[str] | None] = re.compile("".join(out)).fullmatch

    def _letter(self, text: str, out: list[str], free: bool, option: str, pattern: str) -> bool:
        if set(text) == {"S"} and len(text) <= 9:
            name, part = "S", rf"(\d{{1,{len(text)}}})"
        elif text in _LETTERS:
            name, part = _LETTERS[text]
        else:
            raise _unknown(option, pattern, text)
        open_ended = "{1," in part
        if free and (open_ended or name != "X"):
            raise _unknown(option, pattern, text)
        self._names.append(name)
        out.append(part)
        return open_ended

    def timestamp(self, text: str, zone: tzinfo | None) -> datetime | None:
        """Parse a time; None if it does not match the pattern."""
        match = self._match(text)
        if not match:
            return None
        got = dict(zip(self._names, match.groups(), strict=True))
        own = zone
        if got.get("X"):
            own = zone_of(got["X"])
        day = _date(got.get("y") or "1970", got.get("M"), got.get("d"))
        if day is None:
            return None
        return _instant(day, got.get("H"), got.get("m"), got.get("s"), got.get("S"), own, text)

    def date(self, text: str) -> date | None:
        """Parse a date; None if it does not match the pattern."""
        instant = self.timestamp(text, timezone.utc)
        return instant.date() if instant else None


def _unknown(option: str, pattern: str, text: str) -> ValuesUnavailableError:
    return ValuesUnavailableError(
        f"{option}={pattern!r} contains {text!r}, which can't be followed exactly here. Select other columns."
    )
