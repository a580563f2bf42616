package martite.compat;

import static martite.compat.Text.b;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.quotas.QuotaSettingsFactory;
import org.apache.hadoop.hbase.quotas.QuotaTableUtil;
import org.apache.hadoop.hbase.quotas.SpaceQuotaSnapshotView;
import org.apache.hadoop.hbase.quotas.SpaceViolationPolicy;
import org.apache.hadoop.hbase.security.AccessDeniedException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tables that hold more than they may; a limit is judged when it is set, so that nothing here waits for a chore. */
class SpaceQuotaTest extends CompatTest {
  private static final String INSERTS = "s are disallowed due to a space quota.";
  private TableName limited;

  @AfterEach
  void removeLimit() throws Exception {
    if (limited != null) {
      admin.setQuota(QuotaSettingsFactory.removeTableSpaceLimit(limited));
    }
  }

  private static Put put(String row) {
    return new Put(b(row)).addColumn(b("f"), b("q"), b("value"));
  }

  private Table full(SpaceViolationPolicy policy) throws Exception {
    Table table = newTable("f");
    limited = table.getName();
    table.put(put("a"));
    admin.flush(limited);
    admin.setQuota(QuotaSettingsFactory.limitTableSpace(limited, 1, policy));
    return table;
  }

  /** The exception's class is not in the client's jar; the client wraps what it cannot make. */
  private void refused(String text, Action action) {
    String trace = trace(assertFails(DoNotRetryIOException.class, action));
    assertTrue(trace.contains(text), trace);
  }

  private static String trace(Throwable thrown) {
    StringWriter trace = new StringWriter();
    thrown.printStackTrace(new PrintWriter(trace));
    return trace.toString();
  }

  @Test
  void noInsertsLeavesDeletes() throws Exception {
    Table table = full(SpaceViolationPolicy.NO_INSERTS);
    refused("NO_INSERTS Put" + INSERTS, () -> table.put(put("b")));
    refused("NO_INSERTS Append" + INSERTS, () -> table.append(new Append(b("a")).addColumn(b("f"), b("q"), b("x"))));
    refused("NO_INSERTS Increment" + INSERTS, () -> table.increment(new Increment(b("n")).addColumn(b("f"), b("n"), 1)));
    refused("NO_INSERTS Put" + INSERTS,
        () -> table.checkAndMutate(b("b"), b("f")).qualifier(b("q")).ifNotExists().thenPut(put("b")));
    assertFalse(table.exists(new Get(b("b"))));
    assertTrue(table.exists(new Get(b("a"))));
    table.delete(new Delete(b("a")));
    assertFalse(table.exists(new Get(b("a"))));
    admin.setQuota(QuotaSettingsFactory.limitTableSpace(limited, 1L << 40, SpaceViolationPolicy.NO_INSERTS));
    table.put(put("b"));
    assertTrue(table.exists(new Get(b("b"))));
  }

  /** What it cannot make from a multi's answer the client takes for something to try again. */
  @Test
  void batchesAreRefused() throws Exception {
    Table full = full(SpaceViolationPolicy.NO_INSERTS);
    Configuration conf = Server.configuration();
    conf.setInt("hbase.client.retries.number", 1);
    try (Connection impatient = ConnectionFactory.createConnection(conf); Table table = impatient.getTable(limited)) {
      RetriesExhaustedWithDetailsException e = assertFails(RetriesExhaustedWithDetailsException.class,
          () -> table.put(List.of(put("b"), put("c"))));
      assertEquals(2, e.getNumExceptions());
      assertTrue(trace(e.getCause(0)).contains("SpaceLimitingException"), trace(e.getCause(0)));
      RowMutations row = RowMutations.of(List.of(put("b"), new Delete(b("b")).addColumns(b("f"), b("z"))));
      e = assertFails(RetriesExhaustedWithDetailsException.class, () -> table.mutateRow(row));
      assertTrue(trace(e.getCause(0)).contains("SpaceLimitingException"), trace(e.getCause(0)));
    }
    assertFalse(full.exists(new Get(b("b"))));
    full.delete(new ArrayList<>(List.of(new Delete(b("a")), new Delete(b("b")))));
    assertFalse(full.exists(new Get(b("a"))));
  }

