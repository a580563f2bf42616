#!/bin/bash
# Question: does `martite ycsb` ask for what stock YCSB asks for, and tell the same of it? Stock is YCSB's core 0.17.0 from Maven Central with
# YcsbBinding.java, and HBase's own client 2.6.4. Both do the same work on the same server of this machine, in turns, slowly enough that neither
# client is the limit (-target).
#   bench/ycsb-agreement.sh [--parts keys,runs,integrity] [--workloads load,a,b,c,d,e,f] [--records N] [--target N] [--seconds N] [--rounds N]
#                           [--threads N] [--draws N] [--hbase] [--martite FILE] [--out FILE]
# keys: both generators without a server (binding basic), which keys how often, scan lengths, kinds of operations.
# runs: throughput, kinds of operations, rows and calls that the server counted, its bytes and its CPU (/proc/PID/stat), latency; lines of output.
# integrity: what one wrote with dataintegrity=true, the other verifies. --hbase: the server is Apache HBase, and counts only CPU.
# WRAP: a command before each run of a client, such as "taskset -c 1". A ratio is off if it is more than 5 % from 1 and draws do not explain it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/martite.sh"
parts=keys,runs,integrity workloads=load,a,b,c,d,e,f records=100000 target=2000 seconds=30 rounds=2 threads=10 draws=300000
hbase='' martite=$here/../target/release/martite out=$here/../target/ycsb-agreement.md
while [ $# -gt 0 ]; do
  case $1 in
    --parts | --workloads | --records | --target | --seconds | --rounds | --threads | --draws | --martite | --out)
      printf -v "${1#--}" '%s' "$2"; shift 2 ;;
    --hbase) hbase=yes; shift ;;
    *) usage ;;
  esac
done
set_up
results=$work/results
mkdir "$results"
server='' jmx=''
cleanup() {
  [ -z "$hbase" ] || "$here/hbase.sh" stop "$work/hbase" 2> /dev/null || true
  stop_server
  rm -rf "$work"
}
trap cleanup EXIT
tick=$(getconf CLK_TCK)
wants() { case ,$2, in *,$1,*) true ;; *) false ;; esac; }

# The core workloads: proportions of read, update, insert, scan, read-modify-write; which records.
proportions() {
  case $1 in
    a) echo 0.5 0.5 0 0 0 zipfian ;;
    b) echo 0.95 0.05 0 0 0 zipfian ;;
    c) echo 1 0 0 0 0 zipfian ;;
    d) echo 0.95 0 0.05 0 0 latest ;;
    e) echo 0 0 0.05 0.95 0 zipfian ;;
    f) echo 0.5 0 0 0 0.5 zipfian ;;
    *) echo 1 0 0 0 0 "$1" ;;
  esac
}

# file WORKLOAD RECORDS OPERATIONS: the workload's property file
file() {
  local read update insert scan modify distribution
  read -r read update insert scan modify distribution <<< "$(proportions "$1")"
  [ "$1" != load ] || distribution=uniform
  cat > "$work/$1.properties" <<PROPERTIES
workload=site.ycsb.workloads.CoreWorkload
recordcount=$2
operationcount=$3
readproportion=$read
updateproportion=$update
insertproportion=$insert
scanproportion=$scan
readmodifywriteproportion=$modify
requestdistribution=$distribution
maxscanlength=100
table=usertable
columnfamily=family
hdrhistogram.percentiles=50,95,99
PROPERTIES
  echo "$work/$1.properties"
}

# ycsb stock|martite load|run BINDING ARGS…
ycsb() {
  local who=$1 phase=$2 binding=$3; shift 3
  if [ "$who" = martite ]; then
    ${WRAP:-} "$martite" ycsb "$phase" "$binding" -cp "$conf" "$@"
    return
  fi
  local class=YcsbBinding
  [ "$binding" = hbase2 ] || class=site.ycsb.BasicDB
  [ "$phase" = run ] && phase=t
  LOG=WARN ${WRAP:-} "$here/hbase.sh" client "$conf:$work/classes" site.ycsb.Client -db $class "-$phase" "$@"
}

