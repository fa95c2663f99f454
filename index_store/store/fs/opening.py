"""Opening of the folder at a path or URL."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from provspark.index_store.store.fs.folder import Folder
from provspark.index_store.store.fs.local import LocalFolder
from provspark.index_store.store.fs.remote import RemoteFolder
from provspark.model.errors import StoreUnreachableError

__all__ = ["open_folder"]


def open_folder(url: str) -> Folder:
    """Return the folder at a path, a ``file:`` URL, or a URL that `pyarrow.fs.FileSystem.from_uri` accepts.

    Raises
    ------
    StoreUnreachableError
        No file system answers at this URL.
    """
    if "\0" in url or not url:
        raise StoreUnreachableError(f"{url!r} is neither a path nor a URL. Pass the path or URL of the store.")
    try:
        parts = urlsplit(url) if ":" in url else None
    except ValueError as e:
        raise StoreUnreachableError(f"{url!r} is not a valid URL: {e}. Check the URL of the store.") from e
    if parts is None or len(parts.scheme) < 2 or Path(url).is_absolute():
        return LocalFolder(Path(url))
    if parts.scheme != "file":
        return RemoteFolder.from_url(url)
    rest = url.split(":", 1)[1]
    if rest.startswith("//"):
        host, _, rest = rest[2:].partition("/")
        if host not in ("", "localhost"):
            raise StoreUnreachableError(
                f"{url} is on another machine, {host!r}. Pass a path on this machine, such as file:///store."
            )
        rest = "/" + rest
    return LocalFolder(Path(unquote(rest)))
