package org.janusgraph;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.janusgraph.diskstorage.configuration.ModifiableConfiguration;
import org.janusgraph.diskstorage.configuration.WriteConfiguration;
import org.janusgraph.diskstorage.hbase.HBaseStoreManager;
import org.janusgraph.graphdb.configuration.GraphDatabaseConfiguration;
import org.janusgraph.graphdb.database.idassigner.placement.SimpleBulkPlacementStrategy;
import org.testcontainers.lifecycle.Startable;

/** Stands in for the tests' Docker container: the server runs already, hbase-site.xml says where. */
public class HBaseContainer implements Startable {
  public HBaseContainer() {}

  public HBaseContainer(boolean sharedRoot) {}

  @Override
  public void start() {}

  @Override
  public void stop() {}

  /** The server's root directory, for tests that read snapshots from the file system. */
  public Path getHBaseRootDir() {
    return Paths.get(System.getProperty("hbase.root", "target/no-root"));
  }

  public void createSnapshot(String snapshot, String table) throws IOException {
    try (Connection c = ConnectionFactory.createConnection(HBaseConfiguration.create()); Admin admin = c.getAdmin()) {
      admin.snapshot(snapshot, TableName.valueOf(table));
    }
  }

  public void deleteSnapshot(String snapshot) throws IOException {
    try (Connection c = ConnectionFactory.createConnection(HBaseConfiguration.create()); Admin admin = c.getAdmin()) {
      admin.deleteSnapshot(snapshot);
    }
  }

  public WriteConfiguration getWriteConfiguration() {
    return getModifiableConfiguration().getConfiguration();
  }

  public ModifiableConfiguration getModifiableConfiguration() {
    return getNamedConfiguration(null, null);
  }

  public ModifiableConfiguration getNamedConfiguration(String table, String graph) {
    ModifiableConfiguration conf = GraphDatabaseConfiguration.buildGraphConfiguration();
    conf.set(GraphDatabaseConfiguration.STORAGE_BACKEND, "hbase");
    conf.set(GraphDatabaseConfiguration.STORAGE_HOSTS, new String[] {"localhost"});
    conf.set(GraphDatabaseConfiguration.TIMESTAMP_PROVIDER, HBaseStoreManager.PREFERRED_TIMESTAMPS);
    conf.set(GraphDatabaseConfiguration.DROP_ON_CLEAR, Boolean.getBoolean("kit.drop"));
    conf.set(SimpleBulkPlacementStrategy.CONCURRENT_PARTITIONS, 1);
    // On a loaded machine a lock's three writes miss the default of 100 ms, whatever the server.
    Long lock = Long.getLong("kit.lock.ms");
    if (lock != null) conf.set(GraphDatabaseConfiguration.LOCK_WAIT, Duration.ofMillis(lock));
    if (table != null && !table.isEmpty()) conf.set(HBaseStoreManager.HBASE_TABLE, table);
    if (graph != null && !graph.isEmpty()) conf.set(GraphDatabaseConfiguration.GRAPH_NAME, graph);
    return conf;
  }
}
