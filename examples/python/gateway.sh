#!/bin/bash
# HBase's Thrift gateway in front of Martite: gateway.sh [ZOOKEEPER_PORT [THRIFT_PORT]]; ends with ^C.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p target/conf
[ -d target/lib ] || mvn -q -B dependency:copy-dependencies -DoutputDirectory=target/lib
cat > target/conf/hbase-site.xml <<XML
<configuration>
  <property><name>hbase.zookeeper.quorum</name><value>localhost:${1:-2181}</value></property>
</configuration>
XML
echo 'log4j.rootLogger=OFF' > target/conf/log4j.properties
exec java -Xmx256m -cp 'target/conf:target/lib/*' org.apache.hadoop.hbase.thrift.ThriftServer \
  start --port "${2:-9090}" --bind localhost --infoport -1
