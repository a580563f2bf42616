package martite.compat;

import static martite.compat.Text.b;
import static martite.compat.Text.put;
import static martite.compat.Text.rows;
import static martite.compat.Text.scan;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.ClusterMetrics;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hadoop.hbase.ServerMetrics;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.Test;

/** What operators ask of a cluster: flush, compact, split, merge, look at regions and servers. */
class AdminTest extends CompatTest {
  private RegionMetrics metrics(TableName name) throws Exception {
    ServerName server = admin.getRegionServers().iterator().next();
    List<RegionMetrics> metrics = admin.getRegionMetrics(server, name);
    assertEquals(1, metrics.size());
    return metrics.get(0);
  }

  /** Counted by the server itself, so after its next report at the latest. */
  private void untilFiles(TableName name, int wanted) throws Exception {
    eventually(wanted + " store files", () -> metrics(name).getStoreFileCount() == wanted);
  }

  @Test
  void flushesWriteFiles() throws Exception {
    Table table = newTable("f");
    TableName name = table.getName();
    untilFiles(name, 0);
    put(table, "r1 f:a=1");
    admin.flush(name);
    untilFiles(name, 1);
    admin.flush(name);
    put(table, "r2 f:a=2");
    admin.flushRegion(admin.getRegions(name).get(0).getRegionName());
    untilFiles(name, 2);
    assertEquals("r1 f:a=1 | r2 f:a=2", scan(table, new Scan()));
  }

  @Test
  void majorCompactionsLeaveOneFile() throws Exception {
    Table table = newTable("f");
    TableName name = table.getName();
    StringBuilder want = new StringBuilder();
    for (int i = 0; i < 4; i++) {
      put(table, "r" + i + " f:a=" + i);
      want.append(i == 0 ? "" : " | ").append("r").append(i).append(" f:a=").append(i);
      admin.flush(name);
    }
    admin.majorCompact(name);
    untilFiles(name, 1);
    assertEquals(want.toString(), scan(table, new Scan()));
    eventually("no compaction", () -> admin.getCompactionState(name) == CompactionState.NONE);
    assertTrue(admin.getLastMajorCompactionTimestamp(name) >= 0);
    admin.compact(name);
    admin.compactRegion(admin.getRegions(name).get(0).getRegionName());
    assertEquals(want.toString(), scan(table, new Scan()));
  }

