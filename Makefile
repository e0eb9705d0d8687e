# Everything a newcomer needs: make demo, make test. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help install demo test lint types unit bench validate fuzz mutate papers evidence paper plan images docs compile-times light walks clean release conda dependencies test-lowest test-recipes test-cluster

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Priori needs Python 3.11 or newer; try make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable '.[all]'
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed tools/system-packages
	$(BIN)/python -m pip install --quiet --group test
	tools/system-packages
	@touch $@

install: $(VENV)/.installed  ## Make the virtual environment and install Priori into it

demo: $(VENV)/.installed  ## Evaluate bundled real scores and write demo/report.html
	$(BIN)/priori demo --output demo --force

test: lint types unit  ## Lint, type-check and run every test

lint: $(VENV)/.installed-test
	$(BIN)/ruff check src tests papers paper examples benchmarks validation docs/conf.py docs/_ext docs/examples tools/*.py
	$(BIN)/ruff format --check src tests papers paper examples benchmarks validation docs/conf.py docs/_ext docs/examples tools/*.py
	$(BIN)/lint-imports

types: $(VENV)/.installed-test
	$(BIN)/mypy

unit: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n 2 --dist loadfile --doctest-modules src tests

test-cluster: $(VENV)/.installed-test  ## Run Spark as a master and two workers (one killed) and as a server (minutes)
	$(BIN)/python -m pip install --quiet --group cluster
	PRIORI_CLUSTER=1 $(BIN)/python -m pytest -q -s tests/engines/test_cluster.py

bench: $(VENV)/.installed-test  ## Measure speed against references and peers into benchmarks/RESULTS.md (SIZE=--full: to 10^8 trials)
	$(BIN)/python -m pip install --quiet --group bench
	tools/system-packages peers
	$(BIN)/python benchmarks/results.py $(SIZE)

papers: $(VENV)/.installed  ## Redo the five papers' figures and tables into docs/gallery (minutes)
	$(BIN)/python -m papers --output docs/gallery

evidence: $(VENV)/.installed  ## Judge published scores again into docs/evidence.md (minutes): make evidence DATA=FOLDER
	$(BIN)/python -m examples.evidence $(DATA)

paper: $(VENV)/.installed  ## Draw the figure of paper/paper.md from the bundled scores
	$(BIN)/python paper/figure.py

plan: $(VENV)/.installed-test  ## Draw docs/plan.svg, the floors of the package, from the imports as they are
	$(BIN)/python tools/plan.py

images: $(VENV)/.installed-test  ## Photograph the page and the app into docs/images
	$(BIN)/python tools/screenshots

validate: $(VENV)/.installed  ## Measure the coverage of every interval and the size of every test (minutes)
	$(BIN)/python validation/method/measure.py
	$(BIN)/python validation/leaderboards/measure.py
	$(BIN)/python validation/coverage/measure.py --jobs 2
	$(BIN)/python validation/coverage/unlike.py
	$(BIN)/python validation/ztests/measure.py
	$(BIN)/python validation/thresholds/measure.py
	$(BIN)/python validation/watching/measure.py 60

fuzz: $(VENV)/.installed-test  ## Answer a million fuzzed cases in two ways each (readers, engines, saved results) into validation/fuzz/tally.csv
	$(BIN)/python validation/fuzz/measure.py --jobs 2

mutate: $(VENV)/.installed-test  ## Change SAMPLE=300 places of the source, one at a time; list those that no test notices (an hour)
	$(BIN)/python tools/mutate.py --sample $(or $(SAMPLE),300)

compile-times: $(VENV)/.installed  ## Print how long each kernel takes to compile, for a first band and for the demo
	$(BIN)/python tools/compile_times.py

light: $(VENV)/.installed  ## Print what short commands cost: modules, and processor time beside numpy and click
	$(BIN)/python tools/light.py

walks: $(VENV)/.installed  ## Count the functions that five walks through the code touch, into CONTRIBUTING.md
	$(BIN)/python tools/walks.py

clean:  ## Remove what make made
	rm -rf $(VENV) demo docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis .mutate

docs: $(VENV)/.installed  ## Build the documentation into docs/_build/html; a warning is an error
	$(BIN)/python -m pip install --quiet --group docs
	$(BIN)/python -m sphinx -b html -W --keep-going docs docs/_build/html
	@echo "open docs/_build/html/index.html"

test-lowest: $(VENV)/.installed  ## Run the tests with the lowest versions that pyproject.toml allows
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(VENV)/lowest
	VIRTUAL_ENV=$(VENV)/lowest $(BIN)/uv pip install --quiet --resolution lowest-direct --group test --editable '.[all,sklearn]' 'httpx>=0.27'
	# Old versions warn about their newer companions; that is no error here.
	$(VENV)/lowest/bin/python -m pytest -n 2 --dist loadfile -o filterwarnings=default tests

test-recipes: $(VENV)/.installed  ## Run the recipes for MLflow, W&B, skore, fairlearn and evaluate with these packages
	$(PYTHON) -m venv --clear $(VENV)/recipes
	$(VENV)/recipes/bin/python -m pip install --quiet --editable '.[all,sklearn]' pytest hypothesis mlflow wandb skore fairlearn evaluate
	$(VENV)/recipes/bin/python -m pytest -q tests/recipes

release: $(VENV)/.installed  ## Build what is published into dist/, twice; try it with every Python here: make release REPOSITORY=https://github.com/OWNER/priori
	$(BIN)/python tools/release.py $(if $(REPOSITORY),--repository $(REPOSITORY))

conda: $(VENV)/.installed  ## Build packaging/conda into dist/ against a channel made of wheels, and run its tests (10 minutes)
	$(BIN)/python -m pip install --quiet py-rattler-build packaging
	$(BIN)/python tools/conda.py

dependencies: $(VENV)/.installed  ## Write sizes, versions and licences of what is installed into docs/reference/dependencies.md
	$(PYTHON) -m venv --clear --without-pip $(VENV)/dependencies
	$(BIN)/python -m pip --python $(VENV)/dependencies/bin/python install --quiet '.[all,sklearn,spark]'
	$(VENV)/dependencies/bin/python tools/dependencies.py
