"""Every error of the package, each also a builtin's child; messages say what was found, where, and what to do next."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from urllib.parse import unquote

_MATCHES = 20


class ProvSparkError(Exception):
    """Parent of all errors that the package raises on purpose."""


class StoreUnreachableError(ProvSparkError, OSError):
    """The store's folder does not answer or is no store.

    `reason` is what its file system said, without the location; "" where it said nothing. `file` and `step` name the
    file of a step that can't be read; "" where it is another file, or the store as a whole.
    """

    reason = file = step = ""


class StoreAccessError(StoreUnreachableError, PermissionError):
    """The store answers, but this user or these credentials may not read it."""


class StoreMissingError(StoreUnreachableError):
    """There is no store at this URL, or no longer: its folder, bucket or format.json does not exist.

    `empty` is True where its folder exists and contains nothing: the first captured step makes the store.
    """

    def __init__(self, message: str, *, empty: bool = False) -> None:
        super().__init__(message)
        self.empty = empty


class UnpickledAnswerError(StoreUnreachableError):
    """What an answer that was unpickled does not hold itself can't be read, since its store can't be opened.

    `url` is where the store was.
    """

    def __init__(self, url: str, why: str) -> None:
        super().__init__(
            f"this answer was unpickled, and its store {url} can't be opened here: {why} What the answer holds itself "
            f"can be read. For more, open the store where it is now with provspark.open(…), and pass the rows to a "
            f"question there, or ask again"
        )
        self.url, self.why = url, why

    def __reduce__(self) -> tuple[type[UnpickledAnswerError], tuple[str, str]]:
        return UnpickledAnswerError, (self.url, self.why)


class StoreReadOnlyError(ProvSparkError, PermissionError):
    """The store can be read but not written."""


class StoreWriteError(ProvSparkError, OSError):
    """A write into the store failed on the way (disk full, connection lost); nothing of it is visible."""


class InvalidWriteError(ProvSparkError, ValueError):
    """What is to be stored contradicts itself: an unknown version, an axis of another size, a box outside."""


def within_store(path: str) -> tuple[str, str]:
    """The path within its store, and the step, of a file of a step; two "" for any other file."""
    match = re.fullmatch(r"(?:.*/)?(steps/([^/]+)/.+)", path, re.DOTALL)
    return (unquote(match[1]), unquote(match[2])) if match else ("", "")


class StepFileError(ProvSparkError):
    """Parent of errors about one file of a store.

    `file` is its path within the store, `step` the step that it belongs to, `what` the reason. `file` and `step` are ""
    where the path does not lead into a step.
    """

    def __init__(self, path: str, what: str, message: str) -> None:
        super().__init__(message)
        self.path, self.what = path, what
        self.file, self.step = within_store(path)


class StoreFormatError(StepFileError, ValueError):
    """The store's format is newer than this package reads."""

    def __init__(self, where: str, stored: int, known: int) -> None:
        what = f"store format {stored}; this version of provspark reads up to format {known}"
        super().__init__(where, what, f"{where} has {what}. Upgrade airflow-provider-provspark on this machine.")
        self.stored, self.known = stored, known


