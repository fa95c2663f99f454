"""An answer of each class that a question returns."""

from __future__ import annotations

import collections.abc
import pickle
from pathlib import Path
from typing import Any, get_args, get_origin

from provspark.index_store.query.question import QUESTIONS
from provspark.model.operations import Column, Operation
from provspark.model.runs import Runs
from provspark.replay.history import History, Passage
from provspark.replay.records import Line, Replayed, Stage
from provspark.replay.shared_witnesses import SharedRows
from provspark.replay.spread import OperationProfile, OperationProfiles
from provspark.replay.why_not import Missed, WhyNot

HOSTILE = "<script>alert('x')</script>&<b>\x1b[2J\u202e\nforged" + "long " * 300


def every_answer(prov: Any, folder: Path) -> dict[str, Any]:
    """An answer of each question that needs no Spark."""
    report, source, clean = (str(folder / name) for name in ("report.csv", "people.csv", "clean.csv"))
    backward = prov.backward(report, to=source)
    return {
        "datasets": prov.datasets(),
        "steps": prov.steps(),
        "unfinished": prov.unfinished(),
        "select": prov.select(report),
        "locate": prov.locate(prov.select(report)),
        "values": prov.values(source),
        "backward": backward,
        "backward to all": prov.backward(str(folder / "copy.csv"), kinds=("data", "context")),
        "forward": prov.forward(source),
        "trace": prov.trace(report),
        "how": prov.how(report),
        "co_contributory": prov.co_contributory(clean, [0], to=clean, via=report),
        "co_dependency": prov.co_dependency(report, to=report, via=source),
        "composition": prov.composition(report, source=source, column="city"),
        "correspondence": prov.correspondence(report, to=source),
        "derivations": prov.derivations(report),
        "columns": prov.columns(report),
        "columns stopped": prov.columns(str(folder / "copy.csv")),
        "cells": prov.cells(report),
        "cells forward": prov.cells(source, direction="forward"),
        "operations": prov.operations(report),
        "operations of columns": prov.operations(report, column="first"),
        "operations of rows": prov.operations(report, [1]),
        "operations of a step": prov.operations(step_of(prov, "report.csv")),
        "dropped": prov.dropped(source),
        "neighbourhood": prov.neighbourhood(report),
        "cell_neighbourhood": prov.cell_neighbourhood(report),
        "profile": prov.profile(report),
        "impact": prov.impact(report),
        "answer values": backward.values(),
        "pickled": pickle.loads(pickle.dumps(backward)),
        "none": prov.backward(report, rows=[], to=source),
    }


def step_of(prov: Any, name: str) -> str:
    """The step that wrote a dataset."""
    return next(str(s["step"]) for s in prov.steps() if s["outputs"][0].endswith(name))


def replayed_answers() -> dict[str, Any]:
    """An answer of each class that needs Spark, made by hand, with hostile names and values."""
    column = Column(1, HOSTILE, "string")
    operation = Operation(0, "Filter", ("horizontal reduction",), HOSTILE, columns=(column,), site=HOSTILE)
    stage = Stage(operation, (Line((HOSTILE,)), Line((None,))))
    told = Replayed(HOSTILE, 0, HOSTILE, (operation,), (stage,))
    passage = Passage("backward", HOSTILE, 0, HOSTILE, ((HOSTILE, Runs.span(3)),), told, inputs=("file:///in",))
    missed = Missed(HOSTILE, HOSTILE, (), Runs.span(2), None, why=HOSTILE)
    return {
        "replay": told,
        "history": History(HOSTILE, "v", Runs.span(3), (passage,)),
        "history without writes": History("file:///x", "v", Runs.span(1), ()),
        "why_not": WhyNot(HOSTILE, (), Runs.span(0), (missed,), ()),
        "lines": SharedRows(HOSTILE, stage, stage, None, HOSTILE),
        "profiles": OperationProfiles(
            HOSTILE, 0, HOSTILE, (operation,), (OperationProfile(operation, None, HOSTILE),), (0,), None, HOSTILE
        ),
    }


def answer_classes() -> dict[str, type]:
    """What questions say that they return."""
    classes = {}
    for name, question in QUESTIONS.items():
        kind = eval(question.function.__annotations__["return"], question.function.__globals__)
        if get_origin(kind) is collections.abc.Iterator:
            (kind,) = get_args(kind)
        classes[name] = kind
    return classes
