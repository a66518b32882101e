# Two commands on a fresh machine: `make demo` and `make test`. Needs Python >= 3.11, pip, make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MAUC_DATA ?= ../shared/data
PARALLEL := -n auto --dist worksteal
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.PHONY: demo test test-fast coverage test-slow test-data test-reproduction test-browser fuzz \
  screenshots lint format docs package test-sdist bench bench-scale \
  bench-runtime figures reproduction beyond beyond-rivals clean

demo: $(VENV)/.demo
	$(BIN)/mauc select
	$(BIN)/mauc compare --methods greedy,mdfs,maucd,chi --classifiers nb --sizes 5,10,20 --repeats 1

test: $(VENV)/.test
	$(BIN)/python -m pytest -q $(PARALLEL)

# For developers: one case of each test, no processes, no long tests.
test-fast: $(VENV)/.test
	$(BIN)/python -m pytest -q -n 2 --dist worksteal --fast tests

# The share of Python lines that the tests run, kernels apart.
coverage: $(VENV)/.test
	$(BIN)/python -m pytest -q $(PARALLEL) --cov --cov-report=term

test-slow: $(VENV)/.test
	$(BIN)/python -m pytest -q -m slow

test-data: $(VENV)/.test
	MAUC_DATA=$(abspath $(MAUC_DATA)) $(BIN)/python -m pytest -q -m data

# What `make test` runs of them, alone.
test-reproduction: $(VENV)/.test
	$(BIN)/python -m pytest -q reproduction/tests

# The HTML report and, where make docs built it, the site in chromium, driven by playwright.
test-browser: $(VENV)/.browser
	$(BIN)/python -m pytest -q -m "browser and not slow" $(PARALLEL) tests/browser

# 5,000 broken files and all hostile ones, five minutes; `make test` has a part of them.
fuzz: $(VENV)/.test
	$(BIN)/python -m tests.fuzz.run 5000

# Takes the pictures of the page for README.md again, into docs/images.
screenshots: $(VENV)/.browser
	MAUC_SCREENSHOTS=docs/images $(BIN)/python -m pytest -q -m browser tests/browser/test_screenshots.py

lint: $(VENV)/.lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/codespell src tests tools benchmarks docs reproduction *.md
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/zizmor --offline --no-progress --quiet .github

# The site, in docs/_build/html; warnings are errors, examples are run.
docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going -q docs docs/_build/html

# Wheel and sdist in dist/, and what checks of packages say of them.
package: $(VENV)/.package
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/validate-pyproject pyproject.toml
	$(BIN)/pyroma --min=10 .
	$(BIN)/sp-repo-review .

# The tests that the sdist carries, in an environment of their own.
test-sdist: package
	rm -rf build/sdist && mkdir -p build/sdist
	tar xzf dist/*.tar.gz -C build/sdist --strip-components=1
	$(MAKE) -C build/sdist test PYTHON=$(abspath $(BIN)/python)

format: $(VENV)/.lint
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.bench
	for script in benchmarks/bench_*.py; do \
	  MAUC_DATA=$(MAUC_DATA) $(BIN)/python $$script || exit 1; done

# Data larger than memory: makes 20 GB of files in SCALE_FOLDER and leaves them there.
SCALE_FOLDER ?= scale-data
bench-scale: $(VENV)/.bench
	mkdir -p $(SCALE_FOLDER)
	for name in columns rows csv workers; do \
	  $(BIN)/python benchmarks/scale/bench_$$name.py --folder $(SCALE_FOLDER) || exit 1; done
	MAUC_DATA=$(MAUC_DATA) $(BIN)/python benchmarks/scale/bench_sketch.py

# Writes reproduction/runtime.md, the seconds of all selectors beside the paper's Table 10.
bench-runtime: $(VENV)/.bench
	MAUC_DATA=$(MAUC_DATA) $(BIN)/python -m reproduction.runtime

figures: $(VENV)/.test
	$(BIN)/python docs/make_figures.py

# These run for long; what is done stays in runs/ and is not done again.
reproduction: $(VENV)/.test
	MAUC_DATA=$(abspath $(MAUC_DATA)) $(BIN)/python -m reproduction.paper.make

beyond: $(VENV)/.test
	MAUC_DATA=$(abspath $(MAUC_DATA)) $(BIN)/python -m reproduction.beyond.make

# Needs the data sets of MAUC_DATA and of its folders more and tables; an hour and a half on a core.
beyond-rivals: $(VENV)/.bench
	MAUC_DATA=$(abspath $(MAUC_DATA)) $(BIN)/python -m reproduction.beyond.make_rivals

clean:
	rm -rf $(VENV) .numba_cache .pytest_cache .ruff_cache .mypy_cache .import_linter_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# A stamp file for each set of packages: it is made again when pyproject.toml changes.
$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(PIP) --editable .
	touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	$(PIP) "pip>=25.1"
	$(PIP) --editable ".[all]" --group test
	touch $@

$(VENV)/.browser: pyproject.toml | $(BIN)/python
	$(PIP) "pip>=25.1"
	$(PIP) --editable ".[all]" --group test --group browser
	touch $@

$(VENV)/.bench: pyproject.toml | $(BIN)/python
	$(PIP) "pip>=25.1"
	$(PIP) --editable ".[all]" --group bench
	touch $@

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(PIP) "pip>=25.1"
	$(PIP) --editable ".[all]" --group docs
	touch $@

$(VENV)/.package: pyproject.toml | $(BIN)/python
	$(PIP) "pip>=25.1"
	$(PIP) --group package
	touch $@

$(VENV)/.lint: pyproject.toml | $(BIN)/python
	$(PIP) "pip>=25.1"
	$(PIP) --editable ".[all]" --group lint
	touch $@
