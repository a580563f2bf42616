# The two commands of the README: `make run` and `make test`. Each sets up what is missing first.
.PHONY: run test setup build check e2e bench-hbase bench-offheap bench-ycsb check-opentsdb

DATA ?= ./data
# Where rustup puts cargo; a shell that was there before does not know it.
export PATH := $(HOME)/.cargo/bin:$(PATH)

run: setup
	cargo build --release -p martite
	target/release/martite start --data $(DATA)

test: setup check e2e

setup:
	@scripts/setup.sh

build: setup
	cargo build --release -p martite

# Formatting, lints, unit and model tests, crash test, fuzzing for a moment, the house rules.
check:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	cargo test --workspace --quiet
	cargo xtask tidy

# The real binary with the stock clients.
e2e:
	cargo xtask e2e

# Server CPU per row against Apache HBase 2.6.4 on this machine; takes about half an hour.
bench-hbase: build
	bench/compare.sh

# Reads from memory by 1 to 75 threads, beside Apache HBase 2.6.4; the report goes to target/bench-offheap. About half an hour,
# 20 GB of memory.
bench-offheap: build
	target/release/martite bench offheap --servers martite,hbase --out target/bench-offheap

# YCSB's workloads A to F by 1 and 10 threads, beside Apache HBase 2.6.4; the report goes to target/bench-ycsb. About 15 minutes.
bench-ycsb: build
	target/release/martite bench ycsb --servers martite,hbase --out target/bench-ycsb

# OpenTSDB on a server of its own that is killed, restarted and split meanwhile; a minute and a half. Not part of `make test`.
check-opentsdb: build
	compat/opentsdb/check.py target/release/martite
