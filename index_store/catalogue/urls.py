"""Canonical form of a store's URL in the catalogue."""

from __future__ import annotations

import posixpath
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from provspark.model.errors import SettingsError


def store_url(text: str) -> str:
    """Return a store's URL in the form of `Store.url`: percent-encoded, no user name, no slash at its end.

    Raises
    ------
    SettingsError
        The path is relative, and would be another folder elsewhere, or the ``file:`` URL names another machine.

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
            raise SettingsError(
                f"{text!r} is on another machine. Use a file: URL on this machine, such as file:///store."
            )
        path = unquote(urlsplit(text.replace("?", "%3F").replace("#", "%23")).path)
    if not path.startswith("/"):
        raise SettingsError(f"{text!r} is a relative path. Pass the full path or URL of the store.")
    return "file://" + quote("/" + posixpath.normpath(path).lstrip("/"))
