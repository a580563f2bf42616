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
# rustup from Debian where Debian has it, else as its makers publish it.
install_rustup() {
  if [ -n "$(apt-cache search --names-only '^rustup$' 2> /dev/null)" ]; then install rustup; return; fi
  command -v curl > /dev/null || install curl ca-certificates
  echo "setup: installing rustup for $(id -un)" >&2
  local from folder
  from=https://static.rust-lang.org/rustup/dist/$(uname -m)-unknown-linux-gnu folder=$(mktemp -d)
  curl --proto '=https' --tlsv1.2 -sSf -o "$folder/rustup-init" "$from/rustup-init"
  echo "$(curl --proto '=https' --tlsv1.2 -sSf "$from/rustup-init.sha256" | cut -c1-64) $folder/rustup-init" | sha256sum --check --quiet >&2
  chmod +x "$folder/rustup-init"
  "$folder/rustup-init" -y --quiet --no-modify-path --profile minimal --default-toolchain none >&2
  rm -r "$folder"
}

# A cargo that is no rustup's will do if it is new enough.
new_enough() {
  local least have
  least=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml) have=$(cargo --version 2> /dev/null | cut -d' ' -f2)
  [ -n "$have" ] && [ "$(printf '%s\n' "$least" "$have" | sort -V | head -n 1)" = "$least" ]
}

if ! command -v rustup > /dev/null && ! new_enough; then install_rustup; fi
pinned=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
if command -v rustup > /dev/null && [[ $(rustup toolchain list) != *"$pinned"* ]]; then
  echo "setup: installing Rust $pinned" >&2
  rustup toolchain install "$pinned" --profile minimal --component clippy --component rustfmt >&2
fi
if ! command -v javac > /dev/null; then
  # Debian 12 has 17, its successor 21; HBase's client runs on both.
  if apt-cache show openjdk-17-jdk-headless > /dev/null 2>&1; then install openjdk-17-jdk-headless; else install default-jdk-headless; fi
fi
if ! command -v mvn > /dev/null; then install maven; fi
