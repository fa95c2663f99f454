import provspark
from provspark.index_store.catalogue import Catalogue
from provspark.rebuild import rebuild_from_events, rebuild_from_stores

with Catalogue.open("sqlite:////data/catalogue.db") as catalogue:
    rebuild_from_stores(catalogue, ["file:///data/prov"])  # from manifests
    up = catalogue.upstream(catalogue.steps()[-1].ref.step)
len(up)
prov = provspark.open("sqlite:////data/catalogue.db")
prov.backward("/data/report", rows=[17])
