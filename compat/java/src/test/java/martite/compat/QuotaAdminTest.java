package martite.compat;

import static martite.compat.Text.b;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.quotas.QuotaExceededException;
import org.apache.hadoop.hbase.quotas.QuotaFilter;
import org.apache.hadoop.hbase.quotas.QuotaScope;
import org.apache.hadoop.hbase.quotas.QuotaSettings;
import org.apache.hadoop.hbase.quotas.QuotaSettingsFactory;
import org.apache.hadoop.hbase.quotas.QuotaTableUtil;
import org.apache.hadoop.hbase.quotas.SpaceViolationPolicy;
import org.apache.hadoop.hbase.quotas.ThrottleType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Quotas as an administrator sets, lists and removes them; the client lists by scanning hbase:quota itself. */
@ResourceLock("the switch of throttling")
class QuotaAdminTest extends CompatTest {
  private static final String RUN = Long.toString(System.nanoTime(), 36);
  /** What throttles no other test: the region server's quota is everybody's. */
  private static final long PLENTY = 1_000_000_000;
  private final String user = "quota_user_" + RUN;
  private final String namespace = "quota_ns_" + RUN;

  @AfterEach
  void removeQuotas() throws Exception {
    admin.exceedThrottleQuotaSwitch(false);
    for (QuotaSettings quota : admin.getQuota(new QuotaFilter().setUserFilter(user + ".*"))) {
      if (quota.getTableName() != null) {
        admin.setQuota(QuotaSettingsFactory.unthrottleUser(user, quota.getTableName()));
      } else if (quota.getNamespace() != null) {
        admin.setQuota(QuotaSettingsFactory.unthrottleUser(user, quota.getNamespace()));
      } else if (quota.toString().contains("GLOBAL_BYPASS")) {
        admin.setQuota(QuotaSettingsFactory.bypassGlobals(user, false));
      } else {
        admin.setQuota(QuotaSettingsFactory.unthrottleUser(user));
      }
    }
    admin.setQuota(QuotaSettingsFactory.unthrottleNamespace(namespace));
    admin.setQuota(QuotaSettingsFactory.removeNamespaceSpaceLimit(namespace));
    admin.setQuota(QuotaSettingsFactory.unthrottleRegionServer("all"));
  }

  private TreeSet<String> list(QuotaFilter filter) throws IOException {
    return admin.getQuota(filter).stream().map(QuotaSettings::toString).collect(Collectors.toCollection(TreeSet::new));
  }

  private TreeSet<String> ofUser() throws IOException {
    return list(new QuotaFilter().setUserFilter(user));
  }

  private Result row(String row) throws IOException {
    try (Table quota = connection.getTable(TableName.valueOf("hbase:quota"))) {
      return quota.get(new Get(b(row)));
    }
  }

  private static TreeSet<String> texts(String... texts) {
    return new TreeSet<>(List.of(texts));
  }

  private void refused(String text, QuotaSettings settings) throws Exception {
    assertFails(DoNotRetryIOException.class, text, () -> admin.setQuota(settings));
  }

  @Test
  void everyOwnerHasItsOwn() throws Exception {
    TableName table = newName();
    TableName inDefault = TableName.valueOf("default", table.getNameAsString());
    admin.setQuota(QuotaSettingsFactory.throttleUser(user, ThrottleType.REQUEST_NUMBER, 1, TimeUnit.SECONDS));
    admin.setQuota(QuotaSettingsFactory.throttleUser(user, table, ThrottleType.READ_NUMBER, 2, TimeUnit.MINUTES));
    admin.setQuota(QuotaSettingsFactory.throttleUser(user, namespace, ThrottleType.WRITE_NUMBER, 3, TimeUnit.HOURS));
    admin.setQuota(
        QuotaSettingsFactory.throttleTable(inDefault, ThrottleType.READ_SIZE, 4096, TimeUnit.DAYS, QuotaScope.CLUSTER));
    admin.setQuota(
        QuotaSettingsFactory.throttleNamespace(namespace, ThrottleType.WRITE_SIZE, 5L << 20, TimeUnit.SECONDS));
    admin.setQuota(
        QuotaSettingsFactory.throttleRegionServer("all", ThrottleType.REQUEST_CAPACITY_UNIT, PLENTY, TimeUnit.SECONDS));
    assertEquals(
        texts("TYPE => THROTTLE, THROTTLE_TYPE => REQUEST_NUMBER, LIMIT => 1req/sec, SCOPE => MACHINE",
            "TYPE => THROTTLE, THROTTLE_TYPE => READ_NUMBER, LIMIT => 2req/min, SCOPE => MACHINE",
            "TYPE => THROTTLE, THROTTLE_TYPE => WRITE_NUMBER, LIMIT => 3req/hour, SCOPE => MACHINE"),
        ofUser());
    assertEquals(texts("TYPE => THROTTLE, THROTTLE_TYPE => READ_NUMBER, LIMIT => 2req/min, SCOPE => MACHINE"),
        list(new QuotaFilter().setUserFilter(user).setTableFilter(table.getNameAsString())));
    assertEquals(texts("TYPE => THROTTLE, THROTTLE_TYPE => WRITE_NUMBER, LIMIT => 3req/hour, SCOPE => MACHINE"),
        list(new QuotaFilter().setUserFilter(user).setNamespaceFilter(namespace)));
    assertEquals(texts("TYPE => THROTTLE, THROTTLE_TYPE => READ_SIZE, LIMIT => 4.00K/day, SCOPE => CLUSTER"),
        list(new QuotaFilter().setTableFilter(table.getNameAsString())));
    assertEquals(texts("TYPE => THROTTLE, THROTTLE_TYPE => WRITE_SIZE, LIMIT => 5.00M/sec, SCOPE => MACHINE"),
        list(new QuotaFilter().setNamespaceFilter(namespace)));
    assertEquals(texts("TYPE => THROTTLE, THROTTLE_TYPE => REQUEST_CAPACITY_UNIT, LIMIT => 1000000000CU/sec, SCOPE => MACHINE"),
        list(new QuotaFilter().setRegionServerFilter("all")));
    admin.setQuota(QuotaSettingsFactory.unthrottleTable(table));
    assertTrue(row("t." + table.getNameAsString()).isEmpty(), "no row is left");
  }

