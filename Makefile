# Two commands do everything on a fresh Linux machine with Python 3.11 and make: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_TO_TEST := $(VENV)/.ready-to-test
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: docs demo test check bench lint types sbom lock clean

# A made-up clinic's table of 100,000 visits: planned, released, verified, remembered by a ledger; and its notes.
CLINIC := out/clinic
LEDGER := --ledger $(CLINIC)/ledger.sqlite

demo: $(READY)
	rm -rf $(CLINIC)
	$(BIN)/python examples/clinic/make_visits.py $(CLINIC)/visits.parquet
	$(BIN)/noisewright plan examples/clinic/policy.toml $(CLINIC)/visits.parquet $(LEDGER)
	$(BIN)/noisewright release examples/clinic/policy.toml $(CLINIC)/visits.parquet -o $(CLINIC)/released $(LEDGER)
	$(BIN)/noisewright verify $(CLINIC)/released $(LEDGER)
	$(BIN)/noisewright ledger show $(CLINIC)/ledger.sqlite
	$(BIN)/python examples/clinic/make_notes.py $(CLINIC)
	$(BIN)/noisewright text obfuscate $(CLINIC)/notes -o $(CLINIC)/notes-released --epsilon 2 --size 15 --preview $(CLINIC)/notes-preview.html
	$(BIN)/noisewright verify $(CLINIC)/notes-released/certificate.json
	@echo "The report is in $(CLINIC)/released/report.html, notes before and after in $(CLINIC)/notes-preview.html"

test: $(READY_TO_TEST) lint types
	$(BIN)/python -m pytest -n 2 --dist loadgroup --durations=40

# The quick tier, below two minutes: lint, types, and the tests nearest to what changed since BASE.
BASE ?= main

check: $(READY_TO_TEST) lint types
	$(BIN)/python -m tools.nearest --base $(BASE)

lint: $(READY_TO_TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY_TO_TEST)
	$(BIN)/mypy --strict

bench: $(READY_TO_TEST)
	$(BIN)/python -m bench

# The API reference, from the docstrings: out/reference/index.html.
docs: $(READY_TO_TEST)
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs/reference out/reference

# A bill of materials of what is installed, and the versions and hashes of what a release installs.
sbom: $(READY)
	$(BIN)/python -m tools.sbom out/sbom.json

lock: $(READY)
	$(BIN)/python -m tools.lock requirements.lock

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e ".[plots,images]"
	touch $(READY)

# Tests also need tools, other libraries to compare with, Spark with a Java runtime of its own, and a browser for the studio.
$(READY_TO_TEST): $(READY)
	$(PIP) -e ".[dev,all,networks,learned,java]"
	$(PIP) --no-deps -e examples/signbits
	$(BIN)/python -m tools.browser
	touch $(READY_TO_TEST)

clean:
	rm -rf $(VENV) .bench out build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