# --- keys ---

# What a run of the binding basic tells, counted: "kind key count", "SCANS length count", and the summary's operations as "OPS kind count".
count_keys() {
  awk '/^(READ|SCAN|UPDATE|INSERT) / { seen[$1 " " $3]++; if ($1 == "SCAN") { scans++; sum += $4; square += $4 * $4 } }
    /^\[[A-Z-]+\], Operations/ { gsub(/[][,]/, ""); if ($1 != "CLEANUP") print "OPS", $1, $3 }
    END { for (key in seen) print key, seen[key]; if (scans) print "LENGTH", sum / scans, sqrt(square / scans - (sum / scans) ^ 2), scans }'
}

# Groups of keys by how often the first run of stock asked for them; how often its second run did, and martite.
compare_keys() {
  sort -k3,3nr "$results/keys.$1.first" | awk -v name="$1" -v ours="$results/keys.$1.martite" -v stock="$results/keys.$1.stock" '
    function put(what, n, m, unit, spread) { printf "%s | %s | %.6g | %.6g | %s | %.4g\n", name, what, n, m, unit, spread }
    function draws(what, n, m) { put(what, n, m, "draws", n > 0 && m > 0 ? 3 * sqrt(1 / n + 1 / m) : 9) }
    function group(rank) { return rank <= 1 ? 1 : rank <= 10 ? 2 : rank <= 100 ? 3 : rank <= 1000 ? 4 : 5 }
    BEGIN { split("hottest key|keys 2 to 10|keys 11 to 100|keys 101 to 1000|other keys", title, "|") }
    $1 == "READ" || $1 == "SCAN" { of[$1 " " $2] = group(++rank) }
    END {
      while ((getline line < stock) > 0) note(line, "s")
      while ((getline line < ours) > 0) note(line, "m")
      for (i = 1; i <= kinds; i++) draws(kind[i], ops["s", kind[i]], ops["m", kind[i]])
      for (g = 1; g <= 5; g++) if (sum["s", g] + sum["m", g] > 0) draws(title[g], sum["s", g], sum["m", g])
      if (mean["s"]) put("mean scan length", mean["s"], mean["m"], "rows", 3 * deviation["s"] / mean["s"] * sqrt(2 / scans["s"]))
      if (mean["s"]) put("deviation of scan lengths", deviation["s"], deviation["m"], "rows", 0.02)
    }
    function note(line, who,   f, g) {
      split(line, f, " ")
      if (f[1] == "OPS") { if (!((who, f[2]) in ops) && who == "s") kind[++kinds] = f[2]; ops[who, f[2]] = f[3] }
      else if (f[1] == "LENGTH") { mean[who] = f[2]; deviation[who] = f[3]; scans[who] = f[4] }
      else if (f[1] == "READ" || f[1] == "SCAN") { g = (f[1] " " f[2]) in of ? of[f[1] " " f[2]] : 5; sum[who, g] += f[3] }
    }' >> "$results/table.keys"
}

keys() {
  local name file
  for name in a b c d e f uniform sequential hotspot exponential; do
    echo "  keys: $name" >&2
    file=$(file $name 10000 "$draws")
    for run in first stock martite; do
      ycsb "${run/first/stock}" run basic -P "$file" -p basicdb.verbose=true -threads 2 2> "$work/log" | count_keys > "$results/keys.$name.$run" \
        || { tail -n 20 "$work/log" >&2; exit 1; }
    done
    compare_keys $name
  done
}

# --- runs ---

start() {
  if [ -n "$hbase" ]; then
    HEAP=${HEAP:-4g} "$here/hbase.sh" start "$work/hbase"
    server=$(cat "$work/hbase/pid"); cp "$work/hbase/conf/hbase-site.xml" "$conf/"
    return
  fi
  start_martite "$martite" "$work" "$conf" --memory 4g --regionserver-info-port 0 -D hbase.wal.hsync=false
  jmx=http://localhost:$(sed -n 's/.*regionserverinfo=[^ ]*:\([0-9]*\).*/\1/p' "$work/ready")
}