  @Test
  void noWritesRefusesDeletes() throws Exception {
    Table table = full(SpaceViolationPolicy.NO_WRITES);
    refused("NO_WRITES Put" + INSERTS, () -> table.put(put("b")));
    refused("NO_WRITES Delete" + INSERTS, () -> table.delete(new Delete(b("a"))));
    admin.compact(limited);
    admin.setQuota(QuotaSettingsFactory.removeTableSpaceLimit(limited));
    table.delete(new Delete(b("a")));
  }

  @Test
  void noWritesCompactionsRefusesCompactions() throws Exception {
    Table table = full(SpaceViolationPolicy.NO_WRITES_COMPACTIONS);
    refused("NO_WRITES_COMPACTIONS Put" + INSERTS, () -> table.put(put("b")));
    refused("disabled due to a space quota violation", () -> admin.compact(limited));
  }

  @Test
  void disableTakesTheTableAway() throws Exception {
    full(SpaceViolationPolicy.DISABLE);
    assertTrue(admin.isTableDisabled(limited));
    assertFails(AccessDeniedException.class, "violated space quota", () -> admin.enableTable(limited));
    admin.setQuota(QuotaSettingsFactory.removeTableSpaceLimit(limited));
    assertTrue(admin.isTableEnabled(limited));
  }

  @Test
  void usageIsListed() throws Exception {
    Table table = full(SpaceViolationPolicy.NO_INSERTS);
    TableName name = table.getName();
    long size = admin.getSpaceQuotaTableSizes().get(name);
    assertTrue(size > 1, "size " + size);
    SpaceQuotaSnapshotView ofMaster = admin.getCurrentSpaceQuotaSnapshot(name);
    assertEquals(size, ofMaster.getUsage());
    assertEquals(1, ofMaster.getLimit());
    assertTrue(ofMaster.getQuotaStatus().isInViolation());
    // What the shell's list_quota_snapshots and list_snapshot_sizes read.
    assertEquals(size, QuotaTableUtil.getSnapshots(connection).get(name).getUsage());
    assertTrue(QuotaTableUtil.getObservedSnapshotSizes(connection).isEmpty());
    ServerName server = admin.getClusterMetrics().getLiveServerMetrics().keySet().iterator().next();
    SpaceQuotaSnapshotView ofServer = admin.getRegionServerSpaceQuotaSnapshots(server).get(name);
    assertEquals(SpaceViolationPolicy.NO_INSERTS, ofServer.getQuotaStatus().getPolicy().get());
    admin.setQuota(QuotaSettingsFactory.removeTableSpaceLimit(name));
    assertNull(admin.getCurrentSpaceQuotaSnapshot(name));
    assertNull(admin.getRegionServerSpaceQuotaSnapshots(server).get(name));
  }

  @Test
  void aNamespaceLimitsItsTables() throws Exception {
    String namespace = "space_" + Long.toString(System.nanoTime(), 36);
    admin.createNamespace(NamespaceDescriptor.create(namespace).build());
    TableName name = newName(namespace);
    try {
      admin.createTable(descriptor(name, "f").build());
      Table table = open(name);
      table.put(put("a"));
      admin.flush(name);
      admin.setQuota(QuotaSettingsFactory.limitNamespaceSpace(namespace, 1, SpaceViolationPolicy.NO_WRITES));
      refused("NO_WRITES Put" + INSERTS, () -> table.put(put("b")));
      assertTrue(admin.getCurrentSpaceQuotaSnapshot(namespace).getQuotaStatus().isInViolation());
      admin.setQuota(QuotaSettingsFactory.removeNamespaceSpaceLimit(namespace));
      table.put(put("b"));
    } finally {
      admin.disableTable(name);
      admin.deleteTable(name);
      admin.deleteNamespace(namespace);
    }
  }
}
