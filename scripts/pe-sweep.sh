#!/bin/bash
# Runs the stock PerformanceEvaluation of HBase 2.6.4 against a running server, command after command, option after option, with
# the data in memory, flushed, compacted and split, and reads everything back after each write.
#   scripts/pe-sweep.sh [--smoke] [--rows N] [--list] CONF|BINARY [FILTER]
# CONF       folder with the hbase-site.xml that names the server
# BINARY     the server's program: it is started, and stopped and killed in the groups restart and kill, which CONF lacks
# FILTER     a regular expression on GROUP/CASE; a group with a match runs whole, for its cases build on each other
# --rows N   rows of a client, 2000
# --smoke    a minute's choice
# --list     prints the cases only
# A line a case; any exception, error, warning or wrong count fails it and the sweep. Logs are kept below target/pe-sweep.
# Needs Java and Maven (see setup.sh). CLIENT_HEAP is the client's memory, 1500m: each
# of 25 clients keeps 28 MB of latencies.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
# What the groups restart and kill ask for: server FOLDER start|stop|kill. FOLDER has the program's name in `binary`.
server() {
  local folder=$1 pid ports=(0 0 0)
  case $2 in
    start)
      if [ -s "$folder/ports" ]; then read -ra ports < "$folder/ports"; fi
      : > "$folder/ready"
      nohup "$(cat "$folder/binary")" start --data "$folder/data" --hostname localhost --zookeeper-port "${ports[0]}" \
        --master-port "${ports[1]}" --regionserver-port "${ports[2]}" > "$folder/ready" 2>> "$folder/server.log" < /dev/null &
      pid=$!
      # Its end is no news.
      disown
      echo $pid > "$folder/pid"
      until grep -q '^ready' "$folder/ready"; do
        kill -0 $pid || { tail -n 5 "$folder/server.log" >&2; return 1; }
        sleep 0.05
      done
      # Clients find it again where it was.
      sed 's/[^ ]*:\([0-9]*\)/\1/g; s/^ready //' "$folder/ready" > "$folder/ports"
      read -ra ports < "$folder/ports"
      printf '<configuration><property><name>%s</name><value>localhost</value></property><property><name>%s</name><value>%s</value></property></configuration>\n' \
        hbase.zookeeper.quorum hbase.zookeeper.property.clientPort "${ports[0]}" > "$folder/hbase-site.xml" ;;
    stop|kill)
      pid=$(cat "$folder/pid")
      if [ "$2" = kill ]; then kill -9 "$pid" 2> /dev/null || true; else kill "$pid"; fi
      while kill -0 "$pid" 2> /dev/null; do sleep 0.05; done ;;
  esac
}
if [ "${1:-}" = --server ]; then server "$2" "$3"; exit; fi

rows=2000 smoke= list=
while [ $# -gt 0 ]; do
  case $1 in
    --rows) rows=$2; shift 2 ;;
    --smoke) smoke=1; shift ;;
    --list) list=1; shift ;;
    -*) sed -n '2,13p' "$0" >&2; exit 2 ;;
    *) break ;;
  esac
