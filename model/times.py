"""Times as text that can be sorted."""

from __future__ import annotations

import re
from datetime import datetime, timezone

__all__ = ["milliseconds", "utc"]

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,](\d+))?(?:([Zz])|([+-]\d\d):?(\d\d))?")


def utc(text: str) -> str:
    """Return an ISO 8601 time in UTC with microseconds; a time without a zone is in UTC.

    Digits below a microsecond are cut off.

    Raises
    ------
    ValueError
        The text is not an ISO 8601 date and time.

    >>> utc("2026-01-02T03:04:05.678+02:00")
    '2026-01-02T01:04:05.678000+00:00'
    >>> utc("2026-01-02T03:04:05Z")
    '2026-01-02T03:04:05.000000+00:00'
    """
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not an ISO 8601 date and time")
    day, clock, fraction, _, hours, minutes = match.groups()
    zone = f"{hours}:{minutes}" if hours else "+00:00"
    try:
        local = datetime.fromisoformat(f"{day}T{clock}.{(fraction or '')[:6]:0<6}{zone}")
        moment = local.astimezone(timezone.utc)
    except OverflowError as e:
        raise ValueError(f"{text!r} is out of range") from e
    return moment.isoformat(timespec="microseconds")


def milliseconds(text: str) -> int:
    """Return an ISO 8601 time in milliseconds since the epoch, as stored for files.

    >>> milliseconds("1970-01-01T00:00:01.5Z")
    1500
    """
    return int(datetime.fromisoformat(utc(text)).timestamp() * 1000)
