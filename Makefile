# The only list of commands. On a fresh machine `make crawl SEED=...` and `make test` need nothing before them.
PYTHON ?= python3
BIN := .venv/bin
MODE ?= local
ARGS ?=
SCRAPYD ?= .scrapyd
PORT ?= 6800

.PHONY: install render-deps metrics-deps dev crawl test nightly lint types bench soak fuzz scrapyd deploy clean

install: .venv/runtime

dev: .venv/dev

.venv/runtime: requirements.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

.venv/dev: requirements-dev.txt requirements-render.txt requirements-metrics.txt .venv/runtime
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

render-deps: .venv/render
	@test -x /usr/bin/chromium || { apt-get update -qq && apt-get install -y -qq chromium; } || \
		{ echo "pages are drawn in Debian's Chromium: apt-get install chromium, as root"; exit 2; }

.venv/render: requirements-render.txt .venv/runtime
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-render.txt
	touch $@

metrics-deps: .venv/metrics

.venv/metrics: requirements-metrics.txt .venv/runtime
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-metrics.txt
	touch $@

crawl: .venv/runtime
	@test -n "$(SEED)" || { echo 'usage: make crawl SEED=URL [MODE=local] [ARGS="-a name=value ..."]'; exit 2; }
	$(BIN)/scrapy crawl site -a "seed=$(SEED)" -a "mode=$(MODE)" $(ARGS)

test: .venv/dev lint types
	$(BIN)/pytest -n auto --dist loadfile

nightly: .venv/dev
	$(BIN)/pytest -m nightly

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: .venv/dev
	$(BIN)/mypy

bench: .venv/dev
	$(BIN)/python -m bench.site5k

soak: .venv/dev
	SPIDERPROJ_SOAK=1 $(BIN)/pytest tests/test_failpoints.py tests/test_damage.py tests/test_disk.py tests/test_signals.py
	$(BIN)/python -m tests.soak_kills --kills 1000
	$(BIN)/python -m bench.soak

fuzz: .venv/fuzz
	$(BIN)/python -m fuzz $(ARGS)

.venv/fuzz: requirements-fuzz.txt .venv/runtime
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-fuzz.txt
	touch $@

scrapyd: .venv/dev
	$(BIN)/python deploy/start.py --folder $(SCRAPYD) --port $(PORT)

deploy: .venv/dev
	@test -f $(SCRAPYD)/scrapy.cfg || { echo 'start Scrapyd first: make scrapyd'; exit 2; }
	XDG_CONFIG_HOME=$(abspath $(SCRAPYD)) no_proxy=127.0.0.1 $(BIN)/scrapyd-deploy local | \
		awk '{ print } /"status": "ok"/ { ok = 1 } END { exit !ok }'

clean:
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
