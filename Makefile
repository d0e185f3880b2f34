# Everything happens in a virtual environment of its own, made on first use; only python3 (3.11 or later) is needed.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check studies benchmarks clean

demo: .venv/installed  ## build, score and rank the demo board, and open its report
	$(BIN)/billboards demo

test: .venv/test  ## run the tests
	$(BIN)/python -m pytest -n auto --dist loadfile

check: .venv/check  ## style, types, import directions
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

benchmarks: .venv/test  ## print our figures beside the peers'
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/board.py
	$(BIN)/python benchmarks/stats.py
	$(BIN)/python benchmarks/stats_mixed.py
	$(BIN)/python benchmarks/stats_wmt23.py

studies: benchmarks  ## everything that takes long
	$(BIN)/python benchmarks/stats_coverage.py

clean:
	rm -rf .venv demo-board build

.venv/pip:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "billboards needs Python 3.11 or later; set PYTHON=")'
	$(PYTHON) -m venv .venv
	touch $@

.venv/installed: .venv/pip pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/test: .venv/pip pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@ .venv/installed

.venv/check: .venv/pip pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[check]'
	touch $@ .venv/test .venv/installed
