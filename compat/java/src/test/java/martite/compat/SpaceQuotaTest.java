package martite.compat;

import static martite.compat.Text.b;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.quotas.QuotaSettingsFactory;
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

  private void refused(String text, Action action) throws Exception {
    assertFails(DoNotRetryIOException.class, text, action);
  }

  @Test
  void noInsertsLeavesDeletes() throws Exception {
    Table table = full(SpaceViolationPolicy.NO_INSERTS);
    refused("NO_INSERTS Put" + INSERTS, () -> table.put(put("b")));
    refused("NO_INSERTS Put" + INSERTS, () -> table.put(List.of(put("b"), put("c"))));
    refused("NO_INSERTS Append" + INSERTS, () -> table.append(new Append(b("a")).addColumn(b("f"), b("q"), b("x"))));
    refused("NO_INSERTS Increment" + INSERTS, () -> table.increment(new Increment(b("n")).addColumn(b("f"), b("n"), 1)));
    refused("NO_INSERTS Put" + INSERTS,
        () -> table.mutateRow(RowMutations.of(List.of(put("a"), new Delete(b("a")).addColumns(b("f"), b("z"))))));
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
