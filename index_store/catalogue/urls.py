"""A store's URL in the one way that the catalogue knows it by."""

from __future__ import annotations

import posixpath
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from provspark.errors import SettingsError


def store_url(text: str) -> str:
    """Write a store's URL as `Store.url` does: percent-encoded, no user name, no slash at its end.

    Raises
    ------
    SettingsError
        A relative path: it would be another folder on another machine.

    >>> store_url("/data/prov/")
    'file:///data/prov'
    >>> store_url("file:/data/a%20b")
    'file:///data/a%20b'
    >>> store_url("s3://key:secret@bucket/prov?region=eu-west-1")
    's3://bucket/prov?region=eu-west-1'
    """
    parts = urlsplit(text)
    if len(parts.scheme) > 1 and parts.scheme != "file":
        host = parts.netloc.rpartition("@")[2]
        return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), parts.query, ""))
    path = text
    if parts.scheme == "file":
        rest = text.split(":", 1)[1]
        path = unquote("/" + rest[2:].partition("/")[2] if rest.startswith("//") else rest)
    if not path.startswith("/"):
        raise SettingsError(f"{text!r} is a relative path; name the store by its whole path or URL")
    return "file://" + quote("/" + posixpath.normpath(path).lstrip("/"))
