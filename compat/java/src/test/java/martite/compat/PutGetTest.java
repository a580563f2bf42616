package martite.compat;

import static martite.compat.Text.b;
import static martite.compat.Text.put;
import static martite.compat.Text.text;
import static martite.compat.Text.withTimestamps;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException;
import org.junit.jupiter.api.Test;

/** Single rows written and read. */
class PutGetTest extends CompatTest {
  private static Get get(String row) {
    return new Get(b(row));
  }

  @Test
  void whatIsPutIsGot() throws Exception {
    Table table = newTable("f", "g");
    long before = System.currentTimeMillis();
    put(table, "r1 g:b=4 f:b=2 f:a=1 f:=0 g:a=3");
    Result result = table.get(get("r1"));
    assertEquals("r1 f:=0 f:a=1 f:b=2 g:a=3 g:b=4", text(result));
    assertArrayEquals(b("2"), result.getValue(b("f"), b("b")));
    assertTrue(result.rawCells()[0].getTimestamp() >= before - 1000, "the server's time");
    assertEquals(1, Arrays.stream(result.rawCells()).mapToLong(c -> c.getTimestamp()).distinct().count());
    assertTrue(table.get(get("r2")).isEmpty());
    assertNull(table.get(get("r2")).getRow());
  }

  @Test
  void bytesOfAllKinds() throws Exception {
    Table table = newTable("f");
    byte[] all = new byte[256];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) i;
    }
    table.put(new Put(all).addColumn(b("f"), all, all));
    table.put(new Put(new byte[] {0}).addColumn(b("f"), new byte[] {0}, new byte[0]));
    table.put(new Put(new byte[] {(byte) 0xff, (byte) 0xff}).addColumn(b("f"), null, b("no qualifier")));
    assertArrayEquals(all, table.get(new Get(all)).getValue(b("f"), all));
    assertArrayEquals(new byte[0], table.get(new Get(new byte[] {0})).getValue(b("f"), new byte[] {0}));
    assertEquals("\\xFF\\xFF f:=no qualifier", text(table.get(new Get(new byte[] {(byte) 0xff, (byte) 0xff}))));
    int rows = 0;
    try (var scanner = table.getScanner(new Scan())) {
      for (Result result : scanner) {
        rows += result.isEmpty() ? 0 : 1;
      }
    }
    assertEquals(3, rows);
  }

  @Test
  void namesUpToTheirLimits() throws Exception {
    Table table = newTable("f");
    // Longer ones the client cannot look up in hbase:meta.
    byte[] row = new byte[32_000];
    Arrays.fill(row, (byte) 'r');
    byte[] qualifier = new byte[100_000];
    Arrays.fill(qualifier, (byte) 'q');
    byte[] value = new byte[1 << 20];
    Arrays.fill(value, (byte) 'v');
    table.put(new Put(row).addColumn(b("f"), qualifier, value));
    Result result = table.get(new Get(row));
    assertArrayEquals(row, result.getRow());
    assertArrayEquals(value, result.getValue(b("f"), qualifier));
  }

  @Test
  void columnsAndFamiliesAreChosen() throws Exception {
    Table table = newTable("f", "g");
    put(table, "r1 f:a=1 f:b=2 f:c=3 g:a=4 g:b=5");
    assertEquals("r1 f:a=1 f:b=2 f:c=3", text(table.get(get("r1").addFamily(b("f")))));
    assertEquals("r1 f:b=2 g:a=4",
        text(table.get(get("r1").addColumn(b("f"), b("b")).addColumn(b("g"), b("a")))));
    assertEquals("r1 f:c=3 g:a=4 g:b=5",
        text(table.get(get("r1").addColumn(b("f"), b("c")).addFamily(b("g")))));
    assertTrue(table.get(get("r1").addColumn(b("f"), b("x"))).isEmpty());
    assertFails(NoSuchColumnFamilyException.class, () -> table.get(get("r1").addFamily(b("x"))));
    assertFails(NoSuchColumnFamilyException.class, () -> put(table, "r1 x:a=1"));
    assertFails(NoSuchColumnFamilyException.class, () -> table.put(Text.puts("r2 f:a=1 x:a=1").get(0)));
    assertTrue(table.get(get("r2")).isEmpty(), "nothing of a refused put is kept");
  }

  @Test
  void givenTimestampsAreKept() throws Exception {
    Table table = newTable(familyBuilder("f").setMaxVersions(3).build());
    put(table, "r1 f:a@5=five f:b@7=seven");
    put(table, "r1 f:a@3=three");
    put(table, "r1 f:a@9=nine");
    assertEquals("r1 f:a@9=nine f:b@7=seven", withTimestamps(table.get(get("r1"))));
    assertEquals("r1 f:a@9=nine f:a@5=five f:a@3=three f:b@7=seven",
        withTimestamps(table.get(get("r1").readAllVersions())));
    assertEquals("r1 f:a@9=nine f:a@5=five f:b@7=seven", withTimestamps(table.get(get("r1").readVersions(2))));
    assertEquals("r1 f:a@5=five", withTimestamps(table.get(get("r1").setTimestamp(5))));
    assertEquals("r1 f:a@5=five", withTimestamps(table.get(get("r1").setTimeRange(4, 7))));
    assertEquals("r1 f:a@5=five f:a@3=three",
        withTimestamps(table.get(get("r1").setTimeRange(0, 7).readAllVersions())));
    put(table, "r1 f:a@9=again");
    assertEquals("r1 f:a@9=again", withTimestamps(table.get(get("r1").setTimestamp(9))));
  }

  @Test
  void offsetsAndLimitsPerFamily() throws Exception {
    Table table = newTable("f", "g");
    put(table, "r1 f:a=1 f:b=2 f:c=3 f:d=4 g:a=5 g:b=6");
    assertEquals("r1 f:a=1 f:b=2 g:a=5 g:b=6", text(table.get(get("r1").setMaxResultsPerColumnFamily(2))));
    assertEquals("r1 f:b=2 f:c=3 g:b=6",
        text(table.get(get("r1").setMaxResultsPerColumnFamily(2).setRowOffsetPerColumnFamily(1))));
    assertEquals("r1 f:d=4", text(table.get(get("r1").setRowOffsetPerColumnFamily(3).setMaxResultsPerColumnFamily(9))));
  }

  @Test
  void timeRangesPerFamily() throws Exception {
    Table table = newTable("f", "g");
    put(table, "r1 f:a@5=1 f:b@9=2 g:a@5=3 g:b@9=4");
    Get get = get("r1").setColumnFamilyTimeRange(b("f"), 0, 6).setColumnFamilyTimeRange(b("g"), 6, 10);
    assertEquals("r1 f:a=1 g:b=4", text(table.get(get)));
  }

  @Test
  void existenceIsAsked() throws Exception {
    Table table = newTable("f");
    put(table, "r1 f:a=1 | r3 f:a=1");
    assertTrue(table.exists(get("r1")));
    assertFalse(table.exists(get("r2")));
    assertFalse(table.exists(get("r1").addColumn(b("f"), b("b"))));
    boolean[] there = table.exists(List.of(get("r1"), get("r2"), get("r3")));
    assertArrayEquals(new boolean[] {true, false, true}, there);
    Result checked = table.get(get("r1").setCheckExistenceOnly(true));
    assertEquals(true, checked.getExists());
    assertTrue(checked.isEmpty());
  }

  @Test
  void manyRowsInOneCall() throws Exception {
    Table table = newSplitTable("r3", "r6");
    put(table, "r1 f:a=1 | r4 f:a=4 | r8 f:a=8");
    Result[] results = table.get(List.of(get("r8"), get("r2"), get("r1"), get("r4"), get("r8")));
    assertEquals(List.of("r8 f:a=8", "", "r1 f:a=1", "r4 f:a=4", "r8 f:a=8"),
        Arrays.stream(results).map(Text::text).toList());
  }

  @Test
  void everyDurabilityCanBeReadBack() throws Exception {
    Table table = newTable("f");
    for (Durability durability : Durability.values()) {
      Put put = new Put(b(durability.name())).addColumn(b("f"), b("a"), b("1"));
      table.put(put.setDurability(durability));
      assertTrue(table.exists(new Get(b(durability.name()))), durability.name());
    }
  }

  @Test
  void aLaterPutOfTheSameTimestampWins() throws Exception {
    Table table = newTable(familyBuilder("f").setMaxVersions(5).build());
    for (int i = 0; i < 20; i++) {
      put(table, "r1 f:a@7=" + i);
      assertEquals("r1 f:a=" + i, text(table.get(get("r1"))));
    }
    assertEquals("r1 f:a@7=19", withTimestamps(table.get(get("r1").readAllVersions())));
    admin.flush(table.getName());
    assertEquals("r1 f:a@7=19", withTimestamps(table.get(get("r1").readAllVersions())));
    put(table, "r1 f:a@7=new");
    assertEquals("r1 f:a@7=new", withTimestamps(table.get(get("r1").readAllVersions())));
  }

  @Test
  void oversizedCellsAreRefused() throws Exception {
    Table table = newTable("f");
    // The client has the same limit; it is lifted there so that the server's is met.
    org.apache.hadoop.conf.Configuration conf = Server.configuration();
    conf.setInt("hbase.client.keyvalue.maxsize", 0);
    try (org.apache.hadoop.hbase.client.Connection own =
        org.apache.hadoop.hbase.client.ConnectionFactory.createConnection(conf);
        Table big = own.getTable(table.getName())) {
      byte[] value = new byte[11 << 20];
      assertFails(org.apache.hadoop.hbase.DoNotRetryIOException.class, "exceeds limit",
          () -> big.put(new Put(b("r")).addColumn(b("f"), b("a"), value)));
    }
    assertFalse(table.exists(get("r")));
  }
}