shell() { "$martite" shell -n --conf "$conf" > "$work/shell.log" 2>&1 || { cat "$work/shell.log" >&2; exit 1; }; }
create() { echo "create '$1', 'family', {SPLITS => (1..3).map {|i| \"user#{1000+i*(9999-1000)/4}\"}}" | shell; }
cpu_ms() { awk -v t="$tick" '{ sub(/.*\) /, ""); print int(($12 + $13) * 1000 / t) }' "/proc/$server/stat"; }

# Until the server uses less than 3 % of a core: flushes and compactions are over.
settle() {
  local before after
  for _ in $(seq 60); do
    before=$(cpu_ms); sleep 1; after=$(cpu_ms)
    if [ $((after - before)) -lt 30 ]; then return; fi
  done
}

# What the server has counted: rows read and written; calls of each method; bytes; milliseconds of CPU
counters() {
  local text=
  [ -z "$jmx" ] || text=$(for bean in Server IPC; do curl -sf "$jmx/jmx?qry=Hadoop:service=HBase,name=RegionServer,sub=$bean"; done | tr ',' '\n')
  for name in readRequestCount writeRequestCount rpcGetRequestCount rpcMutateRequestCount rpcMultiRequestCount rpcScanRequestCount receivedBytes sentBytes; do
    awk -F: -v n="\"$name\"" '{ gsub(/[ }\]]/, "") } $1 == n { print $2; found = 1; exit } END { if (!found) print 0 }' <<< "$text"
  done | tr '\n' ' '
  cpu_ms
}

# grown BEFORE AFTER: by how much each counter has grown
grown() { paste -d ' ' <(tr ' ' '\n' <<< "$1") <(tr ' ' '\n' <<< "$2") | awk '{ printf "%d ", $2 - $1 }'; }

# measure TAG WHO PHASE WORKLOAD ARGS…: a run; its output to results/TAG.*, what the server counted meanwhile to TAG.server, and what it
# counted in the middle, when a Java machine has started and knows its work, to TAG.middle.
measure() {
  local tag=$1 who=$2 phase=$3 file=$4 before after from to pid; shift 4
  settle
  before=$(counters)
  ycsb "$who" "$phase" hbase2 -P "$file" -s -p status.interval=1 -threads "$threads" "$@" > "$results/$tag.out" 2> "$results/$tag.err" &
  pid=$!
  until [ "$(grep -c 'current ops/sec; est' "$results/$tag.err")" -ge 3 ] || ! kill -0 $pid 2> /dev/null; do sleep 0.1; done
  from=$(counters); sleep $((seconds > 8 ? seconds - 6 : 2)); to=$(counters)
  wait $pid || { tail -n 20 "$results/$tag.err" >&2; exit 1; }
  after=$(counters)
  grown "$before" "$after" > "$results/$tag.server"
  grown "$from" "$to" > "$results/$tag.middle"
  echo "  $tag: $(sed -n 's/\[OVERALL\], Throughput(ops\/sec), //p' "$results/$tag.out") operations/s" >&2
}

