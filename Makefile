# The two commands a newcomer needs are `make demo` and `make test`.

# Tests are always asked for with --workspace, one alone, too: without it cargo takes other features of shared libraries,
# and builds half of the crates for the second time.

# Outside the checkout, so that a fresh clone builds on what an older one has built. Tests and lints use the profile ci,
# which compiles faster; what is shipped and measured uses the profile release.
export CARGO_TARGET_DIR ?= $(HOME)/.cache/terrapin-target

# The crate that `make check` looks at; all of them where none is named.
CRATE ?=

.PHONY: compare help build check docs docs-test clients mcp openapi reference geojson osm-testdata jts geosparql wheel harnesses llguidance storage geoparquet osm2rdf tilemaker demo test lint doc audit bench pin features fuzz faults flood page page-test text2sparql papers release try-release

help:
	@echo 'make demo   load a real extract, ask it some questions, score some predictions'
	@echo 'make test   build and run all tests'
	@echo 'make check  types, lints and unit tests of CRATE=..., or of all crates, quickly'
	@echo 'make docs   the site of docs/ as HTML, with all links checked; builds mdBook once'
	@echo 'make docs-test  the command blocks of docs/ and README.md, and the notebook, against the snapshot of make demo'
	@echo 'make clients  the programs of docs/guides/clients.md and what else clients send, against one server; fetches the clients'
	@echo 'make geojson  answers in GeoJSON against osmtogeojson; fetches it'
	@echo 'make osm-testdata jts  the areas of osm-testdata and the geometries of JTS, of checkouts at CHECKOUT'
	@echo 'make geosparql  the GeoSPARQL Compliance Benchmark, of a checkout at CHECKOUT'
	@echo 'make mcp    agents'\'' tools through the client of the Model Context Protocol; fetches it'
	@echo 'make openapi  /openapi.json against the server, by schemathesis; fetches it'
	@echo 'make text2sparql  the client and the scores of the TEXT2SPARQL challenge beside ours; fetches the client'
	@echo 'make papers  OverpassNL'\''s tables 2 and 4 with any model: SNAPSHOT, QUESTIONS, EXAMPLES, OUT, ARGS=--scripted'
	@echo 'make storage  a snapshot to a server that speaks S3 and back; fetches the server'
	@echo 'make geoparquet  what DuckDB, GeoPandas and SedonaDB read of an export of EXTRACT, one of Malta; fetches these'
	@echo 'make osm2rdf  the triples that the osm2rdf at OSM2RDF writes of EXTRACT, against those of a snapshot'
	@echo 'make page   the page of web/ into crates/server/web, with Node; make page-test tries it in Chromium'
	@echo 'make wheel  the Python package as a wheel, with its tests; fetches what these need'
	@echo 'make harnesses  terrapin-tasks in the harnesses that it is for; fetches these, gigabytes for TRL'
	@echo 'make llguidance  the grammars of queries in llguidance, on gold queries; fetches it'
	@echo 'make release  all artifacts of a release in dist/: programs, wheels, image, crates, checksums'
	@echo 'make try-release  installs and tries the artifacts in dist/'
	@echo 'make build  the release binary, in $$CARGO_TARGET_DIR/release/terrapin'
	@echo 'make lint   formatting and clippy'
	@echo 'make doc    the documentation of the library'
	@echo 'make audit  licences, sources and known holes of all dependencies'
	@echo 'make bench  speed of loading, opening and querying'
	@echo 'make compare  docs/reference/compare.md: other programs on this machine; GROUPS=sparql,loading for some'
	@echo 'make features  docs/reference/features.md anew, after a change to tests/cases'
	@echo 'make reference  docs/reference/http-reference.md anew, after a change to a route'
	@echo 'make fuzz   a minute of random input for every parser; TERRAPIN_FUZZ_SECONDS=3600 for an hour each'
	@echo 'make faults  kills, full disks, short reads, damage: what the program does about them'
	@echo 'make flood  64 clients for ten minutes, restarts for ten, all attacks at once for five: latency, memory, descriptors'
	@echo "make pin    the demo's pin anew, after a change to the file format that was meant"

build:
	@scripts/setup
	cargo build --locked --release

# docs/guides/release.md. Each part is a script in scripts/release; the exit status is 77 if one cannot be done here.
release:
	@scripts/release/all

try-release:
	@scripts/release/try all

# The loop of a change: the development profile, a folder of its own.
check:
	@scripts/setup
	cargo fmt --all --check
	cargo clippy --locked --all-targets --target-dir $(CARGO_TARGET_DIR)/check \
	    $(if $(CRATE),-p $(CRATE),--workspace) -- -D warnings
	RUST_MIN_STACK=67108864 cargo test --locked --lib --target-dir $(CARGO_TARGET_DIR)/check $(if $(CRATE),-p $(CRATE),--workspace)

demo:
	@scripts/setup
	@demo/run

test:
	@scripts/setup
	cargo test --locked --profile ci --workspace

# Into the folder docs-site of the target folder; OUT is another one. mdBook comes from crates.io. 77: it cannot be had.
docs:
	@scripts/docs $(OUT)

# After `make build`, `make demo` and `make wheel`. PAGES names pages.
docs-test:
	@tests/docs/run.py $(PAGES)
	@tests/docs/notebook

