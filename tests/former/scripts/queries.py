import provspark
from provspark.api import stops_of
from provspark.index_store.export.tables import write_table

prov = provspark.open("file:///data/prov")  # a store, or a catalogue's URL

# Which rows, which steps
prov.backward("/data/report", where=[("total", ">=", 10), ("age", "in", ["30s", "40s"]), ("product", "like", "p%")])
prov.backward("/data/report", [3], version=prov.select("/data/report").at.version.id, semantics="set")
prov.forward("/data/people", [0, 4], run="shop/r1", kinds=("data", "context"))
prov.forward("/data/people", where=[("age", "is null", None)], as_of="2030-05-31")

# Backward and forward
prov.backward("/data/report", rows=[17])  # row, dataset, version, occurrence, source_row, kind
prov.backward("/data/report", where=[("age", "=", "30s")], to="/data/people.csv", via="/data/clean")
prov.forward("/data/people.csv", rows=[224], run="latest")
table = prov.backward("/data/report", rows=[17], to="/data/people.csv")
stops_of(table)
table.num_rows
table.column_names
table["source_row"].to_pylist()
table.column("source_row")[0].as_py()
[line["source_row"] for line in table.to_pylist()]
table.to_pandas()["source_row"].tolist()
sorted(table.to_pydict())
table.schema.names
write_table(table, "/data/why.csv")
write_table(table, "/data/why.parquet")

# Used together: `co_contributory(dataset, rows, to=…, via=None)`
prov.co_contributory("/data/orders", rows=[7], to="/data/lines", via="/data/report")

# Sharing a witness: `co_dependency(dataset, rows, to=…, via=…)`
prov.co_dependency("/data/report", rows=[3], to="/data/report", via="/data/people.csv")

# What stands behind: `composition(dataset, rows, source=…, column=…, each=True)`
prov.composition("/data/report", source="/data/people.csv", column="sex")
prov.composition("/data/report", source="/data/people.csv", column="sex", each=False)

# Whole data sets: `correspondence(dataset, to=…, via=())`
no = prov.select("/data/people.csv", where=[("consent", "=", "no")])
len(prov.correspondence("/data/report", to="/data/people.csv").using(no))  # report rows that use one without consent
whole = prov.correspondence("/data/report", to="/data/people.csv")
whole.edges
whole.counts()
whole.rows
whole.sources()
whole.table()
whole.matrix().shape

# Ways in which a row came about: `derivations(dataset, rows)`
found = prov.derivations("/data/joined", rows=[17])
found.slice(prov.select("/data/orders", rows=[7])).project([found.occurrences[1]]).table(limit=100)
found.table(10)
list(found.batches(2))

# What was done: `operations(what, rows=None, column=None, direction="backward", parts=False)`
prov.operations("/data/report")
prov.operations("shop-clean-93", parts=True)  # a step's id, or the beginning of one
prov.operations("/data/report", rows=[17], column="total")
prov.operations("/data/people", direction="forward")

# How rows came about: `how(dataset, rows, direction="backward", to=None)`
how = prov.how("/data/report", rows=[17])
how.why(), how.operations()

# Columns: `columns(dataset, column=None, direction="backward", to=None, existence=True)`
prov.columns("/data/report", "total")
prov.columns("/data/people.csv", "age", direction="forward")
prov.columns("/data/report", "total", existence=False)["source_column"].to_pylist()

# Cells: `cells(dataset, rows, columns=None, direction="backward", to=None, existence=False)`
prov.cells("/data/report", rows=[17], columns="total")
prov.cells("/data/people.csv", where=[("name", "=", "Ada")], columns=["age"], direction="forward")

# Where columns end: `dropped(dataset, column=None)`
prov.dropped("/data/people.csv", "fnlwgt")

# How values are distributed: `profile(dataset, rows, columns=None)`
prov.profile("/data/people", columns=["age", "sex"]).column("age").mean
prov.profile("/data/people", where=[("sex", "=", "Female")]).table()  # a line for each column
prov.impact("/data/imputed", "capital_gain").table()  # column, measure, before, after, change
prov.impact("/data/clean", "sex").shares()  # column, value, before, after, change

# Answers of millions of lines
list(prov.ask.backward("/data/report").pages(10_000))
list(prov.ask.forward("/data/people.csv").pages(100))
list(prov.ask.co_contributory("/data/orders", [7], to="/data/lines").pages(100))
list(prov.ask.co_dependency("/data/report", [3], to="/data/report", via="/data/people.csv").pages(100))
list(prov.ask.cells("/data/report", [17], "total").pages(100))
list(prov.ask.correspondence("/data/report", to="/data/people.csv").pages(100))

# Sets of rows, and answers
old = prov.select("/data/people.csv", where=[("age", ">", 60)])
both = prov.ask.backward("/data/report", to="/data/people.csv", via="/data/left") & prov.ask.backward(
    "/data/report", to="/data/people.csv", via="/data/right"
)
both.found()[0] - old
both.table()
left = prov.ask.backward("/data/report", to="/data/people.csv", via="/data/left")
(left | both).table()
(left - both).table()
prov.backward(prov.select("/data/report", [17]) | prov.select("/data/report", [3]))

# The rest of `prov.ask`
prov.ask.select("/data/report", [17])
prov.ask.composition("/data/report", [17], source="/data/people.csv", column="sex")
prov.ask.derivations("/data/joined", [17]).table(10)
prov.ask.columns("/data/report", "total").table()
prov.ask.how("/data/report", [17]).why()
[line.text for line in prov.ask.operations("/data/report")]
prov.ask.dropped("/data/people.csv", "fnlwgt").table()
len(prov.ask.trace("/data/report", [17]).nodes)
prov.ask.neighbourhood("/data/report", [17]).node_link()["directed"]
prov.ask.cell_neighbourhood("/data/report", [17], "total").prov_json()["prefix"]

# Data sets and steps
prov.datasets()
prov.steps()
prov.datasets().num_rows
prov.steps()["step"].to_pylist()
prov.refresh()
[str(node.at.version.dataset) for node in prov.trace("/data/report", [17]).nodes]