  private Table hundred() throws Exception {
    Table table = newTable("f");
    List<Put> puts = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      puts.add(new Put(Bytes.toBytes(String.format("r%02d", i))).addColumn(b("f"), b("q"), Bytes.toBytes(i)));
    }
    table.put(puts);
    return table;
  }

  private void checkHundred(Table table) throws Exception {
    int rows = 0;
    try (ResultScanner scanner = table.getScanner(new Scan())) {
      for (Result result : scanner) {
        assertEquals(rows, Bytes.toInt(result.value()));
        rows++;
      }
    }
    assertEquals(100, rows);
    assertEquals(77, Bytes.toInt(table.get(new Get(b("r77"))).value()));
  }

  private List<String> startKeys(TableName name) throws Exception {
    return admin.getRegions(name).stream().map(r -> Bytes.toString(r.getStartKey())).sorted()
        .collect(Collectors.toList());
  }

  @Test
  void splitsAtAGivenRow() throws Exception {
    Table table = hundred();
    TableName name = table.getName();
    admin.split(name, b("r30"));
    eventually("two regions", () -> startKeys(name).equals(List.of("", "r30")));
    checkHundred(table);
    table.put(new Put(b("r29")).addColumn(b("f"), b("q"), Bytes.toBytes(29)));
    admin.flush(name);
    admin.majorCompact(name);
    checkHundred(table);
    assertEquals("r31 r30 r29", rows(table, new Scan().withStartRow(b("r31")).setReversed(true).setLimit(3)));
  }

  @Test
  void splitsInTheMiddleOfItsBytes() throws Exception {
    Table table = newTable("f");
    TableName name = table.getName();
    List<Put> puts = new ArrayList<>();
    for (int i = 0; i < 900; i++) {
      puts.add(new Put(Bytes.toBytes(String.format("%03d", i))).addColumn(b("f"), b("q"), new byte[1_000]));
    }
    table.put(puts);
    admin.flush(name);
    admin.split(name);
    eventually("two regions", () -> startKeys(name).size() == 2);
    String middle = startKeys(name).get(1);
    assertTrue(middle.compareTo("300") > 0 && middle.compareTo("600") < 0, middle);
    assertFails(IOException.class, "startkey", () -> admin.split(name, b(middle)));
    int rows = 0;
    try (ResultScanner scanner = table.getScanner(new Scan())) {
      for (Result result : scanner) {
        assertEquals(String.format("%03d", rows++), Bytes.toString(result.getRow()));
      }
    }
    assertEquals(900, rows);
  }

  @Test
  void aScanGoesOnThroughASplit() throws Exception {
    Table table = hundred();
    TableName name = table.getName();
    int rows = 0;
    try (ResultScanner scanner = table.getScanner(new Scan().setCaching(5))) {
      for (Result result : scanner) {
        assertEquals(rows, Bytes.toInt(result.value()));
        if (rows == 20) {
          admin.split(name, b("r50"));
          eventually("two regions", () -> startKeys(name).equals(List.of("", "r50")));
        }
        rows++;
      }
    }
    assertEquals(100, rows);
  }

  @Test
  void regionsAreMerged() throws Exception {
    Table table = newSplitTable("h", "p");
    TableName name = table.getName();
    put(table, "a f:x=1 | k f:x=2 | z f:x=3");
    List<RegionInfo> regions = admin.getRegions(name);
    byte[][] two = {regions.get(0).getEncodedNameAsBytes(), regions.get(1).getEncodedNameAsBytes()};
    admin.mergeRegionsAsync(two, false).get();
    eventually("two regions", () -> startKeys(name).equals(List.of("", "p")));
    assertEquals("a f:x=1 | k f:x=2 | z f:x=3", scan(table, new Scan()));
    put(table, "b f:x=4");
    assertEquals("a b k z", rows(table, new Scan()));
  }

  @Test
  void regionsAreLocated() throws Exception {
    Table table = newSplitTable("h", "p");
    try (RegionLocator locator = connection.getRegionLocator(table.getName())) {
      List<HRegionLocation> all = locator.getAllRegionLocations();
      assertEquals(3, all.size());
      Collection<ServerName> servers = admin.getRegionServers();
      for (HRegionLocation location : all) {
        assertTrue(servers.contains(location.getServerName()), location.toString());
        assertEquals(table.getName(), location.getRegion().getTable());
      }
      assertArrayEquals(b("h"), locator.getRegionLocation(b("k"), true).getRegion().getStartKey());
      assertArrayEquals(new byte[][] {b(""), b("h"), b("p")}, locator.getStartKeys());
      assertArrayEquals(new byte[][] {b("h"), b("p"), b("")}, locator.getEndKeys());
    }
    ServerName server = admin.getRegionServers().iterator().next();
    List<RegionInfo> online = admin.getRegions(server);
    assertTrue(online.stream().anyMatch(r -> r.getTable().equals(table.getName())));
    assertTrue(online.stream().anyMatch(RegionInfo::isMetaRegion));
  }

  @Test
  void metaIsATable() throws Exception {
    Table table = newSplitTable("h");
    try (Table meta = connection.getTable(TableName.META_TABLE_NAME)) {
      String name = table.getName().getNameAsString();
      Scan scan = new Scan().addFamily(b("info")).withStartRow(Bytes.toBytes(name + ",,"))
          .withStopRow(Bytes.toBytes(name + " ,,"));
      int regions = 0;
      try (ResultScanner scanner = meta.getScanner(scan)) {
        for (Result result : scanner) {
          RegionInfo info = RegionInfo.parseFrom(result.getValue(b("info"), b("regioninfo")));
          assertArrayEquals(info.getRegionName(), result.getRow());
          assertEquals("OPEN", Bytes.toString(result.getValue(b("info"), b("state"))));
          assertNotNull(result.getValue(b("info"), b("server")));
          assertNotNull(result.getValue(b("info"), b("serverstartcode")));
          assertTrue(Bytes.toLong(result.getValue(b("info"), b("seqnumDuringOpen"))) > 0);
          regions++;
        }
      }
      assertEquals(2, regions);
    }
  }

  @Test
  void theClusterIsDescribed() throws Exception {
    ClusterMetrics metrics = admin.getClusterMetrics();
    assertNotNull(metrics.getMasterName());
    assertEquals(admin.getMaster(), metrics.getMasterName());
    assertFalse(metrics.getClusterId().isEmpty());
    assertFalse(metrics.getHBaseVersion().isEmpty());
    assertEquals(0, metrics.getDeadServerNames().size());
    assertEquals(1, metrics.getLiveServerMetrics().size());
    ServerMetrics server = metrics.getLiveServerMetrics().values().iterator().next();
    assertTrue(server.getRegionMetrics().size() >= 1);
    assertTrue(server.getMaxHeapSize().getLongValue() > 0);
    assertTrue(metrics.getRegionCount() >= 1);
    ClusterMetrics only = admin.getClusterMetrics(EnumSet.of(ClusterMetrics.Option.HBASE_VERSION));
    assertEquals(metrics.getHBaseVersion(), only.getHBaseVersion());
    assertEquals(0, admin.getBackupMasters().size());
  }

  @Test
  void requestsAreCounted() throws Exception {
    Table table = newTable("f");
    for (int i = 0; i < 20; i++) {
      put(table, "r" + i + " f:a=1");
      table.get(new Get(b("r" + i)));
    }
    eventually("20 writes and 20 reads", () -> {
      RegionMetrics metrics = metrics(table.getName());
      return metrics.getWriteRequestCount() == 20 && metrics.getReadRequestCount() == 20;
    });
    admin.flush(table.getName());
    eventually("a store file", () -> metrics(table.getName()).getStoreFileCount() == 1);
  }

  @Test
  void regionsAreMovedClosedAndOpened() throws Exception {
    Table table = newTable("f");
    put(table, "r f:a=1");
    RegionInfo region = admin.getRegions(table.getName()).get(0);
    admin.unassign(region.getRegionName(), true);
    admin.assign(region.getRegionName());
    assertEquals("r f:a=1", scan(table, new Scan()));
  }
}