class CorruptIndexError(StepFileError, OSError):
    """A file of the store is truncated or changed: its checksum or structure differs."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(
            path,
            what,
            f"{path} is corrupt: {what}. Nothing was answered from it; run `provspark repair`, run the step again, "
            f"or restore the file from a backup.",
        )


class UnknownDatasetError(ProvSparkError, LookupError):
    """No step of the store read or wrote a data set of that name.

    `broken` is the number of steps that can't be read, as for all errors that name what is known; `until` is the time
    up to which steps counted.
    """

    def __init__(self, name: str, known: Iterable[str], broken: int = 0, until: str = "") -> None:
        said = f"no data set {name!r} in this store" + _near(name, known, "provspark ls", broken)
        if until:
            said = f"no dataset {name!r} as of {until}: no step that read or wrote it had ended; choose a later as_of"
        super().__init__(said)
        self.name = name


class UnknownStepError(ProvSparkError, LookupError):
    """No published step of that id."""

    def __init__(self, name: str, known: Iterable[str], broken: int = 0) -> None:
        super().__init__(f"no step {name!r} in this store" + _near(name, known, "provspark ls --steps", broken))
        self.name = name


class AmbiguousStepError(UnknownStepError):
    """The beginning of a step's id that is that of several steps; `matches` are their ids."""

    def __init__(self, name: str, matches: Iterable[str]) -> None:
        self.name, self.matches = name, tuple(matches)
        shown = ", ".join(self.matches[:_MATCHES])
        left = len(self.matches) - _MATCHES
        more = f" and {left} more" if left > 0 else ""
        said = f"Step prefix {name!r} matches {len(self.matches)} steps: {shown}{more}. Pass more of the id."
        LookupError.__init__(self, said)

    def __reduce__(self) -> tuple[type[AmbiguousStepError], tuple[str, tuple[str, ...]]]:
        return AmbiguousStepError, (self.name, self.matches)


class StepRemovedError(UnknownStepError):
    """A step was removed from the store after it was seen there; nothing was answered from what is left of it."""

    def __init__(self, name: str, where: str) -> None:
        LookupError.__init__(
            self, f"step {name!r} was removed from {where} (provspark gc) while it was being read; ask again"
        )
        self.name = name


class UnknownVersionError(ProvSparkError, LookupError):
    """No step of the store read or wrote that version of a data set."""

    def __init__(self, dataset: str, version: str, known: Iterable[str]) -> None:
        known = list(known)
        shown = ", ".join(known[-5:]) + (f" and {len(known) - 5} older ones" if len(known) > 5 else "")
        super().__init__(f"no version {version!r} of {dataset} in this store; there are {shown}")
        self.dataset, self.version = dataset, version


class UnknownRunError(ProvSparkError, LookupError):
    """No published step belongs to that run."""

    def __init__(self, run: str, known: Iterable[str], broken: int = 0) -> None:
        super().__init__(f"no run {run!r} in this store" + _near(run, known, "provspark ls --steps", broken))
        self.run = run


class RowOutOfRangeError(ProvSparkError, IndexError):
    """A row id is not within 0 … rows-1 of its version."""

    def __init__(self, dataset: str, row: int, rows: int) -> None:
        valid = f"row ids go from 0 to {rows - 1}" if rows else "it is empty"
        super().__init__(f"row {row} of {dataset} does not exist: this version has {rows} rows, {valid}")
        self.row, self.rows = row, rows


class VersionChangedError(ProvSparkError, RuntimeError):
    """The files of a version are no longer what they were when it was captured; row ids stand, values are gone."""


class ValuesUnavailableError(ProvSparkError, RuntimeError):
    """The values of these rows can't be read by position (format or options); row ids stand."""


class ReplayError(ProvSparkError, RuntimeError):
    """A step's operations can't be replayed: none are stored, or no Spark runs here that could."""


class ReplayCancelledError(ReplayError):
    """A replay was cancelled before its end."""


class UntrackedError(ProvSparkError, LookupError):
    """The question crosses a step whose lineage was not captured."""


class ConditionError(ProvSparkError, ValueError):
    """A column–operator–value condition that can't be understood or does not fit the data set."""


class ArgumentError(ProvSparkError, TypeError):
    """An argument of another type than its parameter takes, an empty name, or an argument of no parameter's name."""


class AnswerMemberError(ProvSparkError, AttributeError):
    """Answers of this kind have no such member, which others have: the message says what to call instead."""

    def __init__(self, answer: str, member: str, instead: str) -> None:
        super().__init__(f"answers of type {answer} have no {member!r}: {instead}")
        self.answer, self.member = answer, member


class UnknownColumnError(ConditionError, LookupError):
    """A data set has no column of that name."""


def near_columns(owner: object, name: str, names: Iterable[str]) -> UnknownColumnError:
    """Return the error of a column that `owner` does not have, with the names that come near."""
    names = list(names)
    near = get_close_matches(name, names, 3, 0.6)
    hint = "it has " + ", ".join(names) if names else "its columns are not known"
    hint = "did you mean " + " or ".join(near) + "?" if near else hint
    return UnknownColumnError(f"{owner} has no column {name!r}; {hint}")


