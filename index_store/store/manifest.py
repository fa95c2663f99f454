"""manifest.json: the description of a step, in canonical JSON with its own hash."""

from __future__ import annotations

import hashlib
import json
import types
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from provspark.index_store.store.fs.folder import checked
from provspark.model.errors import CorruptIndexError, InvalidWriteError, StoreFormatError
from provspark.model.json_form import jsonable
from provspark.model.steps import FORMAT_VERSION, Manifest
from provspark.model.writes import Write

__all__ = ["canonical", "dump", "dump_format", "from_json", "load", "load_format", "seal", "sealed", "unseal"]

T = TypeVar("T")


_SINCE_3 = frozenset(
    {"reads", "driver_reads", "dag", "run_started", "attempt", "call", "action", "single", "unit", "complete"}
)
"""Keys that readers of format 2 reject."""


def dump(manifest: Manifest) -> bytes:
    """Serialize a manifest: format, hash of the body's text, body.

    A manifest of an older format has only that format's keys.
    """
    body = jsonable(manifest)
    if manifest.format_version < 3:
        body = _without(body, _SINCE_3)
    return sealed(manifest.format_version, _canonical(body))


def load(data: bytes, where: str) -> Manifest:
    """Parse a manifest; `where` is the name of the file in errors.

    Raises
    ------
    StoreFormatError
        The format is newer than this version of the package can read.
    CorruptIndexError
        The data is truncated, changed, or has the wrong structure.
    """
    format_version, body = unseal(data, where)
    manifest = from_json(Manifest, {"format_version": format_version} | body, where)
    if manifest.format_version != format_version:
        raise CorruptIndexError(where, f"it has two formats, {format_version} and {manifest.format_version}")
    _check_references(manifest, where)
    return manifest


def seal(version: int, body: object) -> bytes:
    """Serialize a value that `jsonable` takes, with its format and the hash of its text."""
    return sealed(version, canonical(body))


def unseal(data: bytes, where: str) -> tuple[int, dict[str, Any]]:
    """Return the format and the body of what `seal` serialized; the same errors as `load`."""
    outer = _parse(data, where)
    body = outer.get("body")
    if set(outer) != {"format", "sha256", "body"} or not isinstance(body, dict):
        raise CorruptIndexError(where, "it is not a manifest with the keys format, sha256 and body")
    try:
        same = data == sealed(outer["format"], _canonical(body))
    except (ValueError, RecursionError) as e:  # such as a NaN
        raise CorruptIndexError(where, f"it is not canonical JSON: {e}") from e
    if not same:
        raise CorruptIndexError(where, "its checksum does not match")
    return outer["format"], body


def _check_references(manifest: Manifest, where: str) -> None:
    """Reject paths that leave the step, and references to files, axes and versions that the manifest lacks."""
    files = {f.path for f in manifest.files}
    for path in files:
        try:
            checked(path)
        except InvalidWriteError as e:
            raise CorruptIndexError(where, str(e)) from None
    before = 0
    for read in manifest.reads:
        _check_write(read, "read", files, before, where)
        before += read.output.rows
    for write in manifest.writes:
        _check_write(write, "write", files, before, where)


def _check_write(write: Write, what: str, files: set[str], read: int, where: str) -> None:
    """Check a write, or a read; `read` is the maximum size of its reads axis."""
    what = f"{what} {write.index}"
    versions = {v.id for v in (write.output, *write.inputs)} | {""}
    axes = range(len(write.axes))
    if any(v.files not in files for v in (write.output, *write.inputs)) or not write.named <= files:
        raise CorruptIndexError(where, f"{what} names files that the manifest does not list")
    if any(t.out not in axes or t.src not in axes for t in write.tensors):
        raise CorruptIndexError(where, f"{what} has a tensor between axes that do not exist")
    if any(a.version not in versions for a in write.axes):
        raise CorruptIndexError(where, f"{what} has an axis of a version that is not its own")
    if any(a.role == "reads" and (a.version or not 0 <= a.size <= read) for a in write.axes):
        raise CorruptIndexError(where, f"{what} has a reads axis with a version, or not of 0 to {read} rows")


def dump_format() -> bytes:
    """Serialize format.json."""
    return (_canonical({"format": FORMAT_VERSION}) + "\n").encode()


def load_format(data: bytes, where: str) -> int:
    """Parse format.json; the same errors as `load`."""
    outer = _parse(data, where)
    if data != _canonical({"format": outer["format"]}).encode() + b"\n":
        raise CorruptIndexError(where, "it contains more than a format")
    return int(outer["format"])