  @Test
  void everyTypeIsKept() throws Exception {
    ThrottleType[] types = ThrottleType.values();
    for (int i = 0; i < types.length; i++) {
      admin.setQuota(QuotaSettingsFactory.throttleUser(user, types[i], i + 1, TimeUnit.SECONDS));
    }
    assertEquals(types.length, ofUser().size(), ofUser().toString());
    for (int i = 0; i < types.length; i++) {
      assertEquals(types.length - i, admin.getQuota(new QuotaFilter().setUserFilter(user)).size());
      admin.setQuota(QuotaSettingsFactory.unthrottleUserByThrottleType(user, types[i]));
    }
    assertTrue(row("u." + user).isEmpty(), "no row is left");
  }

  @Test
  void theCellHasHBasesBytes() throws Exception {
    admin.setQuota(QuotaSettingsFactory.throttleUser(user, ThrottleType.REQUEST_NUMBER, 10, TimeUnit.SECONDS));
    byte[] expected = {'P', 'B', 'U', 'F', 0x12, 8, 0x0a, 6, 8, 4, 0x10, 10, 0x20, 2};
    assertArrayEquals(expected, row("u." + user).getValue(b("q"), b("s")));
  }

  /** Of a user's row the client reads every cell of family q as quotas; ours is beside them. */
  @Test
  void prioritiesAreNotInTheListsWay() throws Exception {
    admin.setQuota(QuotaSettingsFactory.throttleUser(user, ThrottleType.READ_NUMBER, 7, TimeUnit.SECONDS));
    try (Table quota = connection.getTable(TableName.valueOf("hbase:quota"))) {
      quota.put(new Put(b("u." + user)).addColumn(b("u"), b("priority"), b("batch")));
      assertEquals(1, admin.getQuota(new QuotaFilter().setUserFilter(user)).size());
      quota.delete(new Delete(b("u." + user)).addColumns(b("u"), b("priority")));
    }
  }

  @Test
  void usersBypassTheOthers() throws Exception {
    admin.setQuota(QuotaSettingsFactory.bypassGlobals(user, true));
    admin.setQuota(QuotaSettingsFactory.throttleUser(user, ThrottleType.WRITE_SIZE, 1 << 10, TimeUnit.SECONDS));
    assertEquals(texts("GLOBAL_BYPASS => true",
        "TYPE => THROTTLE, THROTTLE_TYPE => WRITE_SIZE, LIMIT => 1.00K/sec, SCOPE => MACHINE"), ofUser());
    admin.setQuota(QuotaSettingsFactory.unthrottleUser(user));
    assertEquals(texts("GLOBAL_BYPASS => true"), ofUser());
    admin.setQuota(QuotaSettingsFactory.bypassGlobals(user, false));
    assertEquals(texts(), ofUser());
  }

