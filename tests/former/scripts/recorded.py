import provspark

provspark.record(
    "file:///data/prov",
    task="export",
    output=provspark.Data("/data/out.csv", options={"header": "true"}, columns=[("name", "string")]),
    relations=[
        provspark.Relation("/data/people", pairs=([0, 1, 2], [4, 1, 2])),
        provspark.Relation("/data/rates", boxes=[(0, 3, 0, 1, False)], kind="context"),
        provspark.Relation("/data/copy", rows=lambda out: (out, out)),
    ],
)
prov = provspark.open("file:///data/prov")
prov.backward("/data/out.csv", kinds=("data", "context"))
prov.steps()["outputs"].to_pylist()[-1]
