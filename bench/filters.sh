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
    *) usage ;;
  esac
done
set_up
server=''
cleanup() { stop_server; [ -n "$alone" ] || "$here/hbase.sh" stop "$work/hbase" || true; rm -rf "$work"; }
trap cleanup EXIT

port_of() { sed -n '/clientPort/s/.*<value>\([0-9]*\).*/\1/p' "$1"; }

compile Filters.java
start_martite "$martite" "$work" "$conf" --memory 4g
columns='| scan | cells | martite, µs a row |' line='|---|---|---|'
servers=(martite "$(port_of "$conf/hbase-site.xml")" "$server")
if [ -z "$alone" ]; then
  columns+=' HBase, µs a row | HBase ÷ martite |' line+='---|---|'
  "$here/hbase.sh" start "$work/hbase"
  servers+=(HBase "$(port_of "$work/hbase/conf/hbase-site.xml")" "$(cat "$work/hbase/pid")")
fi
{
  machine
  printf '%s rows a table; %s rounds of %s s.\n\n' "$rows" "$rounds" "$seconds"
  printf '%s\n%s\n' "$columns" "$line"
  LOG=ERROR "$here/hbase.sh" client "$conf:$work/classes" Filters "$rows" "$rounds" "$seconds" "$only" "${servers[@]}" 2> "$work/log" \
    || { tail -n 20 "$work/log" >&2; exit 1; }
} | tee "$out"
