// A table from its creation to its end, with HBase's own client:
//   mvn -q dependency:copy-dependencies -DoutputDirectory=target/lib
//   java -cp 'target/lib/*' Tour.java [QUORUM]
import static org.apache.hadoop.hbase.util.Bytes.toBytes;

import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.*;
import org.apache.hadoop.hbase.util.Bytes;

public class Tour {
  public static void main(String[] args) throws Exception {
    var conf = HBaseConfiguration.create();
    conf.set("hbase.zookeeper.quorum", args.length > 0 ? args[0] : "localhost:2181");
    try (var connection = ConnectionFactory.createConnection(conf); var admin = connection.getAdmin()) {
      var name = TableName.valueOf("tour_java");
      admin.createTable(TableDescriptorBuilder.newBuilder(name)
          .setColumnFamily(ColumnFamilyDescriptorBuilder.of("f")).build());
      try (var table = connection.getTable(name)) {
        for (var city : new String[] {"Kiruna", "Lima", "Luanda"}) {
          table.put(new Put(toBytes(city)).addColumn(toBytes("f"), toBytes("letters"), toBytes("" + city.length())));
        }
        System.out.println("get   " + table.get(new Get(toBytes("Lima"))));
        table.incrementColumnValue(toBytes("Lima"), toBytes("f"), toBytes("visits"), 2);
        try (var rows = table.getScanner(new Scan().setStartStopRowForPrefixScan(toBytes("L")))) {
          for (var row : rows) {
            System.out.println("scan  " + Bytes.toString(row.getRow()) + ", cells: " + row.size());
          }
        }
      }
      admin.disableTable(name);
      admin.deleteTable(name);
      System.out.println("end   exists: " + admin.tableExists(name));
    }
  }
}
