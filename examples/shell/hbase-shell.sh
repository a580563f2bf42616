#!/bin/bash
# HBase's own shell on Martite: hbase-shell.sh [ZOOKEEPER_PORT [ARGUMENTS OF THE SHELL]], such as `hbase-shell.sh 2181 -n < commands`.
set -euo pipefail
folder=$(cd "$(dirname "$0")" && pwd)
conf=$folder/target/conf
mkdir -p "$conf"
[ -d "$folder/target/lib" ] || mvn -q -B -f "$folder/pom.xml" dependency:copy-dependencies -DoutputDirectory="$folder/target/lib"
cat > "$conf/hbase-site.xml" <<XML
<configuration>
  <property><name>hbase.zookeeper.quorum</name><value>localhost:${1:-2181}</value></property>
</configuration>
XML
echo 'log4j.rootLogger=OFF' > "$conf/log4j.properties"
exec java -Xmx512m --add-opens java.base/sun.nio.ch=ALL-UNNAMED --add-opens java.base/java.io=ALL-UNNAMED \
  -cp "$conf:$folder/target/lib/*" org.jruby.JarBootstrapMain "${@:2}"
