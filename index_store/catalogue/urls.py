"""A store's URL in the one way that the catalogue knows it by."""

from __future__ import annotations

import posixpath
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from provspark.model.errors import SettingsError


def store_url(text: str) -> str:
    """Write a store's URL as `Store.url` does: percent-encoded, no user name, no slash at its end.

    Raises
    ------
    SettingsError
        A relative path, which would be another folder elsewhere, or a ``file:`` URL of another machine.

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
        if parts.netloc not in ("", "localhost"):
            raise SettingsError(f"{text!r} names another machine; a file: URL is of this one, file:///…")
        path = unquote(urlsplit(text.replace("?", "%3F").replace("#", "%23")).path)
    if not path.startswith("/"):
        raise SettingsError(f"{text!r} is a relative path; name the store by its whole path or URL")
    return "file://" + quote("/" + posixpath.normpath(path).lstrip("/"))
