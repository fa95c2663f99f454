"""What a back end, or another engine, can be tested with: needs pytest and hypothesis (``provspark[testing]``).

`contract` holds the tests that every back end passes, `machine` their stateful part, `strategies` the data, `oracle`
the brute-force answers, `worlds` random pipelines, `faults` a folder that fails where it is told to.
"""
