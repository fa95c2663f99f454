import provspark

provspark.record(
    "file:///data/prov",
    task="export",
    output=provspark.Data("/data/out.csv", options={"header": "true"}, columns=[("who", "string")]),
    relations=[
        provspark.Relation("/data/people", pairs=([0, 1], [4, 1]), columns={"who": ["name"]}),
        provspark.Relation("/data/people", cells=lambda out: (out, ["who"] * len(out), out, ["name"] * len(out))),
    ],
)
prov = provspark.open("file:///data/prov")
prov.columns("/data/out.csv", "who", to="/data/people")
prov.cells("/data/out.csv", [0], "who", to="/data/people")
