import re
from typing import Any

import provspark

prov = provspark.open("file:///data/prov")
TEXTS = "/data/texts"
TEXTS_STEP = "census-texts-50cd9cc115d5f6ec"
JOINED = "/data/joined"
JOINED_STEP = "census-joined-5bc09e68e339140d"
ENCODED = "/data/census"
ENCODED_STEP = "census-census-50dc3d8bfaf5508e"
IMPUTED = "/data/imputed"
IMPUTED_STEP = "census-imputed-d7c063a5e5c67ebb"
SOURCE = "/data/census.csv"
REGIONS = "/data/regions.csv"


def after(replayed: Any, operation: int) -> dict[str, Any]:
    """What becomes of the rows that stand after an operation: the operations ahead, and the output's rows."""
    ahead = [s.operation.text for s in replayed.stages if s.operation.index > operation]
    return {
        "rows": len(replayed.stage(operation).lines),
        "operations ahead": len(ahead),
        "output rows": replayed.results,
    }


def before(replayed: Any, operation: int) -> dict[str, Any]:
    """Where the rows that stand after an operation come from: the operations behind, and rows of inputs."""
    behind = [s.operation.text for s in replayed.stages if s.operation.index <= operation]
    sources = {f"{name(s.dataset)} {s.row}" for line in replayed.stage(operation).lines for s in line.sources}
    return {"operations behind": len(behind), "from": ", ".join(sorted(sources))}


def changes(replayed: Any, column: str) -> list[str]:
    """The operations that made or changed a column of the first row, with its value after each."""
    found = []
    for stage in replayed.stages:
        line = stage.lines[0]
        if column in (*line.changed, *line.added):
            value = line.values[stage.columns.index(column)]
            found.append(f"{short(stage.operation.text)} → {value!r}")
    return found


def joined(replayed: Any) -> dict[str, Any]:
    """The rows that stand together after the join, by the data sets that they come from."""
    (stage,) = (s for s in replayed.stages if s.operation.node == "Join")
    found = [sorted({f"{name(s.dataset)} {s.row}" for s in line.sources}) for line in stage.lines]
    return {"rows after the join": len(found), "the first": " with ".join(found[0])}


def short(text: str, width: int = 60) -> str:
    """The beginning of a text, without paths of this machine."""
    text = re.sub(r"file://\S*/", "", text).replace("`", "'")
    return text if len(text) <= width else text[: width - 1] + "…"


def name(dataset: str) -> str:
    """The last part of a data set's name."""
    return dataset.rstrip("/").rsplit("/", 1)[-1]


prov.forward(SOURCE, [4])  # Q1 why, forward
prov.backward(IMPUTED, [4])  # Q2 why, backward
prov.cells(SOURCE, [4], "sex", direction="forward")  # Q3 why of a value, forward
prov.cells(ENCODED, [4], "income")  # Q4 why of a value, backward
prov.how(SOURCE, [4], direction="forward").operations()  # Q5 how, forward
prov.how(IMPUTED, [4]).operations()  # Q6 how, backward
prov.operations(SOURCE, [4], "sex", direction="forward")  # Q7 how of a value, forward
prov.operations(ENCODED, [4], "income")  # Q8 how of a value, backward
prov.operations(IMPUTED)  # Q9 all transformations
prov.co_contributory(TEXTS, [4], to=REGIONS, via=JOINED)  # Q10 co-contributory
prov.co_dependency(JOINED, [3], to=JOINED, via=REGIONS)  # Q11 co-dependency
prov.operations(IMPUTED)  # PQ1 all transformations
prov.backward(IMPUTED, [4], kinds=("data", "context"))  # PQ2 why
prov.how(ENCODED, [4]).operations()  # PQ3 how
prov.operations(IMPUTED, column="capital_gain")  # PQ4 feature operations
prov.operations(IMPUTED, [4])  # PQ5 record operations
prov.operations(IMPUTED, [4], "capital_gain")  # PQ6 item operations
prov.dropped(SOURCE, "fnlwgt")  # PQ7 feature invalidation
prov.history(TEXTS, [14]).endings  # PQ8 record invalidation
(prov.dropped(TEXTS, "native_country"), prov.history(TEXTS, [14]).endings)  # PQ9 item invalidation
changes(prov.before_after(ENCODED, [4]), "sex")  # PQ10 item history
[
    (name(p.dataset), len(p.replayed.stages)) for p in prov.history(ENCODED, [4]).passages if p.replayed
]  # PQ11 record history
prov.impact(IMPUTED, "capital_gain").table()  # PQ12 impact on feature spread
prov.impact(ENCODED).table()  # PQ13 impact on data set spread
after(prov.before_after(TEXTS, [4], step=ENCODED_STEP), 3)  # Q1, Q5 forward
before(prov.before_after(ENCODED, [4]), 3)  # Q2, Q6 backward
changes(prov.before_after(TEXTS, [4], step=ENCODED_STEP), "sex")  # Q3, Q7 a value forward
changes(prov.before_after(TEXTS, [4]), "workclass")  # Q4, Q8 a value backward
prov.counts(JOINED_STEP)  # Q9 all transformations
joined(prov.before_after(JOINED, [3]))  # Q10 co-contributory
joined(prov.before_after(REGIONS, [6], step=JOINED_STEP, all_sources=True))  # Q11 co-dependency
prov.operation_profiles(IMPUTED, [1], columns=["capital_gain"]).impact(1).table()  # PQ12 impact on feature spread
prov.operation_profiles(ENCODED, [1]).impact(1).table()  # PQ13 impact on data set spread
