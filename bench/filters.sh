#!/bin/bash
# Question: what does a row cost the server that a scan with one of HBase's filters looks at, and do both servers answer the same? HBase's own client
# (hbase-client 2.6.4, default settings) scans a table of one column of 1,000 bytes and one of ten columns of 100 bytes, all in the block cache, with
# each filter; this server and Apache HBase 2.6.4 run at once and are asked by turns, so that a machine whose speed changes tells their ratio all the same.
#   bench/filters.sh [--rows 200000] [--rounds 5] [--seconds 0.5] [--only REGEX] [--alone] [--martite FILE] [--out FILE]
# --seconds: of one scan after the other, on each server in each round, one at least. --alone: this server only.
# Columns: the case; cells of an answer; each server's CPU for a row of the table, in µs, the middle of all rounds; HBase's ÷ this server's, the middle,
# the least and the most of all rounds. A line that ends in DIFFERENT: the servers did not answer the same; the exit status is 1 then.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/martite.sh"
rows=200000 rounds=5 seconds=0.5 only='' alone='' martite=$here/../target/release/martite out=$here/../target/filters.md
while [ $# -gt 0 ]; do
  case $1 in
    --rows | --rounds | --seconds | --only | --martite | --out) printf -v "${1#--}" '%s' "$2"; shift 2 ;;
    --alone) alone=yes; shift ;;
    *) sed -n '2,9p' "$0" >&2; exit 2 ;;
  esac
done
work=$(mktemp -d)
conf=$work/conf
mkdir -p "$(dirname "$out")" "$conf" "$work/classes"
server=''
cleanup() { stop_server; [ -n "$alone" ] || "$here/hbase.sh" stop "$work/hbase" || true; rm -rf "$work"; }
trap cleanup EXIT

port_of() { sed -n '/clientPort/s/.*<value>\([0-9]*\).*/\1/p' "$1"; }

"$here/hbase.sh" classpath > "$work/classpath"
javac -nowarn -Xlint:none -d "$work/classes" -cp "$(cat "$work/classpath")" "$here/Filters.java"
start_martite "$martite" "$work" "$conf" --memory 4g
servers=(martite "$(port_of "$conf/hbase-site.xml")" "$server")
if [ -z "$alone" ]; then
  "$here/hbase.sh" start "$work/hbase"
  servers+=(HBase "$(port_of "$work/hbase/conf/hbase-site.xml")" "$(cat "$work/hbase/pid")")
fi
{
  echo "Machine: $(nproc) cores ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)), $(awk '/MemTotal/ { print int($2 / 1048576) }' /proc/meminfo) GiB, $(uname -sr). $(date -u +%F)."
  printf '%s rows a table; %s rounds of %s s.\n\n' "$rows" "$rounds" "$seconds"
  echo "| scan | cells | martite, µs a row |${alone:- HBase, µs a row | HBase ÷ martite |}" | sed 's/yes$//'
  echo "|---|---|---|${alone:----|---|}" | sed 's/yes$//'
  LOG=ERROR "$here/hbase.sh" client "$conf:$work/classes" Filters "$rows" "$rounds" "$seconds" "$only" "${servers[@]}" 2> "$work/log" \
    || { tail -n 20 "$work/log" >&2; exit 1; }
} | tee "$out"