def from_json(kind: type[T], value: object, where: str) -> T:
    """Rebuild a dataclass from parsed JSON, and check every type.

    Raises
    ------
    CorruptIndexError
        The value has the wrong structure; the message names the file and the path inside it.
    """
    try:
        decoder: Callable[[object], T] = _decoder(cast(Any, kind))
        return decoder(value)
    except _ShapeError as e:
        raise CorruptIndexError(where, f"body{e.path} {e.what}") from None


class _ShapeError(Exception):
    """A value has the wrong type; `path` leads to it from where the error was caught."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what, self.path = what, ""

    def within(self, step: str) -> _ShapeError:
        """Prepend a step to the path and return the error."""
        self.path = step + self.path
        return self


def _parse(data: bytes, where: str) -> dict[str, Any]:
    """Parse the outer JSON object; check its format before anything else."""
    try:
        outer = json.loads(data.decode("ascii"))
    except (ValueError, RecursionError):
        raise CorruptIndexError(where, "it is not JSON") from None
    format_version = outer.get("format") if isinstance(outer, dict) else None
    if type(format_version) is not int or format_version < 1:
        raise CorruptIndexError(where, "it has no format number")
    if format_version > FORMAT_VERSION:
        raise StoreFormatError(where, format_version, FORMAT_VERSION)
    return dict(outer)


def sealed(version: int, body: str) -> bytes:
    """Serialize the text of a body with its format and hash."""
    digest = hashlib.sha256(body.encode()).hexdigest()
    return f'{{"format":{version},"sha256":"{digest}","body":{body}}}\n'.encode()


def _without(value: Any, keys: frozenset[str]) -> Any:
    if isinstance(value, list):
        return [_without(v, keys) for v in value]
    if isinstance(value, dict):
        return {k: _without(v, keys) for k, v in value.items() if k not in keys}
    return value


def canonical(value: object) -> str:
    """Return the canonical JSON of a value that `jsonable` takes."""
    return _canonical(jsonable(value))


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


@cache
def _decoder(kind: Any) -> Callable[[object], Any]:
    """Return the function that checks and rebuilds values of a type of `provspark.model`."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        return _literal(args)
    if origin in (Union, types.UnionType):
        inner = _decoder(next(a for a in args if a is not type(None)))
        return lambda value: None if value is None else inner(value)
    if origin is tuple and len(args) == 2 and args[1] is Ellipsis:
        return _sequence(_decoder(args[0]))
    if origin is tuple:
        return _fixed([_decoder(a) for a in args])
    if hasattr(kind, "__dataclass_fields__"):
        return _dataclass(kind)
    return _scalar(kind)


def _scalar(kind: type) -> Callable[[object], object]:
    def build(value: object) -> object:
        if type(value) is not kind:
            raise _ShapeError(f"is {_name(value)}, not {kind.__name__}")
        return value

    return build


def _literal(allowed: tuple[object, ...]) -> Callable[[object], object]:
    def build(value: object) -> object:
        if not isinstance(value, str) or value not in allowed:
            raise _ShapeError(f"is {str(value)[:40]!r}, not one of {', '.join(map(str, allowed))}")
        return value

    return build


def _sequence(item: Callable[[object], object]) -> Callable[[object], object]:
    def build(value: object) -> object:
        if not isinstance(value, list):
            raise _ShapeError(f"is {_name(value)}, not a list")
        made: list[object] = []
        try:
            made.extend(map(item, value))
        except _ShapeError as e:
            raise e.within(f"[{len(made)}]") from None
        return tuple(made)

    return build


def _fixed(items: list[Callable[[object], object]]) -> Callable[[object], object]:
    def build(value: object) -> object:
        if not isinstance(value, list) or len(value) != len(items):
            raise _ShapeError(f"is {_name(value)}, not a list of {len(items)}")
        made: list[object] = []
        try:
            made.extend(item(v) for item, v in zip(items, value, strict=True))
        except _ShapeError as e:
            raise e.within(f"[{len(made)}]") from None
        return tuple(made)

    return build


def _dataclass(kind: Any) -> Callable[[object], object]:
    hints = get_type_hints(kind)
    parts = {name: _decoder(hints[name]) for name in kind.__dataclass_fields__}
    needed = {f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING}

    def build(value: object) -> object:
        if not isinstance(value, dict):
            raise _ShapeError(f"is {_name(value)}, not an object")
        if value.keys() != parts.keys():
            said = [f"{k} unknown" for k in sorted(value.keys() - parts.keys())]
            said += [f"{k} missing" for k in sorted(needed - value.keys())]
            if said:
                raise _ShapeError(f"has other keys than {kind.__name__}: {', '.join(said)}")
        name = ""
        made = {}
        try:
            for name, inner in value.items():
                made[name] = parts[name](inner)
        except _ShapeError as e:
            raise e.within(f".{name}") from None
        return kind(**made)

    return build


def _name(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", type(None): "null"}
    return names.get(type(value), type(value).__name__)
