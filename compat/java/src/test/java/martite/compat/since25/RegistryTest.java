package martite.compat.since25;

import static martite.compat.Text.put;
import static martite.compat.Text.rows;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import martite.compat.CompatTest;
import martite.compat.Server;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.junit.jupiter.api.Test;

/** The cluster is found without ZooKeeper. */
class RegistryTest extends CompatTest {
  /** No ZooKeeper at the address that the client would ask. */
  private static Configuration without() {
    Configuration conf = Server.configuration();
    conf.set("hbase.zookeeper.quorum", "localhost");
    conf.set("hbase.zookeeper.property.clientPort", "1");
    return conf;
  }

  private void works(Configuration conf) throws Exception {
    Table shared = newSplitTable("m");
    try (Connection own = ConnectionFactory.createConnection(conf);
        Admin ownAdmin = own.getAdmin();
        Table table = own.getTable(shared.getName());
        RegionLocator locator = own.getRegionLocator(shared.getName())) {
      put(table, "a f:x=1 | z f:x=2");
      assertEquals("a z", rows(table, new Scan()));
      assertEquals(2, locator.getAllRegionLocations().size());
      assertEquals(admin.getClusterMetrics().getClusterId(), ownAdmin.getClusterMetrics().getClusterId());
      ownAdmin.flush(table.getName());
    }
  }

  @Test
  void byTheMasters() throws Exception {
    Configuration conf = without();
    conf.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.MasterRegistry");
    conf.set("hbase.masters", Server.MASTERS);
    works(conf);
  }

  @Test
  void byAnyServer() throws Exception {
    Configuration conf = without();
    conf.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.RpcConnectionRegistry");
    conf.set("hbase.masters", Server.MASTERS);
    works(conf);
  }

  @Test
  void byRegionServersNamedAtTheStart() throws Exception {
    ServerName server = admin.getRegionServers().iterator().next();
    assertFalse(server.getHostname().isEmpty());
    Configuration conf = without();
    conf.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.RpcConnectionRegistry");
    conf.set("hbase.client.bootstrap.servers", server.getAddress().toString());
    works(conf);
  }
}
