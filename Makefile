# What one can do here; `make help` lists it.
VENV ?= .venv
AIRFLOW ?= 3.3.2
SPARK ?= 4.1.3
OTHER_SPARKS ?= 4.0.4 4.2.0
ARGS ?=
BIN := $(VENV)/bin
export AIRFLOW SPARK PYTHON

.DEFAULT_GOAL := help
.PHONY: help demo demo-ui env test slice slices matrix product witnesses lint format hooks changelog screens openapi operators docs ui bench bench-quick page-speed dist clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: ## run the Census DAG in real Airflow and trace a report row to its source lines
	@tools/env.sh $(VENV) airflow,spark
	@$(BIN)/python tools/demo.py

demo-ui: ## open the demo's lineage on the page in Airflow's own server, logged in (after make demo)
	@$(BIN)/python tools/demo_ui.py

env: ## make or refresh the environment in VENV (.venv) with AIRFLOW and SPARK at the versions given
	@tools/env.sh $(VENV) airflow,spark,postgres,dev

test: env ## run the tests; ARGS="-k store" passes options to pytest
	@VENV=$(VENV) tools/test.sh $(ARGS)

slice: env ## run slices of the tests by name: make slice tpc
	@$(BIN)/python tools/slices.py --venv $(VENV) run $(NAMES) $(if $(ARGS),--pytest="$(ARGS)")

slices: env ## list the slices: what they test and need, and when they passed
	@$(BIN)/python tools/slices.py list

matrix: env ## run all slices; ARGS=--changed only those that a change touches since they last passed
	@$(BIN)/python tools/slices.py --venv $(VENV) matrix $(ARGS)

product: env ## random plans under the full product of settings, masters and versions of Spark; PLANS=24 for fewer
	@VENV=$(VENV) OTHER_SPARKS="$(OTHER_SPARKS)" PLANS="$(PLANS)" tools/test_product.sh

witnesses: env ## prove the witnesses of more rows of TPC-H and TPC-DS, by taking away those of each occurrence
	PROVSPARK_WITNESSES="3 99" $(BIN)/python -m pytest tests/tracker/test_capture_tpch.py tests/tracker/test_tpcds.py -m long -n 2

lint: env ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: env ## let ruff sort imports and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

hooks: env ## install the checks that run before each commit (pre-commit)
	$(BIN)/pre-commit install

changelog: env ## move the fragments of changes/ into CHANGELOG.md: make changelog VERSION=0.2.0
	$(BIN)/towncrier build --version $(VERSION)

docs: env ## build the documentation into build/docs, without network
	$(BIN)/python -m sphinx -W --keep-going -n -q -d build/doctrees docs build/docs

ui: ## check, test and build the page into provider/web/static (needs Node 20)
	cd ui && npm install --no-save --no-fund --no-audit && npm run types && npm run check && npm test && npm run build

screens: env ## take the pictures of docs/screens anew (after make demo; needs Chromium)
	$(BIN)/python tools/screens.py

operators: env ## write the tables of docs/operators.md from the families
	$(BIN)/python tools/operators.py

openapi: env ## write docs/openapi.json from the code
	$(BIN)/python tools/openapi.py

bench: env ## measure cost, speed and growth (hours, 40 GB of disk) and rewrite docs/performance.md and docs/comparison.md
	$(BIN)/python -m benchmarks

bench-quick: env ## measure a part of it in some ten minutes
	$(BIN)/python -m benchmarks --quick

page-speed: env ## measure the page in Chromium and rewrite its section of docs/performance.md (after make demo)
	PYTHONPATH=.:tools $(BIN)/python tools/page_speed.py

dist: env ## build the source distribution and the wheel into dist/
	$(BIN)/python -m build

# `make slice NAME` hands its further words to the target.
ifeq (slice,$(firstword $(MAKECMDGOALS)))
NAMES := $(wordlist 2,99,$(MAKECMDGOALS))
.PHONY: $(NAMES)
$(NAMES): slice ; @:
endif

clean: ## remove what the targets made
	rm -rf $(VENV) .demo .bench build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