# Python and Node packages from their registries, into ~/.cache/terrapin-clients. TERRAPIN is the program, if not the
# release build.
clients:
	@tests/clients/run.py

# Answers in GeoJSON against osmtogeojson's, which it fetches. EVERY=20 asks every twentieth recorded query.
geojson:
	@tests/geojson/run.py $(EVERY)

# The areas of osm-testdata's grid; CHECKOUT is a checkout of github.com/osmcode/osm-testdata.
osm-testdata:
	@tests/osm-testdata/run.py $(CHECKOUT)

# JTS's XML tests as calls of GeoSPARQL's functions; CHECKOUT is a checkout of github.com/locationtech/jts.
jts:
	@tests/jts/run.py $(CHECKOUT)

# The GeoSPARQL Compliance Benchmark; CHECKOUT is a checkout of github.com/OpenLinkSoftware/GeoSPARQLBenchmark.
geosparql:
	@tests/geosparql/run.py $(CHECKOUT)

# Of web/, with Node and npm's registry. What is built is committed: the program is built of that, without Node.
page:
	cd web && npm ci --no-audit --no-fund && npm run --silent build

# Needs Node, Chromium and a release build; exit status 77 where one of them is missing.
page-test:
	@tests/page/run

# The protocol's client from its registry, into the same folder.
mcp:
	@tests/mcp/run.py

# schemathesis from its registry, into the same folder.
openapi:
	@tests/openapi/run.py

# Python packages from PyPI, into ~/.cache/terrapin-wheel.
wheel:
	@scripts/wheel

# After `make wheel` and `make build`. HARNESS=inspect runs one; exit status 77 where something cannot be had.
harnesses:
	@tests/harnesses/run.py $(HARNESS)

# The challenge's client from PyPI, into ~/.cache/terrapin-clients; T2S_METRICS, CHALLENGE and CK25 are checkouts.
text2sparql:
	@tests/text2sparql/run.py

# The prompting experiments of OverpassNL's tables 2 and 4. Without a model, ARGS=--scripted.
papers:
	@scripts/papers $(SNAPSHOT) $(QUESTIONS) $(EXAMPLES) --out $(OUT) $(ARGS)

# After `make build`. LIMIT=100 takes some queries only; exit status 77 where something cannot be had.
llguidance:
	@tests/llguidance/run.py

# SNAPSHOT is the one to send.
storage:
	@tests/storage/run.py $(SNAPSHOT)

# EXTRACT is one of Malta.
geoparquet:
	@tests/geoparquet/run.py $(EXTRACT)

# OSM2RDF is the program to compare with; EXTRACT a small one.
osm2rdf:
	@tests/osm2rdf/run.py $(EXTRACT)

# Tiles beside tilemaker's (Debian has a package of it). EXTRACT is one of Malta.
tilemaker:
	@tests/tilemaker/run.py $(EXTRACT) 14.1,35.75,14.65,36.15

# Other programs beside ours, from PyPI, npm and Debian; benches/compare/run.py lists the variables for those that must be
# built. After `make build`; takes half an hour.
compare:
	@benches/compare/run.py $(GROUPS)

lint:
	@scripts/setup
	cargo fmt --all --check
	cargo clippy --locked --profile ci --workspace --all-targets -- -D warnings
	@# A build without any feature has its own code, which the line above does not compile.
	cargo clippy --locked --profile ci -p terrapin --no-default-features -- -D warnings
	@# Types, lints and unit tests of the page, if its packages are installed; make page-test installs them.
	@if [ -d web/node_modules/vitest ]; then cd web && npm run --silent check; else echo 'skipped: lints of the page: its packages are missing'; fi

doc:
	@scripts/setup
	RUSTDOCFLAGS='-D warnings' cargo doc --locked --profile ci --no-deps --workspace

audit:
	@scripts/audit

bench:
	@scripts/setup
	cargo bench --locked --workspace --bench '*'

pin:
	@scripts/pin

# docs/reference/http-reference.md, made of the table of routes.
reference:
	TERRAPIN_WRITE=1 cargo test --locked --profile ci --workspace --lib -- services::reference

features:
	TERRAPIN_WRITE=1 cargo test --locked --profile ci --workspace --test cases -- written::

# A minute for each target, or what TERRAPIN_FUZZ_SECONDS says; FUZZ=sparql for those whose names have that in them.
# Inputs that break something are in fuzz/artifacts.
fuzz:
	@scripts/setup
	TERRAPIN_FUZZ_SECONDS=$${TERRAPIN_FUZZ_SECONDS:-60} cargo test --locked --profile ci --workspace --test fuzz -- $(FUZZ)

# All faults; `make test` has the short ones only.
faults:
	@scripts/setup
	TERRAPIN_FAULTS=all cargo test --locked --profile ci --workspace --test faults -- --nocapture

# Ten minutes of a crowd and five of a siege, or what TERRAPIN_FLOOD_SECONDS says and half of it; `make test` has ten
# seconds of each.
flood:
	@scripts/setup
	TERRAPIN_FLOOD_SECONDS=$${TERRAPIN_FLOOD_SECONDS:-600} cargo test --locked --profile ci --workspace --test flood -- --nocapture
