package martite.compat;

import static martite.compat.Text.b;
import static martite.compat.Text.put;
import static martite.compat.Text.scan;
import static martite.compat.Text.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.Test;

/** Many operations in one call, and several mutations of a row as one. */
class BatchTest extends CompatTest {
  @Test
  void operationsOfAllKindsInOneCall() throws Exception {
    Table table = newSplitTable("m");
    put(table, "a f:x=1 | p f:x=2 | z f:x=3");
    RowMutations both = new RowMutations(b("q"));
    both.add(new Put(b("q")).addColumn(b("f"), b("new"), b("1")));
    List<Row> batch = List.of(
        new Get(b("a")),
        new Put(b("b")).addColumn(b("f"), b("x"), b("4")),
        new Delete(b("p")),
        new Increment(b("c")).addColumn(b("f"), b("n"), 7),
        new Append(b("z")).addColumn(b("f"), b("x"), b("33")),
        both,
        new Get(b("none")));
    Object[] results = new Object[batch.size()];
    table.batch(batch, results);
    assertEquals("a f:x=1", text((Result) results[0]));
    for (int i = 1; i < results.length; i++) {
      assertInstanceOf(Result.class, results[i], "operation " + i);
    }
    assertEquals(7, Bytes.toLong(((Result) results[3]).getValue(b("f"), b("n"))));
    assertEquals("z f:x=333", text((Result) results[4]));
    assertTrue(((Result) results[6]).isEmpty());
    assertEquals("a f:x=1 | b f:x=4 | c f:n=\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x07 | q f:new=1 | z f:x=333",
        scan(table, new Scan()));
  }

  /** In order, but Puts and Deletes are held back until an Increment or Append of the same region, or its end. */
  @Test
  void whatAGetSeesOfTheOperationsBesideIt() throws Exception {
    Table table = newSplitTable("m");
    for (boolean flushed : List.of(false, true)) {
      for (int i = 0; i < 20; i++) {
        String row = (i % 2 == 0 ? "a" : "z") + i + flushed;
        put(table, row + " f:x=1 f:y=old");
        if (flushed && i % 10 == 0) {
          admin.flush(table.getName());
        }
        byte[] key = b(row);
        Get y = new Get(key).addColumn(b("f"), b("y"));
        Get n = new Get(key).addColumn(b("f"), b("n"));
        Increment increment = new Increment(key).addColumn(b("f"), b("n"), 48);
        Append append = new Append(key).addColumn(b("f"), b("y"), b("er"));
        // Increments and Appends made in one millisecond get times ahead of the clock: what follows says its own.
        long later = System.currentTimeMillis() + 1_000_000;
        Put put = new Put(key, later).addColumn(b("f"), b("y"), b("new"));
        Put again = new Put(key, later + 1000).addColumn(b("f"), b("y"), b("new"));
        Put third = new Put(key, later + 2000).addColumn(b("f"), b("y"), b("new"));
        Get x = new Get(key).addColumn(b("f"), b("x"));
        Delete delete = new Delete(key).addColumns(b("f"), b("x"));
        String one = "f:n=\\x00\\x00\\x00\\x00\\x00\\x00\\x000";
        String two = "f:n=\\x00\\x00\\x00\\x00\\x00\\x00\\x00`";
        assertEquals("- / " + one + " / " + one + " / " + two + " / " + two,
            batch(table, n, increment, n, increment, n));
        assertEquals("f:y=old / f:y=older / f:y=older", batch(table, y, append, y));
        assertEquals("f:y=older / - / f:y=older", batch(table, y, put, y));
        assertEquals("f:y=new / - / f:y=new / f:y=newer / f:y=newer", batch(table, y, again, y, append, y));
        assertEquals("f:x=1 / - / f:x=1 / f:y=newerer / -", batch(table, x, delete, x, append, x));
        RowMutations both = new RowMutations(key);
        both.add(new Put(key).addColumn(b("f"), b("z"), b("2")));
        both.add(new Delete(key).addColumns(b("f"), b("n"), later));
        assertEquals("f:y=newerer / - / - / " + two, batch(table, y, both, third, n));
        assertEquals("f:y=new f:z=2", batch(table, new Get(key)));
      }
    }
  }

  /** Makes the batch; each operation's answer, without row, a dash for an empty one. */
  private static String batch(Table table, Row... operations) throws Exception {
    Object[] results = new Object[operations.length];
    table.batch(List.of(operations), results);
    List<String> texts = new ArrayList<>();
    for (Object result : results) {
      String text = text((Result) result);
      texts.add(text.isEmpty() ? "-" : text.substring(text.indexOf(' ') + 1));
    }
    return String.join(" / ", texts);
  }

