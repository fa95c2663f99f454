from provspark.hooks.prov import ProvHook

ProvHook().forward("/data/people.csv", rows=[224])
