# Everything happens in a virtual environment of its own, made on first use; only python3 (3.11 or later) is needed.

PYTHON ?= python3
BIN := .venv/bin

# Compiled Python is kept between processes, also where the environment says otherwise: tests start thousands of them.
export PYTHONDONTWRITEBYTECODE :=

# What is compiled, and how: a change installs anew, because an editable install takes Python's changes only.
KERNELS := setup.py $(wildcard tools/*.py src/billboards/metrics/kernels/*.[ch])

# A test that hangs is ended after a quarter of an hour, says where it was, and fails.
NO_HANGING := -o faulthandler_timeout=900 -o faulthandler_exit_on_timeout=true --max-worker-restart=1

# Packages at the locks' versions and by their hashes; what is installed after it finds them there. Which build of torch
# fits is the machine's to say, so it is in no lock.
LOCKED := install --quiet --disable-pip-version-check --no-deps --require-hashes -r

.PHONY: demo test test-all check approve docs kernels redteam studies benchmarks release clean

demo: .venv/installed  ## build, score and rank the demo board, and open the site on it (Ctrl-C ends it)
	$(BIN)/billboards demo

test: .venv/test  ## run the tests, but for the long ones
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not long" $(NO_HANGING)

test-all: .venv/test  ## run all tests, the long ones too
	$(BIN)/python -m pytest -n auto --dist loadfile $(NO_HANGING)

approve: .venv/test  ## keep what is said now as right, to be read in `git diff` before it is committed
	BILLBOARDS_APPROVE=1 $(BIN)/python -m pytest -n auto --dist loadfile tests/approved tests/stats/test_stats_approved.py

check: .venv/check  ## style, types, import directions, licences and known weaknesses of what is installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/licences.py
	$(BIN)/python tools/locks.py --check
	$(BIN)/python tools/dependency_audit.py

release: .venv/check  ## the wheel, built twice and equal, with its SBOM and checksums; audited, whatever the environment allows
	env -u BILLBOARDS_AUDIT $(BIN)/python tools/dependency_audit.py
	$(BIN)/python tools/locks.py --check
	$(BIN)/python tools/build_wheel.py --out dist

docs: .venv/test  ## build the documentation as a site, in build/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

kernels:  ## compile what is out of date, in place: quicker than installing anew
	$(PYTHON) tools/build_kernels.py

redteam: .venv/test  ## play every attack, the longest ones too, and print what became of each
	$(BIN)/python tools/redteam.py

benchmarks: .venv/test  ## print our figures beside the peers'
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/board.py
	$(BIN)/python benchmarks/lexical.py
	$(BIN)/python benchmarks/texts.py
	$(BIN)/python benchmarks/library.py
	$(BIN)/python benchmarks/stats.py
	$(BIN)/python benchmarks/stats_mixed.py
	$(BIN)/python benchmarks/stats_wmt23.py
	$(BIN)/python benchmarks/web.py
	$(BIN)/python benchmarks/transport.py
	$(BIN)/python benchmarks/bertscore.py --device cpu --instances 20 --peer-rows 2 --runs 1

studies: benchmarks  ## everything that takes long
	$(BIN)/python benchmarks/stats_coverage.py
	$(BIN)/python benchmarks/people_coverage.py
	$(BIN)/python benchmarks/agreement_parts.py
	$(BIN)/python benchmarks/ensembles.py
	$(BIN)/python benchmarks/ensembles.py --peer
	$(BIN)/python benchmarks/ensembles.py --simulate 200
	$(BIN)/python benchmarks/annotators.py
	$(BIN)/python benchmarks/annotators_study.py
	$(BIN)/python benchmarks/annotator_signs.py
	$(BIN)/python benchmarks/human_ratings.py
	$(BIN)/python benchmarks/selection.py
	$(BIN)/python benchmarks/peeking.py
	$(BIN)/python benchmarks/beametrics.py
	$(BIN)/python benchmarks/advice.py
	$(BIN)/python tools/sanitize_kernels.py
	BILLBOARDS_STUDIES=1 $(BIN)/python -m pytest -n 0 -m study
	BILLBOARDS_FUZZ=2000 $(BIN)/python -m pytest -n 0 tests/fuzz tests/site/test_openapi.py
	BILLBOARDS_KILLS=200 $(BIN)/python -m pytest -n 0 tests/site/test_kill.py tests/site/test_kill_server.py
	BILLBOARDS_STUDIES=1 BILLBOARDS_CHAOS=1000 $(BIN)/python -m pytest -n 0 tests/chaos
	BILLBOARDS_LOOKS=all $(BIN)/python -m pytest -n 0 tests/browser/test_every_page.py
	$(BIN)/python benchmarks/load.py
	$(BIN)/python benchmarks/scale.py --simulate
	$(BIN)/python benchmarks/lexical_sacrebleu.py
	$(BIN)/python benchmarks/lexical_equality.py
	$(BIN)/python benchmarks/audit.py
	$(BIN)/python benchmarks/audit_study.py
	$(BIN)/python benchmarks/bertscore_study.py
	$(BIN)/python benchmarks/learned_study.py
	$(BIN)/python benchmarks/bertscore_memory.py
	$(BIN)/python benchmarks/parity_comet.py
	$(BIN)/python benchmarks/parity_classic.py
	$(BIN)/python benchmarks/bounds.py --interrupt
	$(BIN)/python tools/mutants.py --count 120 --seed 1 --first 40
	$(BIN)/python tools/mutants.py --within stats --count 60

clean:
	rm -rf .venv .coverage-contexts* demo-board demo-site build src/billboards/metrics/kernels/*.so

.venv/pip:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "billboards needs Python 3.11 or later; set PYTHON=")'
	$(PYTHON) -m venv .venv
	touch $@

.venv/installed: .venv/pip pyproject.toml requirements/site.txt $(KERNELS)
	$(BIN)/python -m pip $(LOCKED) requirements/site.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[site]'
	touch $@

.venv/test: .venv/pip pyproject.toml requirements/check.txt $(KERNELS)
	$(BIN)/python -m pip $(LOCKED) requirements/check.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@ .venv/installed

.venv/check: .venv/pip pyproject.toml requirements/check.txt $(KERNELS)
	$(BIN)/python -m pip $(LOCKED) requirements/check.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[check]'
	touch $@ .venv/test .venv/installed
