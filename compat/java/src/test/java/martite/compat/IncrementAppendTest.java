package martite.compat;

import static martite.compat.Text.b;
import static martite.compat.Text.put;
import static martite.compat.Text.text;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.Test;

/** Counters and appends: read, changed and written under one lock. */
class IncrementAppendTest extends CompatTest {
  private static long counter(Result result, String qualifier) {
    return Bytes.toLong(result.getValue(b("f"), b(qualifier)));
  }

  private static Increment increment(String row, String qualifier, long amount) {
    return new Increment(b(row)).addColumn(b("f"), b(qualifier), amount);
  }

  private static Append append(String row, String qualifier, String value) {
    return new Append(b(row)).addColumn(b("f"), b(qualifier), b(value));
  }

  @Test
  void countersCount() throws Exception {
    Table table = newTable("f", "g");
    assertEquals(5, counter(table.increment(increment("r", "a", 5)), "a"));
    assertEquals(3, counter(table.increment(increment("r", "a", -2)), "a"));
    assertEquals(3, counter(table.increment(increment("r", "a", 0)), "a"));
    Result two = table.increment(increment("r", "a", 1).addColumn(b("f"), b("b"), 7).addColumn(b("g"), b("c"), 9));
    assertEquals(4, counter(two, "a"));
    assertEquals(7, counter(two, "b"));
    assertEquals(9, Bytes.toLong(two.getValue(b("g"), b("c"))));
    assertEquals(4, counter(table.get(new Get(b("r"))), "a"));
    assertEquals(14, table.incrementColumnValue(b("r"), b("f"), b("a"), 10));
    assertEquals(15, table.incrementColumnValue(b("r"), b("f"), b("a"), 1, Durability.SKIP_WAL));
  }

  @Test
  void countersStartFromWhatIsThere() throws Exception {
    Table table = newTable("f");
    table.put(new Put(b("r")).addColumn(b("f"), b("a"), Bytes.toBytes(40L)));
    assertEquals(42, counter(table.increment(increment("r", "a", 2)), "a"));
    table.delete(new Delete(b("r")).addColumns(b("f"), b("a")));
    assertEquals(2, counter(table.increment(increment("r", "a", 2)), "a"));
    table.put(new Put(b("r")).addColumn(b("f"), b("max"), Bytes.toBytes(Long.MAX_VALUE)));
    assertEquals(Long.MIN_VALUE, counter(table.increment(increment("r", "max", 1)), "max"));
  }

  @Test
  void whatIsNoCounterIsRefused() throws Exception {
    Table table = newTable("f");
    put(table, "r f:a=12345");
    assertFails(DoNotRetryIOException.class, "Field is not a long, it's 5 bytes wide",
        () -> table.increment(increment("r", "a", 1)));
    assertEquals("r f:a=12345", text(table.get(new Get(b("r")))));
    assertFails(NoSuchColumnFamilyException.class,
        () -> table.increment(new Increment(b("r")).addColumn(b("x"), b("a"), 1)));
  }

  @Test
  void appendsAreAddedAtTheEnd() throws Exception {
    Table table = newTable("f");
    assertEquals("r f:a=ab", text(table.append(append("r", "a", "ab"))));
    assertEquals("r f:a=abcd", text(table.append(append("r", "a", "cd"))));
    assertEquals("r f:a=abcd f:b=x", text(table.append(append("r", "a", "").addColumn(b("f"), b("b"), b("x")))));
    assertEquals("r f:a=abcd f:b=x", text(table.get(new Get(b("r")))));
    table.delete(new Delete(b("r")).addColumns(b("f"), b("a")));
    assertEquals("r f:a=z", text(table.append(append("r", "a", "z"))));
    assertFails(NoSuchColumnFamilyException.class,
        () -> table.append(new Append(b("r")).addColumn(b("x"), b("a"), b("1"))));
  }

  @Test
  void resultsMayBeUnwanted() throws Exception {
    Table table = newTable("f");
    Result counted = table.increment(increment("r", "a", 5).setReturnResults(false));
    assertTrue(counted.isEmpty());
    Result appended = table.append(append("r", "b", "x").setReturnResults(false));
    assertTrue(appended == null || appended.isEmpty());
    Result got = table.get(new Get(b("r")));
    assertEquals(5, counter(got, "a"));
    assertArrayEquals(b("x"), got.getValue(b("f"), b("b")));
  }

  @Test
  void timestampsNeverGoBack() throws Exception {
    Table table = newTable(familyBuilder("f").setMaxVersions(5).build());
    long future = System.currentTimeMillis() + 3_600_000;
    table.put(new Put(b("r")).addColumn(b("f"), b("a"), future, Bytes.toBytes(1L)));
    Result result = table.increment(increment("r", "a", 1));
    assertEquals(2, counter(result, "a"));
    assertTrue(result.rawCells()[0].getTimestamp() >= future);
    assertEquals(2, counter(table.get(new Get(b("r"))), "a"));
  }

  @Test
  void onlyATimeRangeIsCountedOn() throws Exception {
    Table table = newTable(familyBuilder("f").setMaxVersions(5).build());
    table.put(new Put(b("r")).addColumn(b("f"), b("a"), 10, Bytes.toBytes(100L)));
    table.put(new Put(b("r")).addColumn(b("f"), b("a"), 20, Bytes.toBytes(200L)));
    assertEquals(101, counter(table.increment(increment("r", "a", 1).setTimeRange(5, 15)), "a"));
  }

  @Test
  void nothingIsLostBetweenThreads() throws Exception {
    Table table = newTable("f");
    int threads = 8;
    int each = 100;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Callable<Void>> work = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        String name = "t" + t;
        work.add(() -> {
          try (Table own = connection.getTable(table.getName())) {
            for (int i = 0; i < each; i++) {
              own.increment(increment("r", "all", 1).addColumn(b("f"), b(name), 1));
              own.append(append("r2", "all", "x"));
            }
          }
          return null;
        });
      }
      for (Future<Void> future : pool.invokeAll(work)) {
        future.get();
      }
    } finally {
      pool.shutdown();
    }
    Result result = table.get(new Get(b("r")));
    assertEquals(threads * each, counter(result, "all"));
    assertEquals(each, counter(result, "t3"));
    assertEquals(threads * each, table.get(new Get(b("r2"))).getValue(b("f"), b("all")).length);
  }
}
