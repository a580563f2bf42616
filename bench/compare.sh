#!/bin/bash
# Question: how much server CPU does a row cost, Martite against Apache HBase 2.6.4, with HBase's own PerformanceEvaluation?
# Both servers run on this machine, one after the other, with the same client, the same rows and the same order of work:
# load and flush, then each read workload; everything twice: the first time warms caches and the JIT, the second is counted.
#   bench/compare.sh [--rows N] [--clients N] [--out FILE]
# CPU is utime + stime of the server process (/proc/PID/stat), so that the client beside it does not count.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/martite.sh"
rows=100000 clients=5 out=$here/../target/bench-hbase.md
while [ $# -gt 0 ]; do
  case $1 in
    --rows) rows=$2; shift 2 ;;
    --clients) clients=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    *) usage ;;
  esac
done
work=$(mktemp -d)
mkdir -p "$(dirname "$out")"
server=''
cleanup() { stop_server; rm -rf "$work"; }
trap cleanup EXIT
tick=$(getconf CLK_TCK)
pe=org.apache.hadoop.hbase.PerformanceEvaluation

cpu_ms() { awk -v t="$tick" '{ sub(/.*\) /, ""); print int(($12 + $13) * 1000 / t) }' "/proc/$1/stat"; }
rss_mb() { awk '/VmRSS/ { print int($2 / 1024) }' "/proc/$1/status"; }
now_ms() { date +%s%3N; }

# Waits until the server uses less than 5 % of a core: flushes and compactions are over.
settle() {
  local before after
  for _ in $(seq 60); do
    before=$(cpu_ms "$1"); sleep 1; after=$(cpu_ms "$1")
    if [ $((after - before)) -lt 50 ]; then return; fi
  done
}

# measure NAME PID CONF ROWS ARGS…: one counted run; a line "rows cpu_us wall_ms" goes to results/NAME.WORKLOAD
measure() {
  local name=$1 pid=$2 conf=$3 workload=$4 count=$5; shift 5
  local cpu wall log=$work/$name.$workload.log
  settle "$pid"
  cpu=$(cpu_ms "$pid"); wall=$(now_ms)
  "$here/hbase.sh" client "$conf" $pe --nomapred "$@" > "$log" 2>&1 || { tail -n 30 "$log" >&2; exit 1; }
  wall=$(($(now_ms) - wall)); cpu=$(($(cpu_ms "$pid") - cpu))
  if grep -q 'Exception' "$log"; then grep -m 5 'Exception' "$log" >&2; fi
  local tps
  tps=$(sed -n 's/.*Avg TPS\/QPS\][[:space:]]*\([0-9]*\).*/\1/p' "$log" | tail -n 1)
  echo "$count $cpu $wall ${tps:-0}" > "$work/$name.$workload"
  echo "  $name $workload: $((cpu * 1000 / count)) us of server CPU a row, ${tps:-?} rows/s"
}

workloads() {
  local name=$1 pid=$2 conf=$3
  # The clock counts in hundredths of a second: a scan takes so many ranges that this does not blur its figure.
  local total=$((rows * clients)) ranges=$((rows / 250))
  # The first load warms the JIT, the heap and the machine's memory, which a virtual machine may have to ask its host for; the
  # second goes to a new table.
  measure "$name" "$pid" "$conf" warm $total --rows="$rows" --presplit=4 sequentialWrite "$clients"
  "$here/hbase.sh" client "$conf" "$here/Flush.java" TestTable > "$work/flush.log" 2>&1 || { tail "$work/flush.log" >&2; exit 1; }
  measure "$name" "$pid" "$conf" sequentialWrite $total --table=Second --rows="$rows" --presplit=4 sequentialWrite "$clients"
  "$here/hbase.sh" client "$conf" "$here/Flush.java" Second > "$work/flush.log" 2>&1 || { tail "$work/flush.log" >&2; exit 1; }
  for round in warm counted; do
    echo "  ($round)"
    measure "$name" "$pid" "$conf" randomRead $total --table=Second --rows="$rows" randomRead "$clients"
    measure "$name" "$pid" "$conf" multiGet100 $total --table=Second --rows="$rows" --multiGet=100 randomRead "$clients"
    measure "$name" "$pid" "$conf" scanRange10000 $((ranges * 10000 * clients)) --table=Second --rows=$ranges --filterAll scanRange10000 "$clients"
  done
}

echo "Apache HBase 2.6.4"
began=$(now_ms)
"$here/hbase.sh" start "$work/hbase"
server=$(cat "$work/hbase/pid")
hbase_start=$(($(now_ms) - began)) hbase_idle=$(rss_mb "$server")
workloads hbase "$server" "$work/hbase/conf"
hbase_rss=$(rss_mb "$server")
stop_server

echo "Martite"
mkdir -p "$work/martite/conf"
began=$(now_ms)
start_martite "$here/../target/release/martite" "$work/martite" "$work/martite/conf" --memory 6g
martite_start=$(($(now_ms) - began)) martite_idle=$(rss_mb "$server")
workloads martite "$server" "$work/martite/conf"
martite_rss=$(rss_mb "$server")
stop_server

{
  echo "Rows of 1,000 bytes, $rows rows and scans of $((rows / 250)) ranges of 10,000 rows for each of $clients client threads, one client process on the same machine."
  machine
  echo
  echo "| workload | HBase µs CPU/row | Martite µs CPU/row | HBase ÷ Martite | HBase rows/s | Martite rows/s |"
  echo "|---|---|---|---|---|---|"
  for w in sequentialWrite randomRead multiGet100 scanRange10000; do
    read -r n c _ t < "$work/hbase.$w"; read -r m d _ u < "$work/martite.$w"
    awk -v w="$w" -v n="$n" -v c="$c" -v m="$m" -v d="$d" -v t="$t" -v u="$u" 'BEGIN {
      h = c * 1000 / n; r = d * 1000 / m
      printf "| %s | %.2f | %.2f | %.1f | %s | %s |\n", w, h, r, (r > 0 ? h / r : 0), t, u }'
  done
  echo
  echo "| | HBase | Martite |"
  echo "|---|---|---|"
  echo "| start until it serves, ms | $hbase_start | $martite_start |"
  echo "| memory when idle, MiB | $hbase_idle | $martite_idle |"
  echo "| memory after the run, MiB | $hbase_rss | $martite_rss |"
} | tee "$out"