class ExpectationError(ProvSparkError, AssertionError):
    """An answer is not what was expected of it."""


class UnsupportedPlanError(ProvSparkError, NotImplementedError):
    """A plan that can't be captured exactly: names the node and, where known, the script's line."""

    def __init__(self, node: str, why: str, site: str = "") -> None:
        super().__init__(f"{node}: {why}" + (f" ({site})" if site else ""))
        self.node, self.why, self.site = node, why, site

    def at(self, site: str) -> UnsupportedPlanError:
        """Return the same refusal with the script's ``file:line``."""
        return UnsupportedPlanError(self.node, self.why, site)


class CaptureError(ProvSparkError, RuntimeError):
    """Capture failed on the way; the user's write is done or goes on without it."""


class ConcurrentWriteError(ProvSparkError, RuntimeError):
    """Two tasks write one path at once."""


class StepExistsError(ProvSparkError, FileExistsError):
    """A step of this id is already published or being published."""


class SettingsError(ProvSparkError, ValueError):
    """An argument, connection or configuration option is missing or has no such value."""


class VersionMismatchError(ProvSparkError, ImportError):
    """pyspark and pyspark-client are installed in different versions."""


class JavaNotFoundError(ProvSparkError, FileNotFoundError):
    """No Java that Spark can run on."""


class PackageMissingError(ProvSparkError, ImportError):
    """A package that this part of ProvSpark needs is not installed."""

    def __init__(self, part: str, package: str) -> None:
        super().__init__(f"{part} needs {package}, which is not installed; run: pip install {package}")
        self.package = package


class QuestionCancelledError(ProvSparkError, RuntimeError):
    """Whoever asked no longer waits for the answer."""


class TooManyStepsError(ProvSparkError, RuntimeError):
    """The question goes through more steps than it may here."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"the query spans more than {limit:,} steps, this server's limit ([provspark] max_steps). Set `to` to the "
            f"dataset where it should end, or start from a version with fewer steps in between. Python and the command "
            f"line have no limit"
        )
        self.limit = limit


class TooManyReplaysError(ReplayError):
    """Too many replays run or wait already; `seconds` is when to try again."""

    def __init__(self, why: str, seconds: int) -> None:
        super().__init__(f"{why}; try again in {seconds} seconds")
        self.seconds = seconds


class CatalogueError(ProvSparkError, RuntimeError):
    """The catalogue's database does not answer or has another schema."""


class CatalogueUnreachableError(CatalogueError):
    """The catalogue's database does not answer: host down, name unknown, connection refused or timed out."""


class CatalogueAccessError(CatalogueError):
    """The catalogue's database denies access: wrong password, no such user, missing permissions."""


class NoCatalogueError(CatalogueError, LookupError):
    """There is no catalogue at this URL, and none may be made there."""


class EventError(ProvSparkError, ValueError):
    """An OpenLineage event that can't be ingested."""


def _near(name: str, known: Iterable[str], command: str, broken: int) -> str:
    known = list(known)
    tails: dict[str, str] = {}
    for full in known:
        tails.setdefault(full.rstrip("/").rsplit("/", 1)[-1], full)
    near = get_close_matches(name, known, 3, 0.6)
    near += [tails[t] for t in get_close_matches(name.rstrip("/").rsplit("/", 1)[-1], tails, 3, 0.6)]
    if near:
        return "; did you mean " + " or ".join(dict.fromkeys(near)) + "?"
    if known:
        return f"; `{command}` lists the {len(known)} there are"
    if broken:
        steps = "1 step" if broken == 1 else f"{broken} steps"
        return f"; {steps} of the store can't be read. Run `provspark verify` to see why"
    return "; the store is empty"


for _error in list(vars().values()):
    if isinstance(_error, type):
        _error.__module__ = "provspark.errors"  # where users import them from: tracebacks and pickles name it
