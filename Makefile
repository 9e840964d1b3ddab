# The only list of commands. On a fresh machine `make crawl SEED=...` and `make test` need nothing before them.
PYTHON ?= python3
BIN := .venv/bin
MODE ?= local
ARGS ?=

.PHONY: install dev crawl test lint types bench soak fuzz deploy clean

install: .venv/runtime

dev: .venv/dev

.venv/runtime: requirements.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

.venv/dev: requirements-dev.txt .venv/runtime
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

crawl: .venv/runtime
	@test -n "$(SEED)" || { echo 'usage: make crawl SEED=URL [MODE=local] [ARGS="-a name=value ..."]'; exit 2; }
	$(BIN)/scrapy crawl site -a "seed=$(SEED)" -a "mode=$(MODE)" $(ARGS)

test: .venv/dev lint types
	$(BIN)/pytest

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: .venv/dev
	$(BIN)/mypy

bench: .venv/dev
	$(BIN)/python -m bench.site5k

deploy: .venv/dev
	$(BIN)/scrapyd-deploy

clean:
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
