package martite.model;

import static martite.model.Step.bytes;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;

/** One of the two servers, and its table of the seed at hand. */
final class Side implements AutoCloseable {
  private final Connection connection;
  private final Admin admin;
  private TableName name;
  private Table table;
  private long lastMs;

  Side(String zookeeper) throws IOException {
    Configuration conf = HBaseConfiguration.create();
    int colon = zookeeper.lastIndexOf(':');
    conf.set("hbase.zookeeper.quorum", zookeeper.substring(0, colon));
    conf.set("hbase.zookeeper.property.clientPort", zookeeper.substring(colon + 1));
    conf.setInt("hbase.client.retries.number", 5);
    conf.setInt("hbase.client.pause", 50);
    connection = ConnectionFactory.createConnection(conf);
    admin = connection.getAdmin();
  }

  Table table() {
    return table;
  }

  void create(String called, OptionSet options) throws IOException {
    name = TableName.valueOf(called);
    admin.createTable(options.table(called), options.isSplit() ? new byte[][] { bytes(Step.SPLIT) } : null);
    table = connection.getTable(name);
  }

  void drop() throws IOException {
    table.close();
    admin.disableTable(name);
    admin.deleteTable(name);
  }

  void flush() throws IOException {
    admin.flush(name);
  }

  void compact() throws IOException {
    admin.majorCompact(name);
    while (admin.getCompactionState(name) != CompactionState.NONE) {
      Thread.onSpinWait();
    }
  }

  /** Two steps never write at the same millisecond of the server's clock, which is this machine's. */
  void tick() {
    while (System.currentTimeMillis() <= lastMs + 1) {
      Thread.onSpinWait();
    }
    lastMs = System.currentTimeMillis();
  }

  String everything(boolean raw, long hourAgo) {
    List<Result> results = new ArrayList<>();
    Scan scan = new Scan().setRaw(raw).readAllVersions();
    try (ResultScanner scanner = table.getScanner(scan)) {
      scanner.forEach(results::add);
    } catch (IOException | RuntimeException e) {
      return Show.thrown(e);
    }
    return Show.cells(results, hourAgo);
  }

  @Override
  public void close() throws IOException {
    admin.close();
    connection.close();
  }
}