# Rows of the table of a workload, of the rounds' sums and means.
compare_runs() {
  local who
  for who in stock martite; do
    for round in $(seq "$rounds"); do
      sed -n 's/^\[\([A-Za-z_-]*\)\], \([^,]*\), \(.*\)/\1 \2 \3/p' "$results/$1.$who.$round.out" | sed "s/^/$who line /"
      echo "$who server $(cat "$results/$1.$who.$round.server")"
      echo "$who middle $(cat "$results/$1.$who.$round.middle")"
    done
    # Of the seconds of all rounds the one in the middle: without the start of a Java machine, which is in the throughput.
    cat "$results/$1.$who".*.err | sed -n 's/.* operations; \([0-9.]*\) current ops.sec; est.*/\1/p' | sort -n \
      | awk -v who=$who '{ second[NR] = $1 } END { print who, "second", second[int((NR + 1) / 2)] }'
  done | awk -v name="$1" -v rounds="$rounds" -v counted="${jmx:+1}" '
    $2 == "line" && $4 ~ /^(Operations|Return=.*)$/ { sum[$1, $3 " " $4] += $5; note($3 " " $4); next }
    $2 == "line" && $4 ~ /Latency|Throughput/ { sum[$1, $3 " " $4] += $5 / rounds; note($3 " " $4); next }
    $2 == "second" { sum[$1, "Throughput, second"] = $3; note("Throughput, second"); next }
    $2 == "middle" { for (i = 5; i <= 8; i++) calls[$1] += $i; cpu[$1] += $11; next }
    $2 == "server" { for (i = 3; i <= NF; i++) server[$1, i - 2] += $i }
    function note(what) { if (!(what in known)) { known[what] = 1; order[++whats] = what } }
    function put(what, a, b, unit, spread) { printf "%s | %s | %.6g | %.6g | %s | %.4g\n", name, what, a, b, unit, spread }
    function draws(n, m) { return n > 0 && m > 0 ? 3 * sqrt(1 / n + 1 / m) : 0 }
    END {
      for (i = 1; i <= whats; i++) {
        what = order[i]; a = sum["stock", what]; b = sum["martite", what]
        if (what ~ /^(CLEANUP|SCAN-LATENCY)/) continue
        if (what ~ /Throughput/) put(what ~ /second/ ? "in the middle second" : "throughput", a, b, "operations/s", 0)
        else if (what ~ /Operations$/ && what !~ /FAILED/) {
          # Of a read-modify-write, the read and the update are counted, too.
          split(what, part, " "); put(part[1], a, b, "operations", draws(a, b))
          if (part[1] != "READ-MODIFY-WRITE") { ops["stock"] += a; ops["martite"] += b }
        }
        else if (what ~ /Return=/ && what !~ /Return=OK/) put(what, a, b, "operations", draws(a, b))
        else if (what ~ /(Average|50thPercentile|95thPercentile|99thPercentile)Latency/) {
          split(what, part, " "); sub(/Latency.*/, "", part[2]); sub(/Percentile/, "", part[2])
          put("latency of " part[1] ", " tolower(part[2]), a, b, "µs", -1)
        }
      }
      split("rows read|rows written|Get calls|Mutate calls|Multi calls|Scan calls|request bytes|answer bytes", title, "|")
      for (i = 1; i <= 8 && counted; i++) {
        # Each for an operation.
        a = server["stock", i] / ops["stock"]; b = server["martite", i] / ops["martite"]
        if (a + b > 0.001) put("server: " title[i], a, b, "an operation", 0)
      }
      # Of HBase no counters are read: of the whole run, with the start of the client.
      for (who in ops) used[who] = calls[who] ? cpu[who] * 1000 / calls[who] : server[who, 9] * 1000 / ops[who]
      put("server: CPU", used["stock"], used["martite"], calls["stock"] ? "µs a call" : "µs an operation", 0)
    }' >> "$results/table.runs"
}

# Lines with their numbers taken out; each shape once.
shapes() { sed -E 's/[0-9]{4}-[0-9-]+ [0-9:]+/TIME/; s/-?[0-9]+(\.[0-9]+)?(E-?[0-9]+)?/N/g; s/∞/N/g; s/ *$//; s/(N (day|hour|minute|second)s? ?)+/N seconds/'; }

compare_lines() {
  local a=$results/$1.stock.1 b=$results/$1.martite.1
  for who in a b; do
    shapes < "${!who}.out" > "$work/lines.$who"
    # The last status lines: one before the end, one after it.
    grep -E '^[0-9]{4}-.* sec: ' "${!who}.err" | tail -n 2 | shapes > "$work/status.$who"
  done
  { diff "$work/lines.a" "$work/lines.b" || true; diff "$work/status.a" "$work/status.b" || true; } | sed -n "s/^</$1: only stock:/p; s/^>/$1: only martite:/p" >> "$results/lines"
  echo "$1: $(wc -l < "$work/lines.a") and $(wc -l < "$work/lines.b") lines" >> "$results/lines"
}

