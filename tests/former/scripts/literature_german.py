import re
from typing import Any

import provspark

prov = provspark.open("file:///data/prov")
TERMS = "/data/credit_terms"
TERMS_STEP = "credit-credit_terms-11551ba863922c6e"
ENCODED = "/data/credit"
ENCODED_STEP = "credit-credit-cc3f5e143c6697eb"
IMPUTED = "/data/credit_imputed"
IMPUTED_STEP = "credit-credit_imputed-6ea190c7b7a243c3"
SOURCE = "/data/german.csv"


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


prov.forward(SOURCE, [17])  # Q1 why, forward
prov.backward(IMPUTED, [17])  # Q2 why, backward
prov.cells(SOURCE, [17], "housing", direction="forward")  # Q3 why of a value, forward
prov.cells(ENCODED, [17], "gender")  # Q4 why of a value, backward
prov.how(SOURCE, [17], direction="forward").operations()  # Q5 how, forward
prov.how(IMPUTED, [17]).operations()  # Q6 how, backward
prov.operations(SOURCE, [17], "housing", direction="forward")  # Q7 how of a value, forward
prov.operations(ENCODED, [17], "gender")  # Q8 how of a value, backward
prov.operations(IMPUTED)  # Q9 all transformations
prov.operations(IMPUTED)  # PQ1 all transformations
prov.backward(IMPUTED, [17], kinds=("data", "context"))  # PQ2 why
prov.how(ENCODED, [17]).operations()  # PQ3 how
prov.operations(IMPUTED, column="credit_amount")  # PQ4 feature operations
prov.operations(IMPUTED, [17])  # PQ5 record operations
prov.operations(IMPUTED, [17], "credit_amount")  # PQ6 item operations
prov.dropped(SOURCE, "personal_status")  # PQ7 feature invalidation
prov.history(TERMS, [17]).endings  # PQ8 record invalidation
(prov.dropped(TERMS, "housing"), prov.history(TERMS, [17]).endings)  # PQ9 item invalidation
changes(prov.before_after(IMPUTED, [17]), "credit_amount")  # PQ10 item history
[
    (name(p.dataset), len(p.replayed.stages)) for p in prov.history(IMPUTED, [17]).passages if p.replayed
]  # PQ11 record history
prov.impact(IMPUTED, "credit_amount").table()  # PQ12 impact on feature spread
prov.impact(ENCODED).table()  # PQ13 impact on data set spread
after(prov.before_after(TERMS, [17], step=ENCODED_STEP), 3)  # Q1, Q5 forward
before(prov.before_after(ENCODED, [17]), 3)  # Q2, Q6 backward
changes(prov.before_after(TERMS, [17], step=ENCODED_STEP), "gender")  # Q3, Q7 a value forward
changes(prov.before_after(IMPUTED, [17]), "credit_amount")  # Q4, Q8 a value backward
prov.counts(IMPUTED_STEP)  # Q9 all transformations
prov.operation_profiles(IMPUTED, [7], columns=["credit_amount"]).impact(7).table()  # PQ12 impact on feature spread
prov.operation_profiles(ENCODED, [1]).impact(1).table()  # PQ13 impact on data set spread
