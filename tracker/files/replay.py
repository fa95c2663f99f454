"""Replay the journal's entries to determine which files the driver read and wrote."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace

from provspark.tracker.files.file import FileRead, FileState, FileWrite, Stat, look
from provspark.tracker.files.frames import Caller
from provspark.tracker.files.journal import Copied, Entry, FileOpened, FilePlace, Temporary
from provspark.tracker.files.paths import beside

__all__ = ["JournalReplay"]


@dataclass(frozen=True, slots=True)
class _Content:
    """Where a file's content comes from; see `FileWrite`. `until_ns` is 0 until the file's last change is known."""

    sources: tuple[FileState, ...] = ()
    computed: bool = True
    source_root: str = ""
    until_ns: int = 0


@dataclass(frozen=True, slots=True)
class _FileOrigin:
    """A file that the step wrote and then copied, moved or linked, in its state at that time."""

    draft: _Draft
    of: Stat
    content: _Content


@dataclass(slots=True)
class _Draft:
    """A file that the step may have written: its state shows later whether it changed."""

    place: FilePlace
    by: Caller
    before: Stat | None
    content: _Content
    origin: _FileOrigin | None = None
    same: Stat | None = None
    """For a moved or linked file, the state of the source, whose inode the new name must refer to."""
    given: Stat | None = None
    """The state in which the file was last reported as written."""


@dataclass(slots=True)
class JournalReplay:
    """Follows files through the journal's entries, and reports each read and each write.

    Temporary files and logs are reported as written only if something reads them.
    """

    _drafts: dict[str, _Draft] = field(default_factory=dict)
    _temporary: set[str] = field(default_factory=set)

    def play(self, entries: Iterable[Entry]) -> Iterator[FileRead | FileWrite]:
        """Yield the files that were read, in order, each after the step's own writes to it."""
        for entry in entries:
            if isinstance(entry, Temporary):
                self._temporary.add(entry.real)
            elif isinstance(entry, Copied):
                self._copied(entry)
            else:
                yield from self._opened(entry)

    @property
    def paths(self) -> list[str]:
        """Real paths of all files that the step may have written to."""
        return list(self._drafts)

    def written(self, paths: Collection[str] | None = None) -> Iterator[FileWrite]:
        """Yield files that the step wrote and whose present state was not reported yet.

        Parameters
        ----------
        paths : collection of str, optional
            Files or folders that are about to be read; all files by default.
        """
        for draft in list(self._drafts.values()):
            asked = paths is not None and any(beside(draft.place.real, p) or beside(draft.place.path, p) for p in paths)
            if paths is None or asked:
                yield from self._handed(draft, look(draft.place.real), asked=asked)

    def _opened(self, entry: FileOpened) -> Iterator[FileRead | FileWrite]:
        place, by, before = entry.place, entry.by, entry.before
        if entry.reads and before is not None:
            for name in dict.fromkeys((place.real, place.path)):
                if name in self._drafts:
                    yield from self._handed(self._drafts[name], before, asked=True)
                    yield from self._siblings(self._drafts[name])
            yield FileRead(_state(place, before), place.real, by.site, by.action, entry.at_ns, place.root)
        if not entry.writes:
            return
        known = self._drafts.get(place.real)
        content = _Content()
        if not entry.fresh and known is not None:
            content = replace(_sum(known), computed=True, until_ns=0)
        elif not entry.fresh and before is not None and before.size:
            content = _Content((_state(place, before),))
        draft = _Draft(place, by, before if known is None else known.before, content)
        draft.given = None if known is None else known.given
        self._drafts[place.real] = draft

    def _siblings(self, draft: _Draft) -> Iterator[FileWrite]:
        """Report the other files of a dataset when one is read: same root, or same folder and same line."""
        root, folder, site = draft.place.root, posixpath.dirname(draft.place.real), draft.by.site
        for each in list(self._drafts.values()):
            beside = posixpath.dirname(each.place.real) == folder and each.by.site == site
            if each.place.root == root if root else beside:
                yield from self._handed(each, look(each.place.real), asked=True)

    def _copied(self, entry: Copied) -> None:
        place, source, of = entry.place, entry.source, entry.of
        content = _Content((_state(source, of),), False, source.root, of.ctime_ns)
        draft = _Draft(place, entry.by, entry.before, content)
        known = self._drafts.get(source.real)
        if known is not None and _changed(known, of):
            draft.origin = _FileOrigin(known, of, _sum(known))
        if entry.same:
            draft.same = of
        self._drafts[place.real] = draft

    def _handed(self, draft: _Draft, now: Stat | None, *, asked: bool) -> Iterator[FileWrite]:
        if now is None or now == draft.given or not _changed(draft, now):
            return
        if not asked and (draft.by.log or self._is_temporary(draft.place.real)):
            return
        content, origin, place = draft.content, draft.origin, draft.place
        if origin is not None:
            source = look(origin.draft.place.real)
            if source is not None and source[:2] == origin.of[:2] and not self._is_temporary(origin.draft.place.real):
                yield from self._handed(origin.draft, source, asked=True)
            else:
                content = replace(origin.content, until_ns=content.until_ns)
        draft.given = now
        yield FileWrite(
            _state(place, now),
            place.real,
            draft.by.site,
            draft.by.action,
            content.sources,
            content.computed,
            content.until_ns or now.ctime_ns,
            place.root,
            content.source_root,
        )

    def _is_temporary(self, real: str) -> bool:
        if not self._temporary:
            return False
        if real in self._temporary:
            return True
        at = real.rfind("/")
        while at > 0:
            if real[:at] in self._temporary:
                return True
            at = real.rfind("/", 0, at)
        return False


def _changed(draft: _Draft, now: Stat) -> bool:
    if draft.same is not None:
        return (now.device, now.inode) == (draft.same.device, draft.same.inode)
    return now != draft.before


def _sum(draft: _Draft) -> _Content:
    """Return a file's content with that of a file which the step wrote and copied it from, instead of its name."""
    return draft.content if draft.origin is None else replace(draft.origin.content, until_ns=draft.content.until_ns)


def _state(place: FilePlace, stat: Stat) -> FileState:
    return FileState(place.path, stat.size, stat.mtime_ns)
