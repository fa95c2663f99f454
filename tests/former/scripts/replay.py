import provspark

prov = provspark.open("file:///data/prov")
told = prov.before_after("/data/report", [17])  # the step that made the row; step="…" for one that read it
for stage in told.stages:
    print(stage.operation.text, stage.columns)
    for line in stage.lines:
        print(line.values, line.changed, line.added, [s.row for s in line.sources])
told.verified
told.why
told.endings
told.scanned
told.stopped
told.doubts
told.results
last = told.stages[-1].operation.index
len(told.ancestors(last, [0]))
len(told.descendants(told.stages[0].operation.index, [0]))
prov.before_after("/data/people", [4], step="shop-clean-93eaa204cfabe4d0").verified
history = prov.history("/data/people", [10], direction="forward")
[cause.cause for _, cause in history.endings]
[(passage.dataset, len(passage.replayed.stages)) for passage in history.passages if passage.replayed]
history.ended()
cells = prov.history("/data/people", [4], "sex")
cells.cells()
len(cells.drops)
prov.history("/data/people.csv", columns="fnlwgt").drops
why = prov.why_not("/data/report", [("age", "=", "10s")])
[ended.ended() for ended in prov.why_not_pages("/data/report", [("age", "=", "10s")])]
[page.ended() for page in prov.history_pages("/data/people", [10, 21])]
prov.cells("/data/clean", [4], "hours", replay=True)
prov.counts("shop-clean-93eaa204cfabe4d0")
prov.replayer.most
beside = prov.co_contributory_lines("/data/joined", [3], 2, 1)
beside.table()
shared = prov.co_dependency_lines("/data/report", [3], 3, 3, via=0)
shared.table()
told = prov.operation_profiles("/data/imputed", columns=["capital_gain"])
told.table()  # operation, node, text, site, child, column, measure, before, after, change, why
told.impact(3).shares()
told.after(1).column("capital_gain").histogram
told.verified  # whether the profile after the last operation is that of what the step wrote
prov.ask.backward("/data/report", [17], to="/data/people.csv").table()
