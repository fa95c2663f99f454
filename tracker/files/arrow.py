"""Patches of pyarrow's readers and writers, which are C++ code and open files without an audit event.

Extension classes can't be changed, so a Python subclass replaces them. Type checks with it give the same results.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from types import ModuleType
from typing import Any, Literal

from provspark.model.writes import Untracked
from provspark.tracker.files.frames import Caller
from provspark.tracker.files.journal import Journal
from provspark.tracker.files.paths import local_path
from provspark.tracker.intercept.import_hook import WhenImported

__all__ = ["ENTRIES", "ArrowPatches", "PatchedCall"]

FileUse = Literal["read", "write", "write folder", "append", "copy", "move", "by mode"]


@dataclass(frozen=True, slots=True)
class PatchedCall:
    """A function or method that opens files.

    Parameters
    ----------
    module : str
        Module in which it is looked up after import.
    name : str
        ``function`` or ``Class.method``.
    place : int
        Position of the argument that contains the path.
    path : str
        Name of that argument.
    use : str
        What the call does with the file.
    """

    module: str
    name: str
    place: int
    path: str
    use: FileUse

    @property
    def action(self) -> str:
        """The public name by which scripts call it."""
        name = self.name.removesuffix(".__init__")
        return f"{self.module.removesuffix('.core').removesuffix('.lib')}.{name}"


ENTRIES = (
    PatchedCall("pyarrow.parquet.core", "ParquetFile.__init__", 1, "source", "read"),
    PatchedCall("pyarrow.parquet.core", "ParquetDataset.__init__", 1, "path_or_paths", "read"),
    PatchedCall("pyarrow.parquet.core", "read_table", 0, "source", "read"),
    PatchedCall("pyarrow.parquet.core", "read_pandas", 0, "source", "read"),
    PatchedCall("pyarrow.parquet.core", "ParquetWriter.__init__", 1, "where", "write"),
    PatchedCall("pyarrow.parquet.core", "write_table", 1, "where", "write"),
    PatchedCall("pyarrow.parquet.core", "write_to_dataset", 1, "root_path", "write folder"),
    PatchedCall("pyarrow.dataset", "dataset", 0, "source", "read"),
    PatchedCall("pyarrow.dataset", "parquet_dataset", 0, "metadata_path", "read"),
    PatchedCall("pyarrow.dataset", "write_dataset", 1, "base_dir", "write folder"),
    PatchedCall("pyarrow.csv", "read_csv", 0, "input_file", "read"),
    PatchedCall("pyarrow.csv", "open_csv", 0, "input_file", "read"),
    PatchedCall("pyarrow.csv", "write_csv", 1, "output_file", "write"),
    PatchedCall("pyarrow.json", "read_json", 0, "input_file", "read"),
    PatchedCall("pyarrow.json", "open_json", 0, "input_file", "read"),
    PatchedCall("pyarrow.feather", "read_table", 0, "source", "read"),
    PatchedCall("pyarrow.feather", "read_feather", 0, "source", "read"),
    PatchedCall("pyarrow.feather", "write_feather", 1, "dest", "write"),
    PatchedCall("pyarrow.orc", "ORCFile.__init__", 1, "source", "read"),
    PatchedCall("pyarrow.orc", "read_table", 0, "source", "read"),
    PatchedCall("pyarrow.orc", "ORCWriter.__init__", 1, "where", "write"),
    PatchedCall("pyarrow.orc", "write_table", 1, "where", "write"),
    PatchedCall("pyarrow.ipc", "open_file", 0, "source", "read"),
    PatchedCall("pyarrow.ipc", "open_stream", 0, "source", "read"),
    PatchedCall("pyarrow.ipc", "new_file", 0, "sink", "write"),
    PatchedCall("pyarrow.ipc", "new_stream", 0, "sink", "write"),
    PatchedCall("pyarrow.ipc", "RecordBatchFileReader.__init__", 1, "source", "read"),
    PatchedCall("pyarrow.ipc", "RecordBatchStreamReader.__init__", 1, "source", "read"),
    PatchedCall("pyarrow.ipc", "RecordBatchFileWriter.__init__", 1, "sink", "write"),
    PatchedCall("pyarrow.ipc", "RecordBatchStreamWriter.__init__", 1, "sink", "write"),
    PatchedCall("pyarrow.csv", "CSVWriter", 0, "sink", "write"),
    PatchedCall("pyarrow.fs", "copy_files", 0, "source", "copy"),
    PatchedCall("pyarrow.fs", "LocalFileSystem.copy_file", 1, "src", "copy"),
    PatchedCall("pyarrow.fs", "LocalFileSystem.move", 1, "src", "move"),
    PatchedCall("pyarrow.fs", "LocalFileSystem.open_append_stream", 1, "path", "append"),
    PatchedCall("pyarrow.fs", "LocalFileSystem.open_input_file", 1, "path", "read"),
    PatchedCall("pyarrow.fs", "LocalFileSystem.open_input_stream", 1, "path", "read"),
    PatchedCall("pyarrow.fs", "LocalFileSystem.open_output_stream", 1, "path", "write"),
    PatchedCall("pyarrow", "OSFile", 0, "path", "by mode"),
    PatchedCall("pyarrow.lib", "memory_map", 0, "path", "by mode"),
    PatchedCall("pyarrow.lib", "create_memory_map", 0, "path", "write"),
    PatchedCall("pyarrow.lib", "input_stream", 0, "source", "read"),
    PatchedCall("pyarrow.lib", "output_stream", 0, "source", "write"),
)


_CHANGEABLE = 1 << 9
"""Flag of types whose attributes can be set (Py_TPFLAGS_HEAPTYPE)."""


def _stand_in(module: str, plain: type, make: Callable[..., Any] | None = None) -> type:
    """Return a subclass that replaces an immutable class, and counts all instances of that class as its own.

    Parameters
    ----------
    module : str
        Module that the subclass claims to be from.
    plain : type
        The immutable class.
    make : callable, optional
        Makes an instance. Without it, instances are of the subclass, whose methods can be patched.
    """

    class Indistinct(type(plain)):  # type: ignore[misc]
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, plain) if cls is made else type.__instancecheck__(cls, instance)

        def __subclasscheck__(cls, other: type) -> bool:
            return issubclass(other, plain) if cls is made else type.__subclasscheck__(cls, other)

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            return make(*args, **kwargs) if cls is made and make else super().__call__(*args, **kwargs)

    made: type = Indistinct(plain.__name__, (plain,), {"__module__": module, "__doc__": plain.__doc__})
    return made


def _modules() -> list[ModuleType]:
    return [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "pyarrow"]


class ArrowPatches:
    """Patches of pyarrow's modules, applied as each module is imported and undone by `remove`.

    Parameters
    ----------
    journal : Journal
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._undo: list[tuple[Any, str, Any]] = []
        self._plain: dict[int, tuple[Any, Any]] = {}
        """Pairs of original and patched object in pyarrow's modules, by the id of the patched one."""
        self._waiting: list[WhenImported] = []
        self._modules: list[ModuleType] = []
        self._on = False

    def install(self) -> None:
        """Patch the modules already imported now, and the others when they are imported."""
        self._on = True
        self._modules = _modules()
        for name in dict.fromkeys(entry.module for entry in ENTRIES):
            self._waiting.append(WhenImported(name, self._imported))

    def remove(self) -> None:
        """Restore all originals."""
        self._on = False
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder not in self._waiting]
        self._waiting.clear()
        self._modules.clear()
        while self._undo:
            owner, name, original = self._undo.pop()
            setattr(owner, name, original)
        for module in _modules():  # including those imported since, which may have copied a patched name
            for name, value in list(vars(module).items()):
                if id(value) in self._plain:
                    setattr(module, name, self._plain[id(value)][0])
        self._plain.clear()

    def _imported(self, module: ModuleType) -> None:
        if module not in self._modules:
            self._modules = _modules()
        for entry in ENTRIES:
            if entry.module == module.__name__:
                try:
                    self._patch(module, entry)
                except Exception as e:
                    why = f"patching it failed, so files that it opens are not followed: {type(e).__name__}: {e}"
                    self._journal.lose(Untracked(entry.action, why))

    def _patch(self, module: ModuleType, entry: PatchedCall) -> None:
        owner_name, _, method = entry.name.rpartition(".")
        if owner_name:
            owner = getattr(module, owner_name)
            if not owner.__flags__ & _CHANGEABLE:
                owner = self._replaced(owner_name, owner, _stand_in(module.__name__, owner))
            self._set(owner, method, self._wrapped(getattr(owner, method), entry))
            return
        plain = getattr(module, entry.name)
        if isinstance(plain, type):
            self._replaced(entry.name, plain, _stand_in(module.__name__, plain, self._wrapped(plain, entry)))
        else:
            self._replaced(entry.name, plain, self._wrapped(plain, entry))

    def _replaced(self, name: str, plain: Any, patched: Any) -> Any:
        """Replace the original by the patched object in all of pyarrow's modules; return the patched one.

        Extension modules keep their classes, because those imported later look up the memory layout there.
        """
        self._plain[id(patched)] = plain, patched
        for each in self._modules:
            compiled = not str(getattr(each, "__file__", "")).endswith(".py")
            if vars(each).get(name) is plain and not (compiled and isinstance(plain, type)):
                setattr(each, name, patched)
        return patched

    def _set(self, owner: Any, name: str, patched: Any) -> None:
        self._undo.append((owner, name, getattr(owner, name)))
        setattr(owner, name, patched)

    def _wrapped(self, plain: Callable[..., Any], entry: PatchedCall) -> Callable[..., Any]:
        @wraps(plain, updated=())
        def call(*args: Any, **kwargs: Any) -> Any:
            then = self._before(entry, args, kwargs) if self._on else None
            try:
                return plain(*args, **kwargs)
            finally:
                if then is not None:
                    self._guarded(then)

        return call

    def _guarded(self, call: Callable[[], None]) -> None:
        try:
            call()
        except Exception as e:
            self._journal.failed(e)

    def _before(self, entry: PatchedCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[], None] | None:
        """Record what a call is about to do, unless pyarrow calls itself; return what to do after it, if anything."""
        by = None
        try:
            frame = sys._getframe(2)
            if str(frame.f_globals.get("__name__", "")).partition(".")[0] == "pyarrow":
                return None
            by = self._journal.by(frame)
            if by is None:
                return None
            by = by if by.action else by._replace(action=entry.action)
            return self._noted(entry, by, args, kwargs)
        except LookupError as e:
            node = entry.action
            why = f"{e} is on a remote file system, where reads and writes by the driver are not followed"
            self._journal.lose(Untracked(node, why, "" if by is None else by.site))
        except Exception as e:
            self._journal.failed(e)
        return None

    def _noted(
        self, entry: PatchedCall, by: Caller, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Callable[[], None] | None:
        journal = self._journal
        file_system = kwargs.get("filesystem") or next((a for a in args if hasattr(a, "get_file_info")), None)
        given = args[entry.place] if len(args) > entry.place else kwargs.get(entry.path)
        if entry.use in ("copy", "move"):
            at = entry.place + 1
            source = local_path(given, kwargs.get("source_filesystem"))
            to = args[at] if len(args) > at else kwargs.get("destination", kwargs.get("dest"))
            target = local_path(to, kwargs.get("destination_filesystem"))
            if source is not None and target is not None:
                journal.copies(source, target, by, same=entry.use == "move")
            return None
        paths = [local_path(each, file_system) for each in (given if isinstance(given, (list, tuple)) else [given])]
        for path in paths:
            if path is None:
                continue
            if entry.use == "write folder":
                before = journal.folder_before(path)
                return lambda path=path: journal.wrote_folder(path, before, by)  # type: ignore[misc]
            mode = (args[1] if len(args) > 1 else kwargs.get("mode", "r")) if entry.use == "by mode" else ""
            if entry.use == "read" or mode.startswith("r"):
                journal.reads(path, by)
            if entry.use in ("write", "append") or mode.startswith(("w", "a", "r+")):
                journal.writes(path, by, fresh=entry.use != "append" and not mode.startswith(("r+", "a")))
        return None