  @Test
  void spaceLimitsAreListedAndRemoved() throws Exception {
    TableName table = newName();
    admin.setQuota(QuotaSettingsFactory.limitTableSpace(table, 1L << 40, SpaceViolationPolicy.NO_INSERTS));
    admin.setQuota(QuotaSettingsFactory.throttleTable(table, ThrottleType.READ_NUMBER, 100, TimeUnit.SECONDS));
    admin.setQuota(QuotaSettingsFactory.limitNamespaceSpace(namespace, 1L << 41, SpaceViolationPolicy.NO_WRITES));
    QuotaFilter ofTable = new QuotaFilter().setTableFilter(table.getNameAsString());
    String space = "TYPE => SPACE, TABLE => " + table + ", LIMIT => 1.00T, VIOLATION_POLICY => NO_INSERTS";
    String throttle = "TYPE => THROTTLE, THROTTLE_TYPE => READ_NUMBER, LIMIT => 100req/sec, SCOPE => MACHINE";
    assertEquals(texts(space, throttle), list(ofTable));
    assertEquals(
        texts("TYPE => SPACE, NAMESPACE => " + namespace + ", LIMIT => 2.00T, VIOLATION_POLICY => NO_WRITES"),
        list(new QuotaFilter().setNamespaceFilter(namespace)));
    admin.setQuota(QuotaSettingsFactory.removeTableSpaceLimit(table));
    assertEquals(texts(throttle), list(ofTable));
    admin.setQuota(QuotaSettingsFactory.unthrottleTable(table));
    assertEquals(texts(), list(ofTable));
  }

  @Test
  void quotasGoWithTheirTable() throws Exception {
    TableName table = newName();
    admin.createTable(descriptor(table, "f").build());
    admin.setQuota(QuotaSettingsFactory.throttleTable(table, ThrottleType.READ_NUMBER, 9, TimeUnit.SECONDS));
    assertFalse(row("t." + table.getNameAsString()).isEmpty());
    admin.disableTable(table);
    admin.deleteTable(table);
    assertTrue(row("t." + table.getNameAsString()).isEmpty(), "no row is left");
  }

  @Test
  void switchesTellTheirOldState() throws Exception {
    assertTrue(admin.isRpcThrottleEnabled());
    assertTrue(admin.switchRpcThrottle(false));
    try {
      assertFalse(admin.isRpcThrottleEnabled());
      assertFalse(admin.switchRpcThrottle(false));
    } finally {
      admin.switchRpcThrottle(true);
    }
    assertTrue(admin.isRpcThrottleEnabled());
  }

  @Test
  void exceedingNeedsLimitsOfTheRegionServer() throws Exception {
    assertFails(DoNotRetryIOException.class, "Please set region server quota before enable exceed throttle quota",
        () -> admin.exceedThrottleQuotaSwitch(true));
    String server = QuotaTableUtil.QUOTA_REGION_SERVER_ROW_KEY;
    admin.setQuota(
        QuotaSettingsFactory.throttleRegionServer(server, ThrottleType.READ_NUMBER, PLENTY, TimeUnit.SECONDS));
    assertFails(DoNotRetryIOException.class, "Please set at least one write region server quota",
        () -> admin.exceedThrottleQuotaSwitch(true));
    admin.setQuota(
        QuotaSettingsFactory.throttleRegionServer(server, ThrottleType.WRITE_NUMBER, PLENTY, TimeUnit.MINUTES));
    assertFails(DoNotRetryIOException.class, "All region server quota must be in seconds time unit",
        () -> admin.exceedThrottleQuotaSwitch(true));
    admin.setQuota(
        QuotaSettingsFactory.throttleRegionServer(server, ThrottleType.WRITE_NUMBER, PLENTY, TimeUnit.SECONDS));
    assertFalse(admin.exceedThrottleQuotaSwitch(true));
    assertTrue(admin.exceedThrottleQuotaSwitch(true));
    assertTrue(admin.exceedThrottleQuotaSwitch(false));
    assertFalse(admin.exceedThrottleQuotaSwitch(false));
  }

  @Test
  void senselessLimitsAreRefused() throws Exception {
    refused("The throttle limit must be greater then 0, got 0",
        QuotaSettingsFactory.throttleUser(user, ThrottleType.READ_NUMBER, 0, TimeUnit.SECONDS));
    refused("The throttle limit must be greater then 0, got -5",
        QuotaSettingsFactory.throttleNamespace(namespace, ThrottleType.READ_NUMBER, -5, TimeUnit.SECONDS));
    assertEquals(texts(), ofUser());
  }

  @Test
  void namespacesHaveRoomForSoManyTablesAndRegions() throws Exception {
    String small = namespace + "_small";
    admin.createNamespace(NamespaceDescriptor.create(small).addConfiguration("hbase.namespace.quota.maxtables", "1")
        .addConfiguration("hbase.namespace.quota.maxregions", "2").build());
    TableName first = newName(small);
    TableName second = newName(small);
    try {
      byte[][] keys = {b("b"), b("c")};
      assertFails(QuotaExceededException.class, () -> admin.createTable(descriptor(first, "f").build(), keys));
      admin.createTable(descriptor(first, "f").build(), new byte[][] {b("b")});
      assertFails(QuotaExceededException.class, () -> admin.createTable(descriptor(second, "f").build()));
    } finally {
      if (admin.tableExists(first)) {
        admin.disableTable(first);
        admin.deleteTable(first);
      }
      admin.deleteNamespace(small);
    }
  }
}