  @Test
  void oneBadOperationDoesNotSpoilTheOthers() throws Exception {
    Table table = newSplitTable("m");
    List<Row> batch = List.of(
        new Put(b("a")).addColumn(b("f"), b("x"), b("1")),
        new Put(b("b")).addColumn(b("bad"), b("x"), b("2")),
        new Put(b("n")).addColumn(b("f"), b("x"), b("3")),
        new Get(b("z")).addFamily(b("bad")),
        new Put(b("y")).addColumn(b("f"), b("x"), b("4")));
    Object[] results = new Object[batch.size()];
    RetriesExhaustedWithDetailsException thrown =
        assertFails(RetriesExhaustedWithDetailsException.class, () -> table.batch(batch, results));
    assertEquals(2, thrown.getNumExceptions());
    for (int i = 0; i < results.length; i++) {
      if (i == 1 || i == 3) {
        assertInstanceOf(NoSuchColumnFamilyException.class, results[i], "operation " + i);
      } else {
        assertInstanceOf(Result.class, results[i], "operation " + i);
      }
    }
    assertEquals("a n y", Text.rows(table, new Scan()));
  }

  @Test
  void manyPutsOverManyRegions() throws Exception {
    Table table = newSplitTable("2", "4", "6", "8");
    List<Put> puts = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      byte[] row = Bytes.toBytes(String.format("%04d", (i * 7919) % 10_000));
      puts.add(new Put(row).addColumn(b("f"), b("q"), Bytes.toBytes(i)));
    }
    table.put(puts);
    int rows = 0;
    String last = "";
    try (var scanner = table.getScanner(new Scan().setCaching(777))) {
      for (Result result : scanner) {
        String row = Bytes.toString(result.getRow());
        assertTrue(last.compareTo(row) < 0, last + " before " + row);
        last = row;
        rows++;
      }
    }
    assertEquals(5_000, rows);
    Result[] some = table.get(puts.subList(0, 100).stream().map(p -> new Get(p.getRow())).toList());
    for (int i = 0; i < some.length; i++) {
      assertEquals(i, Bytes.toInt(some[i].getValue(b("f"), b("q"))));
    }
  }

  @Test
  void aBufferedMutatorWritesInTheBackground() throws Exception {
    Table table = newSplitTable("m");
    try (BufferedMutator mutator = connection.getBufferedMutator(table.getName())) {
      for (String row : List.of("a", "k", "n", "z")) {
        mutator.mutate(new Put(b(row)).addColumn(b("f"), b("x"), b(row)));
      }
      mutator.flush();
      mutator.mutate(new Delete(b("k")));
    }
    assertEquals("a n z", Text.rows(table, new Scan()));
  }

  @Test
  void mutationsOfARowAreOne() throws Exception {
    Table table = newTable("f", "g");
    put(table, "r f:a=1 f:b=2 g:c=3");
    RowMutations change = new RowMutations(b("r"));
    change.add(new Put(b("r")).addColumn(b("f"), b("d"), b("4")).addColumn(b("g"), b("e"), b("5")));
    change.add(new Delete(b("r")).addColumns(b("f"), b("a")).addFamily(b("g"), 1));
    table.mutateRow(change);
    assertEquals("r f:b=2 f:d=4 g:c=3 g:e=5", text(table.get(new Get(b("r")))));

    RowMutations bad = new RowMutations(b("r"));
    bad.add(new Put(b("r")).addColumn(b("f"), b("new"), b("1")));
    bad.add(new Put(b("r")).addColumn(b("nope"), b("new"), b("1")));
    assertFails(NoSuchColumnFamilyException.class, () -> table.mutateRow(bad));
    assertEquals("r f:b=2 f:d=4 g:c=3 g:e=5", text(table.get(new Get(b("r")))), "all or nothing");
  }

  @Test
  void readersSeeARowAsOne() throws Exception {
    Table table = newTable("f", "g");
    Thread writer = new Thread(() -> {
      try (Table own = connection.getTable(table.getName())) {
        for (int i = 0; i < 300; i++) {
          byte[] value = Bytes.toBytes(i);
          own.put(new Put(b("r")).addColumn(b("f"), b("a"), value).addColumn(b("g"), b("b"), value));
        }
      } catch (Exception e) {
        throw new RuntimeException(e);
      }
    });
    writer.start();
    int looks = 0;
    while (writer.isAlive() || looks == 0) {
      Result result = table.get(new Get(b("r")));
      if (!result.isEmpty()) {
        assertNotNull(result.getValue(b("f"), b("a")));
        assertEquals(Bytes.toInt(result.getValue(b("f"), b("a"))), Bytes.toInt(result.getValue(b("g"), b("b"))));
        looks++;
      }
    }
    writer.join();
  }
}
