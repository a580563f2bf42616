package martite.compat;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;

/** The server under test, named by system properties, and the one connection that most tests share. */
public final class Server {
  public static final String ZK = System.getProperty("server.zk", "localhost:2181");
  public static final String MASTERS = System.getProperty("server.masters", "localhost:16000");

  private static Connection shared;

  private Server() {}

  /** A client's configuration, found through ZooKeeper, with timeouts that show a hang within a test's time. */
  public static Configuration configuration() {
    Configuration conf = HBaseConfiguration.create();
    int colon = ZK.lastIndexOf(':');
    conf.set("hbase.zookeeper.quorum", ZK.substring(0, colon));
    conf.set("hbase.zookeeper.property.clientPort", ZK.substring(colon + 1));
    conf.setInt("hbase.client.retries.number", 8);
    conf.setInt("hbase.client.pause", 50);
    conf.setInt("hbase.rpc.timeout", 30_000);
    conf.setInt("hbase.client.operation.timeout", 60_000);
    conf.setInt("hbase.client.meta.operation.timeout", 60_000);
    return conf;
  }

  public static synchronized Connection connection() {
    if (shared == null) {
      try {
        shared = ConnectionFactory.createConnection(configuration());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      Runtime.getRuntime().addShutdownHook(new Thread(() -> {
        try {
          shared.close();
        } catch (IOException e) {
          System.err.println("closing the connection: " + e);
        }
      }));
    }
    return shared;
  }
}
