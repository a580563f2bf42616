#!/bin/bash
# Installs what building and testing need and the machine lacks: a C compiler, the pinned Rust toolchain, a JDK, Maven.
# Says what it does; does nothing on a machine that has it all. Debian and its relatives.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH=$HOME/.cargo/bin:$PATH

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
updated=
install() {
  echo "setup: installing $*" >&2
  if [ -z "$updated" ]; then as_root apt-get update -q >&2; updated=1; fi
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q "$@" >&2
}

if ! command -v cc > /dev/null; then install build-essential; fi
if ! command -v cargo > /dev/null; then
  if ! command -v rustup > /dev/null && [ -n "$(apt-cache search --names-only '^rustup$' 2> /dev/null)" ]; then
    install rustup
  fi
  if ! command -v rustup > /dev/null; then
    command -v curl > /dev/null || install curl ca-certificates
    echo "setup: installing rustup for $(id -un)" >&2
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal --default-toolchain none >&2
  fi
fi
pinned=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
if command -v rustup > /dev/null && ! rustup toolchain list | grep -q "^$pinned"; then
  echo "setup: installing Rust $pinned" >&2
  rustup toolchain install "$pinned" --profile minimal --component clippy --component rustfmt >&2
fi
if ! command -v javac > /dev/null; then
  # Debian 12 has 17, its successor 21; HBase's client runs on both.
  if apt-cache show openjdk-17-jdk-headless > /dev/null 2>&1; then install openjdk-17-jdk-headless; else install default-jdk-headless; fi
fi
if ! command -v mvn > /dev/null; then install maven; fi
