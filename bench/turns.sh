#!/bin/bash
# Question: what does an operation cost two builds of the server, in CPU? Both run at once and are asked in turns of a fraction of a second, every second
# time in the other order: on a machine whose speed changes from minute to minute this tells a few hundredths where runs one after the other tell none.
#   bench/turns.sh [--workload get|multiplexed|multi-get] [--clients 10] [--operations N] [--rounds 60] [--rows 300000] FILE FILE
# FILE: a `martite`; the load generator is the first one's `pe`. --operations: of each client in a turn, about, of random rows out of all.
# Out: of each build the mean of all turns, in µs an operation (of multi-get a row), user and system time of the server; the geometric mean of
# second ÷ first, with its standard error.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/martite.sh"
workload=get clients=10 operations='' rounds=60 rows=300000 files=()
while [ $# -gt 0 ]; do
  case $1 in
    --workload | --clients | --operations | --rounds | --rows) printf -v "${1#--}" '%s' "$2"; shift 2 ;;
    -*) usage ;;
    *) files+=("$(realpath "$1")"); shift ;;
  esac
done
[ ${#files[@]} -eq 2 ] || usage
case $workload in
  get) command=(randomRead) usual=4000 ;;
  multiplexed) command=(--oneCon=true randomRead) usual=10000 ;;
  multi-get) command=(--multiGet=100 randomRead) usual=20000 ;;
  *) echo "no workload $workload" >&2; exit 2 ;;
esac
operations=${operations:-$usual}
of_client=$((rows / clients))
every=$((of_client > operations ? of_client / operations : 1))
# PerformanceEvaluation takes every nth row, n = 1 ÷ the rate, rounded down.
sample=$(awk -v every=$every 'BEGIN { printf "%.9f", (every > 1) ? 0.99999 / every : 1 }')
in_turn=$(((of_client + every - 1) / every * clients))
work=$(mktemp -d)
servers=() quorums=() server=''
cleanup() { for server in "${servers[@]}"; do stop_server; done; rm -rf "$work"; }
trap cleanup EXIT

# pe NUMBER ARGS…: PerformanceEvaluation of the server with this number.
pe() {
  local which=$1; shift
  "${files[0]}" pe --nomapred "-Dhbase.zookeeper.quorum=${quorums[$which]}" "$@" > /dev/null 2> "$work/pe.log" || { tail "$work/pe.log" >&2; exit 1; }
}

# Ticks of user and system time.
ticks() { sed 's/.*) //' "/proc/${servers[$1]}/stat" | awk '{ print $12 + $13 }'; }

turn() {
  local before; before=$(ticks "$1")
  pe "$1" "--rows=$of_client" "--sampleRate=$sample" "${command[@]}" "$clients"
  echo "$1 $(($(ticks "$1") - before))"
}

for which in 0 1; do
  mkdir -p "$work/$which"
  start_martite "${files[$which]}" "$work/$which" "$work/$which"
  servers+=("$server")
  quorums+=("$(sed -n 's/.*zookeeper=\([^ ]*\).*/\1/p' "$work/$which/ready")")
  pe "$which" "--rows=$((rows / 10))" sequentialWrite 10
  printf "flush 'TestTable'\nmajor_compact 'TestTable'\n" > "$work/settle"
  "${files[0]}" shell --zk "${quorums[$which]}" "$work/settle" > /dev/null
done
# Compactions go on by themselves: each turn would count some of them.
echo "compaction_state 'TestTable'" > "$work/state"
for which in 0 1; do
  until "${files[0]}" shell --zk "${quorums[$which]}" "$work/state" | grep -q NONE; do sleep 0.5; done
  turn "$which" > /dev/null
  turn "$which" > /dev/null
done
for ((round = 0; round < rounds; round++)); do
  turn $((round % 2)); turn $(((round + 1) % 2))
done | awk -v us="$(awk -v hz="$(getconf CLK_TCK)" -v n=$in_turn 'BEGIN { print 1e6 / hz / n }')" \
  -v what="$workload by $clients" -v first="${files[0]}" -v second="${files[1]}" '
  { took[$1, ++count[$1]] = $2; sum[$1] += $2 }
  END {
    printf "%s: %s: %.3f µs an operation\n", what, first, sum[0] / count[0] * us
    printf "%s: %s: %.3f µs an operation\n", what, second, sum[1] / count[1] * us
    for (i = 1; i <= count[0]; i++) if (took[0, i] > 0 && took[1, i] > 0) { l = log(took[1, i] / took[0, i]); n++; s += l; q += l * l }
    if (n < 2) { print "too few turns with any CPU: more --operations" > "/dev/stderr"; exit 1 }
    printf "second ÷ first: %.3f ± %.3f in %d rounds\n", exp(s / n), exp(s / n) * sqrt((q - s * s / n) / (n - 1) / n), n
  }'