runs() {
  local name file rate=$target who round
  create usertable
  ycsb martite load hbase2 -P "$(file load "$records" 0)" -threads 20 > /dev/null 2> "$work/log" || { tail "$work/log" >&2; exit 1; }
  echo "flush 'usertable'" | shell
  for name in ${workloads//,/ }; do
    # A scan is as much work as many reads.
    rate=$target; [ "$name" != e ] || rate=$((target / 10))
    file=$(file "$name" "$records" $((rate * seconds)))
    [ "$name" = load ] || ycsb martite run hbase2 -P "$file" -threads "$threads" > /dev/null 2> "$work/log" || { tail "$work/log" >&2; exit 1; }
    for round in $(seq "$rounds"); do
      for who in $([ $((round % 2)) = 1 ] && echo martite stock || echo stock martite); do
        if [ "$name" = load ]; then
          create "load.$who.$round"
          measure "$name.$who.$round" "$who" load "$file" -target "$rate" -p table="load.$who.$round" -p insertcount=$((rate * seconds))
        else
          measure "$name.$who.$round" "$who" run "$file" -target "$rate"
        fi
      done
    done
    compare_runs "$name"
    compare_lines "$name"
  done
}

# --- integrity ---

integrity() {
  local writer reader table
  for writer in stock martite; do
    table=integrity.$writer reader=$([ $writer = stock ] && echo martite || echo stock)
    create $table
    for step in "$writer load a" "$reader run c" "$reader run a" "$writer run f" "$reader run c"; do
      read -r who phase name <<< "$step"
      ycsb "$who" "$phase" hbase2 -P "$(file "$name" 5000 5000)" -threads "$threads" -p table=$table -p dataintegrity=true \
        > "$work/integrity.out" 2> "$work/log" || { tail "$work/log" >&2; exit 1; }
      awk -v step="$who $phase $name" -v table=$table '/^\[(VERIFY|READ|INSERT|UPDATE)\], Return=/ { gsub(/[][,]/, ""); line = line "; " $1 " " $2 " " $3 }
        END { print table " | " step " | " substr(line, 3) }' "$work/integrity.out" >> "$results/integrity"
    done
  done
}

# --- the report ---

table() {
  echo "| Workload | | stock YCSB | martite ycsb | unit | ratio | |"
  echo "|---|---|---|---|---|---|---|"
  awk -F ' [|] ' '{
    ratio = $3 > 0 ? $4 / $3 : ($4 > 0 ? 99 : 1); spread = $6; off = ratio - 1; off = off < 0 ? -off : off
    judged = spread < 0 ? "not compared" : off <= 0.05 ? "" : off <= spread ? sprintf("draws: ±%.0f %%", spread * 100) : "**off**"
    printf "| %s | %s | %s | %s | %s | %.3f | %s |\n", $1, $2, $3, $4, $5, ratio, judged }' "$1"
}

compile YcsbBinding.java
! wants keys "$parts" || keys
if wants runs "$parts" || wants integrity "$parts"; then start; fi
! wants runs "$parts" || runs
! wants integrity "$parts" || integrity
{
  machine
  if [ -s "$results/table.keys" ]; then
    printf '\nWhich keys, without a server: 10,000 records, %s operations.\n\n' "$draws"; table "$results/table.keys"
  fi
  if [ -s "$results/table.runs" ]; then
    printf '\nOn a server%s: %s records, %s threads, %s operations a second (of scans a tenth), %s times %s seconds each.\n\n' \
      "${hbase:+ (Apache HBase)}" "$records" "$threads" "$target" "$rounds" "$seconds"
    table "$results/table.runs"
    printf '\nLines of output that are not in both, numbers as N:\n\n```text\n'; cat "$results/lines"; printf '```\n'
  fi
  if [ -s "$results/integrity" ]; then
    printf '\nData integrity: what one wrote, the other verified.\n\n| Table | Step | Results |\n|---|---|---|\n'
    sed 's/.*/| & |/' "$results/integrity"
  fi
} | tee "$out"
