"""Runs an unchanged PySpark script as a step. `provspark run` and the operator start this module.

Usage: ``runner.py [options] -- APP ARGS…``, with Python or spark-submit. Exit code, log and traceback are those of the
script. If capture can't start, the script runs without it, so this module must only need Python 3.8.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import sys
import types
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

SUPPORTED = "Capture supports Spark 4.0 to 4.3 on Python 3.10 to 3.12."
"""Copy of the text in supported.py, because that module may fail to import."""

_PACKAGE = str(Path(__file__).resolve().parent)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a script under capture and return its exit code."""
    options = _parser().parse_args(argv)
    app, *arguments = options.app
    if options.mode == "off":
        return _run(app, arguments).code
    outcome = _Outcome(0, None)
    try:
        with contextlib.ExitStack() as stack:
            try:
                _attach(options, stack)
            except Exception as e:
                if options.on_error == "fail":
                    raise
                why = f"{type(e).__name__}: {e}"
                logging.getLogger("provspark").warning(
                    "provspark: the job runs without capture: %s. %s", why, SUPPORTED
                )
            outcome = _run(app, arguments)
            if outcome.error is not None:
                raise outcome.error
    except BaseException as e:
        if e is not outcome.error:
            raise
    return outcome.code


def _attach(options: argparse.Namespace, stack: contextlib.ExitStack) -> None:
    from provspark.model.steps import StepKey
    from provspark.tracker.attachment import attach

    key = StepKey(
        task_id=options.task_id or Path(options.app[0]).stem,
        run_id=options.run_id or f"run-{uuid.uuid4()}",
        dag_id=options.dag_id,
        map_index=options.map_index,
        try_number=options.try_number,
        call=options.call,
    )
    about = _dag(options.dag) if options.dag else {}
    stack.enter_context(attach(options.store, key=key, on_error=options.on_error, profile=options.profile, **about))


def _dag(file: str) -> dict[str, Any]:
    """Read the operator's file with the DAG's tasks. Log a warning and return {} if it can't be read."""
    from provspark.index_store.store.tasks import load_dag

    try:
        tasks, started = load_dag(Path(file).read_bytes(), file)
    except Exception as e:
        why = f"The tasks of the DAG can't be read from {file}, so answers do not list tasks without capture"
        logging.getLogger("provspark").warning("provspark: %s: %s", why, e)
        return {}
    return {"dag": tasks, "run_started": started}


class _Outcome(NamedTuple):
    """How a script ended: its exit code, and the exception if the code is not 0."""

    code: int
    error: BaseException | None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="provspark.tracker.runner", description=__doc__)
    parser.add_argument("--store", required=True, help="folder or URL of the store")
    parser.add_argument("--task-id", default="", help="name of the step (default: file name of the script)")
    parser.add_argument("--run-id", default="", help="ID of the run (default: a new one)")
    parser.add_argument("--dag-id", default="")
    parser.add_argument("--map-index", type=int, default=-1)
    parser.add_argument("--try-number", type=int, default=1)
    parser.add_argument("--call", default="", help="distinguishes several runs within one task")
    parser.add_argument("--on-error", choices=("warn", "fail"), default="warn", help="what to do if lineage is lost")
    parser.add_argument("--dag", default="", metavar="FILE", help="JSON file with the tasks of the DAG")
    parser.add_argument("--profile", action="store_true", help="also store value distributions")
    parser.add_argument("--mode", choices=("index", "off"), default="index", help="off: run the script without capture")
    parser.add_argument("app", nargs="+", metavar="APP ARGS", help="after --: the script and its arguments")
    return parser


def _run(app: str, arguments: Sequence[str]) -> _Outcome:
    """Execute the script in this process, as ``python app`` would."""
    path = Path(os.path.abspath(app))  # noqa: PTH100 - python resolves no links here either
    main_module = types.ModuleType("__main__")
    main_module.__dict__.update(__file__=str(path), __builtins__=__builtins__)
    before = sys.modules["__main__"], sys.argv, sys.path[0]
    try:
        code = compile(path.read_bytes(), str(path), "exec")
    except (OSError, SyntaxError) as e:
        sys.excepthook(type(e), e.with_traceback(None), None)
        return _Outcome(2 if isinstance(e, OSError) else 1, e)
    sys.modules["__main__"] = main_module
    sys.argv = [app, *arguments]
    sys.path[0] = str(path.resolve().parent)
    try:
        exec(code, main_module.__dict__)
    except SystemExit as e:
        code_of_exit = _exit_code(e)
        return _Outcome(code_of_exit, e if code_of_exit else None)
    except BaseException as e:
        _without_ours(e)
        sys.excepthook(type(e), e, e.__traceback__)
        return _Outcome(130 if isinstance(e, KeyboardInterrupt) else 1, e)
    finally:
        sys.modules["__main__"], sys.argv, sys.path[0] = before
    return _Outcome(0, None)


def _exit_code(error: SystemExit) -> int:
    if error.code is None or isinstance(error.code, int):
        return error.code or 0
    print(error.code, file=sys.stderr)
    return 1


def _without_ours(error: BaseException) -> None:
    """Remove our own frames from the traceback, so that it looks as if the script had run alone."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        frames = []
        trace = current.__traceback__
        while trace is not None:
            if not os.path.realpath(trace.tb_frame.f_code.co_filename).startswith(_PACKAGE + os.sep):
                frames.append(trace)
            trace = trace.tb_next
        for i, frame in enumerate(frames):
            frame.tb_next = frames[i + 1] if i + 1 < len(frames) else None
        current.__traceback__ = frames[0] if frames else None
        current = current.__cause__ or current.__context__


if __name__ == "__main__":
    sys.exit(main())
