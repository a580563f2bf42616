import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ConnectionFactory;

/** Flushes a table, so that reads find it in files. */
public class Flush {
  public static void main(String[] args) throws Exception {
    try (var connection = ConnectionFactory.createConnection(HBaseConfiguration.create());
      var admin = connection.getAdmin()) {
      admin.flush(TableName.valueOf(args[0]));
    }
  }
}
