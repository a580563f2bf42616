#!/bin/bash
# Question: do limits hold for HBase's own client (hbase-client 2.6.4, default settings), evenly and without errors? One user in closed loops of
# some threads over one connection reads 10,000 rows of 1,000 bytes under one limit after the other, set by Admin.setQuota, on this server and
# with --hbase on Apache HBase 2.6.4 afterwards; each on this machine, beside its client.
#   bench/limits.sh [--limits 10,100,999,1500,10000,100000x100,10000rows,10MiB] [--threads 20] [--warmup SECONDS] [--seconds SECONDS]
#                   [--hbase] [--martite FILE] [--out FILE]
# A limit: N (Gets a second), Nx100 (Gets a second, 100 in a call), Nrows and NMiB (a second, of scans of 100 rows).
# Columns: observed ÷ limit over the whole time; the least and the most of any second; operations that succeeded and failed; the server's CPU for one.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/martite.sh"
limits=10,100,999,1500,10000,100000x100,10000rows,10MiB threads=20 warmup=3 seconds=10
hbase='' martite=$here/../target/release/martite out=$here/../target/limits.md
while [ $# -gt 0 ]; do
  case $1 in
    --limits | --threads | --warmup | --seconds | --martite | --out) printf -v "${1#--}" '%s' "$2"; shift 2 ;;
    --hbase) hbase=yes; shift ;;
    *) usage ;;
  esac
done
set_up
server=''
cleanup() { stop_server; rm -rf "$work"; }
trap cleanup EXIT

start_hbase() {
  QUOTAS=true "$here/hbase.sh" start "$work/hbase"
  server=$(cat "$work/hbase/pid")
  cp "$work/hbase/conf/hbase-site.xml" "$conf/"
}

measure() {
  LOG=ERROR "$here/hbase.sh" client "$conf:$work/classes" Limits "$threads" "$warmup" "$seconds" "$server" ${limits//,/ } 2> "$work/log" \
    | while read -r line; do echo "| $1 | $line |"; done || { tail -n 20 "$work/log" >&2; exit 1; }
  # What calls failed with, each once.
  sed -n 's/^failed: \([A-Za-z0-9.]*\).*/\1/p' "$work/log" | sort | uniq -c >&2
}

compile Limits.java
{
  machine
  printf '%s threads, %s s each.\n\n' "$threads" "$seconds"
  echo "| server | limit | observed ÷ limit | any second | succeeded | failed | server CPU, µs an operation |"
  echo "|---|---|---|---|---|---|---|"
  start_martite "$martite" "$work" "$conf" --memory 2g; measure martite; stop_server
  if [ -n "$hbase" ]; then start_hbase; measure HBase; stop_server; fi
} | tee "$out"
