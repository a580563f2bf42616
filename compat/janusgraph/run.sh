#!/bin/bash
# compat/janusgraph/run.sh PORT [CLASS ...]
# JanusGraph's own tests of its HBase backend against a server that was started with --hostname localhost; PORT is its ZooKeeper port.
# Without classes: all, in order. A class may be given by its short name. Prints one line a class and the failed tests.
# OUT (target/PORT): logs. LIMIT: seconds for one class (1200). ROOT: the server's root directory (only the snapshot
# input format reads it). SELECT: console launcher selectors instead of the whole class, such as "-m CLASS#method".
# NAME: the name that the output gets. JOPTS: more JVM options, such as -Dkit.skip=METHODS, -Dkit.only=METHODS (regular
# expressions), -Dkit.part=0/4, -Dkit.lock.ms=1000 (JanusGraph's lock wait, 100 otherwise: raise it on a loaded machine), -Dkit.drop=true
# (drop tables to clear them). SKIP: a pattern of classes to leave out.
# TAGS: empty to run the performance, memory and brittle tests too (HBaseGraphConcurrentTest has no others).
set -u
cd "$(dirname "$0")"
port=${1:?usage: run.sh PORT [CLASS ...]}; shift
s=org.janusgraph.diskstorage.hbase g=org.janusgraph.graphdb.hbase h=org.janusgraph.hadoop
all=($s.HBaseStoreTest $s.HBaseStoreManagerConfigTest $s.HBaseDistributedStoreManagerTest $s.HBaseMultiWriteStoreTest
  $s.HBaseLockStoreTest $s.HBaseIDAuthorityTest $s.HBaseLogTest $s.HBaseStoreManagerMutationTest
  $g.HBaseOperationCountingTest $g.HBasePartitionGraphTest $g.HBaseCustomIdTest $g.HBaseLuceneCustomIdTest
  $g.HBaseOLAPTest $g.HBaseGraphConcurrentTest $h.HBaseInputFormatIT $h.HBaseSnapshotInputFormatIT
  $h.HBaseIndexManagementIT $h.HBaseCustomIdSparkTest $g.HBaseGraphTest)
out=${OUT:-target/$port}; mkdir -p "$out"
if [ ! -s target/cp ] || [ pom.xml -nt target/cp ] || [ ! -d target/classes ]; then
  mvn -q -B compile dependency:build-classpath -Dmdep.outputFile=target/cp > "$out/mvn.log" 2>&1 || { cat "$out/mvn.log"; exit 2; }
fi
mkdir -p target/test-classes  # the input format tests read their properties from there
for j in $(tr ':' '\n' < target/cp | grep -E 'janusgraph-(hbase|hadoop)-[^/]*-tests.jar$'); do unzip -qo "$j" '*.properties' -d target/test-classes; done
opens=()
for p in lang lang.invoke lang.reflect nio util util.concurrent util.concurrent.atomic io net security; do opens+=(--add-opens "java.base/java.$p=ALL-UNNAMED"); done
for p in nio.ch nio.cs util.calendar security.action; do opens+=(--add-opens "java.base/sun.$p=ALL-UNNAMED"); done
opens+=(--add-opens java.base/jdk.internal.ref=ALL-UNNAMED)
declare -A full; for c in "${all[@]}"; do full[${c##*.}]=$c; done
[ $# -gt 0 ] || set -- "${all[@]}"
bad=0
printf '%-34s %5s %6s %6s %7s %6s\n' class run passed failed skipped time
for c; do
  n=${c##*.}; c=${full[$n]:-$c}; [[ -n ${SKIP:-} && $n =~ $SKIP ]] && continue
  n=${NAME:-$n}; f=$out/$n; rm -f "$f".*; t=$SECONDS
  # shellcheck disable=SC2086
  timeout -k 20 "${LIMIT:-1200}" java -ea -Xmx1g "${opens[@]}" -Dzk.port="$port" -Dhbase.root="${ROOT:-}" -Dkit.log="$f.client" -Dkit.feed="$f.feed" ${JOPTS:-} \
    -cp "target/classes:$(cat target/cp)" org.junit.platform.console.ConsoleLauncher execute ${SELECT:--c $c} \
    ${TAGS--T MEMORY_TESTS -T PERFORMANCE_TESTS -T BRITTLE_TESTS} --details=none --disable-banner --disable-ansi-colors > "$f.log" 2>&1 < /dev/null
  rc=$?
  touch "$f.feed"; k() { grep -cE "^$1 " "$f.feed"; }
  p=$(k PASS) x=$(k FAIL) a=$(k SKIP) note=
  case $rc in 0 | 1) ;; 124 | 137) note=" stopped at the limit" ;; *) note=" exit code $rc" ;; esac
  printf '%-34s %5d %6d %6d %7d %5ds%s\n' "$n" $((p + x)) "$p" "$x" "$a" $((SECONDS - t)) "$note"
  grep -E '^FAIL ' "$f.feed" | sed 's/^/    /'
  [ "$x" = 0 ] && [ -z "$note" ] || bad=1
done
exit $bad
