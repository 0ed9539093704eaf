# Two commands do everything on a fresh Linux machine with Python 3.11 and make: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test bench lint types clean

demo: $(READY)
	$(BIN)/python examples/first_mechanism.py out/demo
	$(BIN)/noisewright verify out/demo/visits.json
	$(BIN)/noisewright audit out/demo/visits.json

test: $(READY) lint types
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy --strict

bench: $(READY)
	$(BIN)/python -m bench

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev,plots]"
	touch $(READY)

clean:
	rm -rf $(VENV) .bench out build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
