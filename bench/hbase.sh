#!/bin/bash
# Apache HBase 2.6.4 from Maven Central: a server to compare with, and its stock client programs.
#   hbase.sh start DIR            standalone server on its own ports, data and logs below DIR
#   hbase.sh stop DIR
#   hbase.sh client CONF CLASS …  a class of HBase as a client of the server that CONF/hbase-site.xml names
#   hbase.sh classpath            resolved once, kept in the user's cache folder
# HEAP (6g), DIRECT (6g), BUCKET (MiB of off-heap block cache, 4096), QUOTAS (false), HSYNC (false), CLIENT_HEAP (2g).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/martite-bench
zk=${ZK_PORT:-2381} master=${MASTER_PORT:-16200} rs=${RS_PORT:-16220}

java_flags=(-XX:+UseG1GC)
for package in lang lang.reflect nio util util.concurrent io net; do
  java_flags+=(--add-opens "java.base/java.$package=ALL-UNNAMED")
done
java_flags+=(--add-opens java.base/sun.nio.ch=ALL-UNNAMED --add-opens java.base/jdk.internal.ref=ALL-UNNAMED
  --add-exports java.base/jdk.internal.misc=ALL-UNNAMED --add-exports java.base/sun.net.util=ALL-UNNAMED
  --add-exports java.security.jgss/sun.security.krb5=ALL-UNNAMED --add-exports java.base/sun.net.dns=ALL-UNNAMED)

classpath() {
  mkdir -p "$cache"
  if [ ! -s "$cache/classpath" ] || [ "$here/pom.xml" -nt "$cache/classpath" ]; then
    mvn -q -B -f "$here/pom.xml" dependency:build-classpath -Dmdep.outputFile="$cache/classpath" >&2
  fi
  cat "$cache/classpath"
}

property() { printf '  <property><name>%s</name><value>%s</value></property>\n' "$1" "$2"; }

site() {
  echo '<configuration>'
  property hbase.rootdir "file://$1/root"
  property hbase.tmp.dir "$1/tmp"
  property hbase.zookeeper.property.dataDir "$1/zookeeper"
  property hbase.zookeeper.quorum localhost
  property hbase.zookeeper.property.clientPort "$zk"
  property hbase.master.port "$master"
  property hbase.regionserver.port "$rs"
  property hbase.master.hostname localhost
  property hbase.regionserver.hostname localhost
  property hbase.master.info.port -1
  property hbase.regionserver.info.port -1
  property hbase.cluster.distributed false
  property hbase.unsafe.stream.capability.enforce false
  property hbase.bucketcache.ioengine offheap
  property hbase.bucketcache.size "${BUCKET:-4096}"
  property hfile.block.cache.size 0.2
  property hbase.quota.enabled "${QUOTAS:-false}"
  property hbase.wal.hsync "${HSYNC:-false}"
  echo '</configuration>'
}

log_settings() {
  cat <<'LOG'
log4j.rootLogger=${bench.log},stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=%d{ISO8601} %-5p [%t] %c{2}: %m%n
LOG
}

case ${1:-} in
  classpath) classpath ;;
  start)
    mkdir -p "$2/conf"
    dir=$(cd "$2" && pwd)
    site "$dir" > "$dir/conf/hbase-site.xml"
    log_settings > "$dir/conf/log4j.properties"
    path=$(classpath)
    nohup java "${java_flags[@]}" -Xms"${HEAP:-6g}" -Xmx"${HEAP:-6g}" -XX:MaxDirectMemorySize="${DIRECT:-6g}" \
      -Dbench.log=INFO -cp "$dir/conf:$path" org.apache.hadoop.hbase.master.HMaster start \
      > "$dir/server.log" 2>&1 < /dev/null &
    echo $! > "$dir/pid"
    for _ in $(seq 240); do
      if grep -q 'Master has completed initialization' "$dir/server.log"; then exit 0; fi
      kill -0 "$(cat "$dir/pid")" 2> /dev/null || { tail -n 20 "$dir/server.log" >&2; exit 1; }
      sleep 0.5
    done
    echo "HBase was not up after two minutes, see $dir/server.log" >&2
    exit 1 ;;
  stop)
    pid=$(cat "$2/pid")
    kill "$pid" 2> /dev/null || exit 0
    for _ in $(seq 120); do kill -0 "$pid" 2> /dev/null || exit 0; sleep 0.5; done
    kill -9 "$pid" ;;
  client)
    conf=$2; shift 2
    mkdir -p "$cache/log"
    log_settings > "$cache/log/log4j.properties"
    exec java "${java_flags[@]}" -Xmx"${CLIENT_HEAP:-2g}" -Dbench.log="${LOG:-INFO}" \
      -cp "$conf:$cache/log:$(classpath)" "$@" ;;
  *) sed -n '2,7p' "$0" >&2; exit 2 ;;
esac
