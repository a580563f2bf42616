# To be sourced by benchmarks whose clients are HBase's.

# usage: what the script says at its head.
usage() { awk 'NR > 1 { if (!/^#/) exit; print }' "$0" >&2; exit 2; }

# machine: a line about this machine, and the date.
machine() {
  echo "Machine: $(nproc) cores ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)), $(awk '/MemTotal/ { print int($2 / 1048576) }' /proc/meminfo) GiB, $(uname -sr). $(date -u +%F)."
}

# set_up: `work`, a folder for all there is; in it `conf`, the clients' configuration, and what `compile` makes. `out` gets its folder.
set_up() {
  work=$(mktemp -d)
  conf=$work/conf
  mkdir -p "$(dirname "$out")" "$conf" "$work/classes"
}

# compile FILE: a client of ours.
compile() {
  "$here/hbase.sh" classpath > "$work/classpath"
  javac -nowarn -Xlint:none -d "$work/classes" -cp "$(cat "$work/classpath")" "$here/$1"
}

# start_martite FILE WORK CONF ARGS…: starts the server FILE on free ports, with its data, its log and what it says when it is ready below WORK.
# `server` is its process; CONF/hbase-site.xml leads clients to it.
start_martite() {
  local file=$1 work=$2 conf=$3; shift 3
  "$file" start --data "$work/data" --hostname localhost --zookeeper-port 0 --master-port 0 --regionserver-port 0 "$@" \
    > "$work/ready" 2> "$work/server.log" &
  server=$!
  until grep -qs '^ready' "$work/ready"; do
    kill -0 "$server" || { tail "$work/server.log" >&2; exit 1; }
    sleep 0.01
  done
  cat > "$conf/hbase-site.xml" <<XML
<configuration>
  <property><name>hbase.zookeeper.quorum</name><value>localhost</value></property>
  <property><name>hbase.zookeeper.property.clientPort</name><value>$(sed -n 's/.*zookeeper=[^ ]*:\([0-9]*\).*/\1/p' "$work/ready")</value></property>
</configuration>
XML
}

# stop_server: ends `server`, if there is one, and waits for its end.
stop_server() {
  if [ -n "$server" ]; then kill "$server" 2> /dev/null || true; while kill -0 "$server" 2> /dev/null; do sleep 0.1; done; fi
  server=''
}
