#!/bin/bash
# Files both ways between Martite and HBase 2.6.4's own classes: see README.md.
#   check.sh tool [WORK]              both writers, both readers
#   check.sh server ZOOKEEPER ROOT [WORK]   what a running server wrote: HFilePrettyPrinter, WALPrettyPrinter, snapshots, bulk loads and more
# HBASE_CLASSPATH is resolved with Maven when it is not given. Files of both writers are kept in WORK when something differs.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=${CARGO_TARGET_DIR:-$here/../../target}
mode=${1:?tool or server}
shift
if [ "$mode" = server ]; then zookeeper=$1 root=$2; shift 2; fi
work=${1:-$(mktemp -d)}
mkdir -p "$work/classes" "$target"

if [ -z "${HBASE_CLASSPATH:-}" ]; then
  kept=$target/files-classpath
  if [ ! -s "$kept" ] || [ "$here/pom.xml" -nt "$kept" ]; then
    mvn -q -B -f "$here/pom.xml" dependency:build-classpath -Dmdep.outputFile="$kept" >&2
  fi
  HBASE_CLASSPATH=$(cat "$kept")
fi
classpath=$work/classes:$here:$HBASE_CLASSPATH
javac -nowarn -d "$work/classes" -cp "$HBASE_CLASSPATH" "$here"/*.java 2> "$work/javac.log" || { cat "$work/javac.log"; exit 1; }
hbase() {
  java -Xmx1g --add-opens java.base/java.nio=ALL-UNNAMED --add-opens java.base/java.lang=ALL-UNNAMED -cp "$classpath" "$@"
}

if [ "$mode" = server ]; then
  for check in ServerFiles SnapshotFiles BulkLoads; do
    hbase "org.apache.hadoop.hbase.regionserver.$check" "$zookeeper" "$root" "$work" 2> "$work/java.log" ||
      { tail -n 30 "$work/java.log"; echo "see $work"; exit 1; }
  done
  exit
fi

# As `cargo xtask e2e` builds.
(cd "$here" && cargo test -q --workspace --no-run)
cases=()
for encoding in NONE PREFIX DIFF FAST_DIFF ROW_INDEX_V1; do
  for compression in NONE GZ SNAPPY LZ4 ZSTD; do
    cases+=("rows=1500 compression=$compression encoding=$encoding block=1024 index=400 bloomblock=512 tags=1 dictionary=1")
  done
  for flags in "tags=0 mvcc=0" "tags=0 mvcc=1" "tags=1 mvcc=0" "tags=1 mvcc=1"; do
    cases+=("rows=300 encoding=$encoding block=2000 $flags")
  done
done
for bloom in NONE ROW ROWCOL ROWPREFIX_FIXED_LENGTH; do
  cases+=("rows=20000 bloom=$bloom bloomblock=2048 block=8192" "rows=3000 bloom=$bloom" "rows=1 bloom=$bloom")
done
cases+=("rows=0" "rows=500 meta=1 block=1000 index=500 bloom=NONE" "rows=30000 block=512 index=1000")
# Over 100 MB, three levels of index.
cases+=("rows=52000 fill=400 block=16384 index=2048 tags=1 mvcc=1")
# The other layout of ZSTD: only read.
blocks=()
for encoding in NONE FAST_DIFF; do
  blocks+=("rows=1500 compression=ZSTD encoding=$encoding block=1024 index=400 tags=1 dictionary=1"
    "rows=3000 compression=ZSTD encoding=$encoding block=600000 fill=200")
done

# How many rows the filters are asked about; each answer reads a block.
asked() { echo $(($1 > 5000 ? 5000 : $1)); }

for i in "${!cases[@]}"; do
  read -r -a options <<< "${cases[$i]}"
  asked=$(asked "${options[0]#rows=}")
  "$target/debug/examples/hfile_write" "$work/martite-$i" "${options[@]}"
  echo "write $work/hbase-$i ${options[*]}"
  for writer in martite hbase; do
    echo "dump $work/$writer-$i $work/$writer-$i.by-hbase $asked"
  done
done > "$work/commands"
for i in "${!blocks[@]}"; do
  echo "write $work/blocks-$i ${blocks[$i]}"
  echo "dump $work/blocks-$i $work/blocks-$i.by-hbase"
done > "$work/commands-blocks"
hbase org.apache.hadoop.hbase.regionserver.HFileTool < "$work/commands" > "$work/java.log" 2>&1 ||
  { tail -n 20 "$work/java.log"; exit 1; }
hbase -Dzstd.codec=martite.files.ZstdBlockCodec org.apache.hadoop.hbase.regionserver.HFileTool \
  < "$work/commands-blocks" >> "$work/java.log" 2>&1 || { tail -n 20 "$work/java.log"; exit 1; }

failed=0
differ() { failed=1; echo "DIFFERENT: $1"; }
dump() { "$target/debug/examples/hfile_dump" "$work/$1" "${2:-0}" > "$work/$1.by-martite" || differ "Martite cannot read $1"; }
for i in "${!cases[@]}"; do
  read -r -a options <<< "${cases[$i]}"
  asked=$(asked "${options[0]#rows=}")
  for writer in martite hbase; do
    dump "$writer-$i" "$asked"
    cmp -s "$work/$writer-$i.by-martite" "$work/$writer-$i.by-hbase" || differ "readers of a file by $writer: ${cases[$i]}"
  done
  cmp -s "$work/martite-$i.by-martite" "$work/hbase-$i.by-martite" || differ "cells: ${cases[$i]}"
  case ${cases[$i]} in
    *compression=[!N]*) ;;
    *) cmp -s "$work/martite-$i" "$work/hbase-$i" || differ "bytes: ${cases[$i]}" ;;
  esac
  size=$(wc -c < "$work/hbase-$i")
  # Large ones take too much room to keep.
  if [ $failed = 0 ]; then rm "$work"/{martite,hbase}-"$i"{,.by-*}; fi
done
if [ "$size" -lt 100000000 ]; then differ "the last file has only $size bytes"; fi
for i in "${!blocks[@]}"; do
  dump "blocks-$i"
  cmp -s "$work/blocks-$i.by-martite" "$work/blocks-$i.by-hbase" || differ "readers of a file of HBase's ZSTD codec: ${blocks[$i]}"
done
if [ $failed = 0 ]; then
  echo "files: ${#cases[@]} kinds agree, the last of $((size / 1000000)) MB; ${#blocks[@]} more in ZSTD's other layout are read"
else
  echo "see $work"
fi
exit $failed
