import json

import provspark

prov = provspark.open("file:///data/prov")
around = prov.neighbourhood("/data/report", [17], direction="backward", hops=None, limit=10_000)
sorted(around.prov_json())
len(around.node_link()["nodes"])
around.graphml().count("<edge")
around.networkx().number_of_edges()
cells = prov.cell_neighbourhood("/data/report", [17], "total")
sorted(cells.prov_json())
len(prov.neighbourhood("/data/people.csv", [3], "forward", hops=2).node_link()["links"])
