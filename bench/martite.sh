# To be sourced by benchmarks whose clients are HBase's.
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
