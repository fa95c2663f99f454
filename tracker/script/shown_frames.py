"""Decide whether a script uses the text that Spark prints of a DataFrame, which makes it a read on the driver."""

from __future__ import annotations

import linecache
import re

from provspark.tracker.script import program
from provspark.tracker.script.program import beside, file_of
from provspark.tracker.script.row_constants import reading

__all__ = ["EAGER", "takes_text"]

EAGER = ("__repr__", "_repr_html_")
"""Methods of a DataFrame that print rows if ``spark.sql.repl.eagerEval.enabled`` is set."""
_PRINTED = re.compile(r"redirect_stdout|_show_string|showString")
_EAGERLY = re.compile(r"\b(?:repr|str)\(|_repr_html_")


def takes_text(method: str, site: str) -> bool:
    """Whether the main script, the calling file or a module that they import may use the text that a DataFrame prints.

    Parameters
    ----------
    method : str
        The printing method of the DataFrame.
    site : str
        ``file:line`` of the call.
    """
    eager = method in EAGER
    wanted = _EAGERLY if eager else _PRINTED
    with reading(frozenset()):
        main = file_of("__main__")
        files = [site.rpartition(":")[0], *([main] if beside(main) else [])]
        sources = {source.file: source for source in map(program().source, files) if source is not None}
        waiting = list(sources.values())
        while waiting:
            source = waiting.pop()
            assigned = "stdout" in source.stored and not eager
            if assigned or wanted.search("".join(linecache.getlines(source.file))):
                return True
            for module in (program().module(name, source) for name in source.imports):
                if module is not None and module.file not in sources:
                    sources[module.file] = module
                    waiting.append(module)
    return False
