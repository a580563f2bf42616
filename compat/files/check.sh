#!/bin/bash
# Both writers, both readers: see README.md.
set -euo pipefail
: "${HBASE_CLASSPATH:?the class path of an HBase 2.6 server}"
here=$(cd "$(dirname "$0")" && pwd)
work=${1:-$(mktemp -d)}
target=${CARGO_TARGET_DIR:-$here/../../target}/debug/examples
mkdir -p "$work/classes"
(cd "$here" && cargo build -q -p martite-hfile --examples)
javac -nowarn -d "$work/classes" -cp "$HBASE_CLASSPATH" "$here/HFileTool.java" 2> "$work/javac.log" || { cat "$work/javac.log"; exit 1; }

cases=()
for encoding in NONE PREFIX DIFF FAST_DIFF ROW_INDEX_V1; do
  for compression in NONE GZ ${HBASE_CODECS:-}; do
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

for i in "${!cases[@]}"; do
  read -r -a options <<< "${cases[$i]}"
  rows=${options[0]#rows=}
  "$target/hfile_write" "$work/martite-$i" "${options[@]}"
  echo "write $work/hbase-$i ${options[*]}"
  for writer in martite hbase; do
    echo "dump $work/$writer-$i $work/$writer-$i.by-hbase ${rows#0}"
  done
done > "$work/commands"
java --add-opens java.base/java.nio=ALL-UNNAMED --add-opens java.base/java.lang=ALL-UNNAMED \
  -cp "$work/classes:$HBASE_CLASSPATH" org.apache.hadoop.hbase.regionserver.HFileTool < "$work/commands" > "$work/java.log" 2>&1 ||
  { tail -n 20 "$work/java.log"; exit 1; }

failed=0
differ() { failed=1; echo "DIFFERENT: $1: ${cases[$i]}"; }
for i in "${!cases[@]}"; do
  read -r -a options <<< "${cases[$i]}"
  rows=${options[0]#rows=}
  for writer in martite hbase; do
    "$target/hfile_dump" "$work/$writer-$i" ${rows#0} > "$work/$writer-$i.by-martite"
    cmp -s "$work/$writer-$i.by-martite" "$work/$writer-$i.by-hbase" || differ "readers of a file by $writer"
  done
  cmp -s "$work/martite-$i.by-martite" "$work/hbase-$i.by-martite" || differ "cells"
  case ${cases[$i]} in
    *compression=[!N]*) ;;
    *) cmp -s "$work/martite-$i" "$work/hbase-$i" || differ "bytes" ;;
  esac
done
[ $failed = 0 ] && echo "${#cases[@]} kinds of files agree"
exit $failed
