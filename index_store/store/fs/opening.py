"""From a path or URL to the folder there."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from provspark.index_store.store.fs.folder import Folder
from provspark.index_store.store.fs.local import LocalFolder
from provspark.index_store.store.fs.remote import RemoteFolder
from provspark.model.errors import StoreUnreachableError

__all__ = ["open_folder"]


def open_folder(url: str) -> Folder:
    """The folder of a path, a ``file:`` URL, or a URL that `pyarrow.fs.FileSystem.from_uri` takes.

    Raises
    ------
    StoreUnreachableError
        No file system answers to this URL.
    """
    if "\0" in url or not url:
        raise StoreUnreachableError(f"{url!r} is no folder and no URL")
    try:
        parts = urlsplit(url) if ":" in url else None
    except ValueError as e:
        raise StoreUnreachableError(f"{url!r} is no URL: {e}") from e
    if parts is None or len(parts.scheme) < 2 or Path(url).is_absolute():
        return LocalFolder(Path(url))
    if parts.scheme != "file":
        return RemoteFolder.from_url(url)
    rest = url.split(":", 1)[1]
    if rest.startswith("//"):
        host, _, rest = rest[2:].partition("/")
        if host not in ("", "localhost"):
            raise StoreUnreachableError(f"{url}: {host!r} is another machine; give a path of this one, file:///…")
        rest = "/" + rest
    return LocalFolder(Path(unquote(rest)))
