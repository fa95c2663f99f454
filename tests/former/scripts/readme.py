import provspark

prov = provspark.open("file:///data/prov")
prov.backward("/data/report", rows=[17])  # pyarrow.Table: row, dataset, version, occurrence, source_row, kind
prov.values("/data/report", rows=[17])