done
if [ $# -lt 1 ] && [ -z "$list" ]; then sed -n '2,13p' "$0" >&2; exit 2; fi
conf=${1:-} filter=${2:-.}

group= table=
group() { group=$1 table=PE_${1//[^a-zA-Z0-9]/_}; step before drop "$table"; }
step() { printf '%s/%s\t%s\n' "$group" "$1" "${*:2}"; }
# pe CASE WORD…: one command on the group's table, with as many rows a client as asked for.
pe() { step "$1" pe "--table=$table" "--rows=$rows" "${@:2}"; }
# few CASE ONE_OF WORD…: the same, but of the rows only one of so many is done: each reads many.
few() { pe "$1" "--sampleRate=$(awk "BEGIN { printf \"%.6f\", 1 / $2 }")" "${@:3}"; }
check() { step "$1" check "$table" "${@:2}"; }
act() { step "$2" "$2" "$table"; }
end() { step after drop "$table"; }

# reads WHERE CLIENTS OPTION…: every command that reads.
reads() {
  local at=$1 clients=$2; shift 2
  pe "$at.randomRead" "$@" randomRead "$clients"
  pe "$at.randomRead.multiGet" "$@" --multiGet=100 randomRead "$clients"
  pe "$at.randomRead.wholeFamily" "$@" --addColumns=false randomRead "$clients"
  pe "$at.randomRead.filterAll" "$@" --filterAll randomRead "$clients"
  pe "$at.sequentialRead" "$@" sequentialRead "$clients"
  pe "$at.scan" "$@" scan "$clients"
  pe "$at.scan.filterAll" "$@" --filterAll scan "$clients"
  pe "$at.scan.prefetch" "$@" --asyncPrefetch --caching=100 scan "$clients"
  pe "$at.scan.stream" "$@" --scanReadType=stream --cacheBlocks=false scan "$clients"
  pe "$at.scan.pread" "$@" --scanReadType=pread --caching=1 scan "$clients"
  pe "$at.reverseScan" "$@" reverseScan "$clients"
  few "$at.randomSeekScan" 20 "$@" randomSeekScan "$clients"
  few "$at.randomSeekScan.filterAll" 20 "$@" --filterAll randomSeekScan "$clients"
  few "$at.filterScan" 400 "$@" filterScan "$clients"
  few "$at.filterScan.filterAll" 400 "$@" --filterAll filterScan "$clients"
  local range
  for range in 10 100 1000 10000; do
    few "$at.scanRange$range" $((range < 100 ? 10 : range < 1000 ? 20 : 100)) "$@" scanRange$range "$clients"
    few "$at.scanRange$range.filterAll" $((range < 100 ? 10 : range < 1000 ? 20 : 100)) "$@" --filterAll scanRange$range "$clients"
  done
  pe "$at.asyncRandomRead" "$@" asyncRandomRead "$clients"
  pe "$at.asyncRandomRead.multiGet" "$@" --multiGet=100 asyncRandomRead "$clients"
  pe "$at.asyncSequentialRead" "$@" asyncSequentialRead "$clients"
  pe "$at.asyncScan" "$@" asyncScan "$clients"
}

# written OPTION…: what is read of a table that was made with special options, in memory, in files and after a compaction.
written() {
  local at
  for at in memory flushed compacted; do
    case $at in flushed) act "$table" flush ;; compacted) act "$table" major ;; esac
    pe "$at.randomRead" "$@" randomRead 2
    pe "$at.scan" "$@" scan 2
    few "$at.scanRange100" 20 "$@" scanRange100 2
    check "$at.check" rows=$((rows * 2))
  done
}

cas() {
  local clients=$1; shift
  pe increment "$@" increment "$clients"
  check increment.check "sum=IncrementTest:$((rows * clients))"
  pe append "$@" append "$clients"
  check append.check "length=AppendTest:$((26 * clients))"
  pe checkAndPut "$@" checkAndPut "$clients"
  check checkAndPut.check length=CheckAndPutTest:26
  pe checkAndMutate "$@" checkAndMutate "$clients"
  check checkAndMutate.check length=CheckAndMutateTest:26
  pe checkAndDelete "$@" checkAndDelete "$clients"
  check checkAndDelete.check length=CheckAndDeleteTest:26
}

small() {
  rows=500
  group smoke
  pe sequentialWrite --presplit=3 --compress=ZSTD --blockEncoding=FAST_DIFF sequentialWrite 3
  pe randomRead.memory randomRead 3
  act "$table" flush
  pe randomRead randomRead 3
  pe randomRead.multiGet --multiGet=100 randomRead 3
  pe sequentialRead sequentialRead 3
  pe scan scan 3
  pe reverseScan reverseScan 3
  few randomSeekScan 50 randomSeekScan 3
  few filterScan 400 filterScan 3
  few scanRange100 50 scanRange100 3
  few scanRange1000 50 scanRange1000 3
  few scanRange10000.filterAll 50 --filterAll scanRange10000 3
  pe asyncRandomRead asyncRandomRead 3
  pe asyncSequentialRead asyncSequentialRead 3
  pe asyncScan asyncScan 3
  check check rows=$((rows * 3)) cells=$((rows * 3))
  rows=60
  pe asyncRandomWrite asyncRandomWrite 10
  pe randomWrite.autoFlush --autoFlush --multiPut=20 --usetags randomWrite 10
  cas 10
  rows=500
  act "$table" split
  pe sequentialDelete sequentialDelete 3
  check sequentialDelete.check rows=0
  end
  meta
}

meta() {
  # Meta's fake regions are always those of TestTable.
  group meta
  table=TestTable
  step fresh drop TestTable
  pe sequentialWrite sequentialWrite 1
  step metaWrite pe --rows=40 metaWrite 2
  step metaRandomRead pe --rows=40 metaRandomRead 2
  step cleanMeta pe --rows=40 cleanMeta 2
  pe sequentialRead sequentialRead 1
  check check rows="$rows"
  end
}

everything() {
  local algorithm encoding bloom clients
  local codec=-Dhbase.client.rpc.codec=org.apache.hadoop.hbase.codec.KeyValueCodecWithTags
  group reads
  pe sequentialWrite sequentialWrite 3
  check sequentialWrite.check rows=$((rows * 3)) cells=$((rows * 3)) length=0:1000
  reads memory 3
  act "$table" flush
  reads flushed 3
  act "$table" split
  reads split 3
  pe rewrite sequentialWrite 3
  reads mixed 3
  act "$table" flush
  act "$table" major
  reads compacted 3
  check check rows=$((rows * 3)) cells=$((rows * 3)) length=0:1000
  pe randomRead.size --size=2 randomRead 3
  few randomSeekScan.size 20 --size=2 randomSeekScan 3
  pe randomDelete randomDelete 3
  check randomDelete.check
  pe sequentialDelete.autoFlush --autoFlush sequentialDelete 3
  check sequentialDelete.check rows=0
  pe scan.deleted scan 3
  pe randomRead.deleted randomRead 3
  act "$table" flush
  act "$table" major
  check compacted.check rows=0
  pe scan.empty scan 3
  end

  group writes
  pe randomWrite randomWrite 3
  check randomWrite.check length=0:1000
  pe sequentialWrite.autoFlush --autoFlush sequentialWrite 3
  pe sequentialWrite.multiPut --autoFlush --multiPut=100 sequentialWrite 3
  pe sequentialWrite.buffer --bufferSize=20000 sequentialWrite 3
  pe sequentialWrite.noLog --writeToWAL=false sequentialWrite 3
  pe sequentialWrite.cycles --cycles=2 --period=100 --latencyThreshold=100 --measureAfter=10 sequentialWrite 2
  pe sequentialWrite.startRow --startRow=100 sequentialWrite 1
  pe randomWrite.sample --sampleRate=0.1 randomWrite 3
  check check rows=$((rows * 3)) length=0:1000
  pe asyncSequentialWrite asyncSequentialWrite 3
  pe asyncRandomWrite asyncRandomWrite 3
  pe asyncSequentialWrite.multiPut --autoFlush --multiPut=100 asyncSequentialWrite 3
  check async.check rows=$((rows * 3)) length=0:1000
  pe sequentialWrite.valueRandom --valueRandom sequentialWrite 3
  pe randomRead.valueRandom --valueRandom randomRead 3
  pe sequentialWrite.valueZipf --valueZipf sequentialWrite 3
  pe randomWrite.valueZipf --valueZipf --valueSize=20000 randomWrite 3
  pe sequentialWrite.tiny --valueSize=1 sequentialWrite 3
  check tiny.check rows=$((rows * 3)) length=0:1
  step sequentialWrite.large pe "--table=$table" --rows=20 --valueSize=2000000 sequentialWrite 3
  step randomRead.large pe "--table=$table" --rows=20 randomRead 3
  step scan.large pe "--table=$table" --rows=20 --caching=1000 scan 3
  check large.check rows=$((rows * 3))
  pe randomRead.sleep --randomSleep=2 --latency randomRead 3
  end

  group clients
  local con
  for clients in 1 2 5 25; do
    for con in false true; do
      pe sequentialWrite.$clients.oneCon-$con --oneCon=$con sequentialWrite $clients
      check check.$clients.oneCon-$con rows=$((rows * clients))
      pe randomWrite.$clients.oneCon-$con --oneCon=$con randomWrite $clients
      pe randomRead.$clients.oneCon-$con --oneCon=$con randomRead $clients
      pe randomRead.multiGet.$clients.oneCon-$con --oneCon=$con --multiGet=100 randomRead $clients
      pe scan.$clients.oneCon-$con --oneCon=$con scan $clients
      few scanRange1000.$clients.oneCon-$con 100 --oneCon=$con scanRange1000 $clients
      pe asyncRandomRead.$clients.oneCon-$con --oneCon=$con asyncRandomRead $clients
      pe asyncRandomWrite.$clients.oneCon-$con --oneCon=$con asyncRandomWrite $clients
      pe asyncScan.$clients.oneCon-$con --oneCon=$con asyncScan $clients
      act "$table" drop
    done
  done
  pe sequentialWrite sequentialWrite 25
  pe randomWrite.connCount --connCount=3 randomWrite 25
  pe randomRead.connCount --connCount=3 --multiGet=10 randomRead 25
  check check rows=$((rows * 25))
  end

  group cas
  cas 5
  act "$table" flush
  cas 5 --oneCon > "$cases.again"
  # Sums and lengths go on growing in the same table.
  grep -v 'increment.check\|append.check' "$cases.again" | sed 's|/|/flushed.|'
  end
  group cas-families
  pe increment --families=2 increment 3
  check increment.check "sum=IncrementTest:$((rows * 6))"
  pe append --families=2 append 3
  check append.check length=AppendTest:78
  end

  for algorithm in NONE GZ SNAPPY LZ4 ZSTD; do
    group "compress-$algorithm"
    pe sequentialWrite --compress=$algorithm sequentialWrite 2
    written
    end
  done
  for encoding in NONE PREFIX DIFF FAST_DIFF ROW_INDEX_V1; do
    group "encoding-$encoding"
    pe sequentialWrite --blockEncoding=$encoding --compress=LZ4 --usetags --columns=2 $codec sequentialWrite 2
    written --columns=2
    end
  done
  for bloom in NONE ROW ROWCOL; do
    group "bloom-$bloom"
    pe sequentialWrite --bloomFilter=$bloom sequentialWrite 2
    written --bloomFilter=$bloom
    end
  done

  group shape
  pe sequentialWrite.columns --columns=5 --valueSize=100 sequentialWrite 2
  check columns.check rows=$((rows * 2)) cells=$((rows * 10))
  pe randomRead.columns --columns=5 randomRead 2
  pe scan.columns --columns=5 scan 2
  few filterScan.columns 400 --columns=5 filterScan 2
  pe sequentialWrite.families --families=3 --columns=2 --valueSize=100 sequentialWrite 2
  check families.check rows=$((rows * 2)) cells=$((rows * 12))
  act "$table" flush
  pe randomRead.families --families=3 --columns=2 randomRead 2
  pe randomRead.families.whole --families=3 --addColumns=false randomRead 2
  pe scan.families --families=3 --columns=2 scan 2
  few randomSeekScan.families 20 --families=3 --columns=2 randomSeekScan 2
  pe randomDelete.families --families=3 randomDelete 2
  check deleted.check
  end

  group options
  pe blockSize --blockSize=1024 sequentialWrite 2
  written
  act "$table" drop
  pe inmemory --inmemory sequentialWrite 2
  written --inmemory
  for algorithm in BASIC EAGER ADAPTIVE; do
    act "$table" drop
    pe inmemoryCompaction-$algorithm --inmemoryCompaction=$algorithm sequentialWrite 2
    pe inmemoryCompaction-$algorithm.read randomRead 2
  done
  pe splitPolicy --splitPolicy=org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy sequentialWrite 2
  pe presplit --presplit=7 sequentialWrite 2
  pe presplit.read --presplit=7 randomRead 2
  pe presplit.multiGet --presplit=7 --multiGet=100 randomRead 2
  pe presplit.scan --presplit=7 scan 2
  pe presplit.reverseScan --presplit=7 reverseScan 2
  check presplit.check rows=$((rows * 2))
  pe presplit.again --presplit=3 randomWrite 2
  pe tags.plain --usetags --numoftags=3 sequentialWrite 2
  pe tags.read randomRead 2
  end

  group transport
  local gzip=-Dhbase.client.rpc.compressor=org.apache.hadoop.io.compress.GzipCodec
  step write.tags pe $codec "--table=$table" --rows="$rows" --usetags --numoftags=3 sequentialWrite 2
  step read.tags pe $codec "--table=$table" --rows="$rows" randomRead 2
  act "$table" flush
  act "$table" major
  step scan.tags pe $codec "--table=$table" --rows="$rows" scan 2
  step write.gzip pe $gzip "--table=$table" --rows="$rows" sequentialWrite 2
  step read.gzip pe $gzip "--table=$table" --rows="$rows" --multiGet=100 randomRead 2
  step scan.gzip pe $gzip "--table=$table" --rows="$rows" scan 2
  pe write.noCodec -Dhbase.client.default.rpc.codec= sequentialWrite 2
  pe read.noCodec -Dhbase.client.default.rpc.codec= randomRead 2
  pe scan.noCodec -Dhbase.client.default.rpc.codec= scan 2
  pe increment.noCodec -Dhbase.client.default.rpc.codec= increment 2
  pe blocking -Dhbase.rpc.client.impl=org.apache.hadoop.hbase.ipc.BlockingRpcClient randomRead 5
  pe master.registry -Dhbase.client.registry.impl=org.apache.hadoop.hbase.client.RpcConnectionRegistry \
    -Dhbase.client.bootstrap.servers="${BOOTSTRAP:-localhost:16020}" randomRead 2
  check check rows=$((rows * 2))
  end

  group disturbed
  pe sequentialWrite --presplit=2 sequentialWrite 3
  local action
  for action in flush major split; do
    disturbed $action sequentialWrite sequentialWrite 5
    check $action.check rows=$((rows * 5))
    disturbed $action randomRead --multiGet=10 randomRead 5
    disturbed $action scan scan 5
    disturbed $action scanRange1000 --sampleRate=0.05 scanRange1000 5
    disturbed $action asyncRandomWrite asyncRandomWrite 5
    disturbed $action increment increment 5
    check $action.increment.check "sum=IncrementTest:$((rows * 5 * (1 + sums)))"
    sums=$((sums + 1))
  done
  end
  meta
  if [ -n "$binary" ]; then
    ended restart
    ended kill
  fi
}

# ended stop|kill: the server ends after each kind of write and under load; everything is read back after it.
ended() {
  group "$1"
  local clients state
  for clients in 1 5 25; do
    pe sequentialWrite.$clients sequentialWrite $clients
    act "$table" "$1"
    check check.$clients rows=$((rows * clients)) cells=$((rows * clients)) length=0:1000
    pe randomRead.$clients randomRead $clients
    pe randomRead.multiGet.$clients --multiGet=100 randomRead $clients
    pe scan.$clients scan $clients
    few scanRange1000.$clients 100 scanRange1000 $clients
  done
  for state in flush major split; do
    pe $state.randomWrite --oneCon=true randomWrite 25
    act "$table" $state
    act "$table" "$1"
    check $state.check rows=$((rows * 25)) length=0:1000
  done
  act "$table" drop
  pe sequentialWrite.tags --columns=2 --compress=ZSTD --blockEncoding=FAST_DIFF --presplit=3 sequentialWrite 5
  cas 5
  act "$table" "$1"
  check increment.after "sum=IncrementTest:$((rows * 5))"
  check append.after length=AppendTest:$((26 * 5))
  pe sequentialDelete sequentialDelete 5
  act "$table" "$1"
  check sequentialDelete.check rows=0
  end

  group "during-$1"
  pe sequentialWrite --presplit=2 sequentialWrite 5
  sums=0
  for clients in 1 5 25; do
    disturbed "$1" sequentialWrite.$clients --autoFlush sequentialWrite $clients
    check sequentialWrite.$clients.check length=0:1000
    disturbed "$1" increment.$clients increment $clients
    sums=$((sums + clients))
    check increment.$clients.check "sum=IncrementTest:$((rows * sums))"
  done
  check rows.check rows=$((rows * 25))
  disturbed "$1" asyncRandomWrite asyncRandomWrite 5
  disturbed "$1" randomRead --multiGet=10 randomRead 25
  disturbed "$1" scan scan 25
  disturbed "$1" checkAndPut checkAndPut 5
  check check rows=$((rows * 25))
  end
}
sums=0
disturbed() { step "$1.$2" during "$1" "$table" pe "--table=$table" "--rows=$rows" "${@:3}"; }

binary=
if [ -n "$conf" ] && [ ! -d "$conf" ]; then binary=$(realpath "$conf"); fi
cases=$(mktemp)
trap 'rm -f "$cases" "$cases.again"' EXIT
if [ -n "$binary" ] && [ -z "$list" ]; then
  conf=$(mktemp -d)
  echo "$binary" > "$conf/binary"
  trap 'server "$conf" kill; rm -rf "$cases" "$cases.again" "$conf"' EXIT
  server "$conf" start
  export PE_SWEEP_SERVER="$0 --server $conf" BOOTSTRAP=localhost:$(cut -d' ' -f3 "$conf/ports")
fi
if [ -n "$smoke" ]; then small > "$cases"; else everything > "$cases"; fi
awk -F'\t' -v f="$filter" 'NR == FNR { split($1, p, "/"); if ($1 ~ f) wanted[p[1]]; next } { split($1, p, "/") } p[1] in wanted' \
  "$cases" "$cases" > "$cases.again"
if [ -n "$list" ]; then cat "$cases.again"; exit; fi
logs=$here/target/pe-sweep
rm -rf "$logs"
CLIENT_HEAP=${CLIENT_HEAP:-1500m} "$here/bench/hbase.sh" client "$conf" "$here/compat/pe/PeSweep.java" "$logs" < "$cases.again"
