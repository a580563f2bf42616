package martite.compat;

import static martite.compat.Text.b;
import static martite.compat.Text.put;
import static martite.compat.Text.rows;
import static martite.compat.Text.scan;
import static martite.compat.Text.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.client.Consistency;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.IsolationLevel;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.metrics.ScanMetrics;
import org.apache.hadoop.hbase.filter.FirstKeyOnlyFilter;
import org.apache.hadoop.hbase.filter.RowFilter;
import org.apache.hadoop.hbase.filter.SubstringComparator;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.Test;

/** Scans: ranges, directions, sizes, limits, and what a scanner sees while it is open. */
class ScanTest extends CompatTest {
  private static Scan range(String start, String stop) {
    return new Scan().withStartRow(b(start)).withStopRow(b(stop));
  }

  /** Rows a to z, split in three regions. */
  private Table alphabet() throws Exception {
    Table table = newSplitTable("h", "q");
    List<String> rows = new ArrayList<>();
    for (char c = 'a'; c <= 'z'; c++) {
      rows.add(c + " f:x=" + c);
    }
    put(table, String.join(" | ", rows));
    return table;
  }

  private static String letters(char from, char to) {
    List<String> letters = new ArrayList<>();
    for (char c = (char) Math.min(from, to); c <= Math.max(from, to); c++) {
      letters.add(String.valueOf(c));
    }
    if (from > to) {
      Collections.reverse(letters);
    }
    return String.join(" ", letters);
  }

  @Test
  void rangesAcrossRegions() throws Exception {
    Table table = alphabet();
    assertEquals(letters('a', 'z'), rows(table, new Scan()));
    assertEquals(letters('c', 'r'), rows(table, range("c", "s")));
    assertEquals(letters('c', 's'), rows(table, range("c", "s").withStopRow(b("s"), true)));
    assertEquals(letters('d', 'r'), rows(table, range("c", "s").withStartRow(b("c"), false)));
    assertEquals(letters('h', 'p'), rows(table, range("h", "q")));
    assertEquals(letters('g', 'h'), rows(table, range("g", "h").withStopRow(b("h"), true)));
    assertEquals(letters('x', 'z'), rows(table, new Scan().withStartRow(b("x"))));
    assertEquals(letters('a', 'b'), rows(table, new Scan().withStopRow(b("c"))));
    assertEquals("k", rows(table, new Scan().withStartRow(b("k")).withStopRow(b("k"), true)));
    assertEquals("", rows(table, range("kk", "kz")));
    assertEquals("", rows(table, range("s", "c")));
    assertEquals("", rows(table, range("zz", "")));
  }

  @Test
  void reversedScansAcrossRegions() throws Exception {
    Table table = alphabet();
    assertEquals(letters('z', 'a'), rows(table, new Scan().setReversed(true)));
    assertEquals(letters('s', 'd'), rows(table, range("s", "c").setReversed(true)));
    assertEquals(letters('s', 'c'), rows(table, range("s", "c").withStopRow(b("c"), true).setReversed(true)));
    assertEquals(letters('r', 'd'), rows(table, range("s", "c").withStartRow(b("s"), false).setReversed(true)));
    assertEquals(letters('q', 'h'), rows(table, range("q", "g").setReversed(true)));
    assertEquals(letters('h', 'g'), rows(table, range("h", "f").setReversed(true)));
    assertEquals(letters('p', 'o'), rows(table, range("pz", "n").setReversed(true)));
    assertEquals(letters('z', 'y'), rows(table, range("", "x").setReversed(true)));
    assertEquals(letters('z', 'v'), rows(table, new Scan().setReversed(true).setCaching(2).setLimit(5)));
    Table wide = newTable(familyBuilder("f").setMaxVersions(3).build());
    put(wide, "r1 f:a@2=2 f:a@1=1 f:b=3 | r2 f:a=4");
    assertEquals("r2 f:a=4 | r1 f:a=2 f:a=1 f:b=3", scan(wide, new Scan().readAllVersions().setReversed(true)));
  }

  @Test
  void cachingDoesNotChangeTheAnswer() throws Exception {
    Table table = alphabet();
    for (int caching : new int[] {1, 2, 3, 7, 26, 27, 1000}) {
      assertEquals(letters('a', 'z'), rows(table, new Scan().setCaching(caching)), "caching " + caching);
      assertEquals(letters('z', 'a'), rows(table, new Scan().setCaching(caching).setReversed(true)));
      assertEquals(letters('c', 's'),
          rows(table, range("c", "s").withStopRow(b("s"), true).setCaching(caching).setCacheBlocks(false)));
    }
    for (Scan.ReadType type : Scan.ReadType.values()) {
      assertEquals(letters('a', 'z'), rows(table, new Scan().setReadType(type)), type.name());
    }
  }

  @Test
  void rowLimits() throws Exception {
    Table table = alphabet();
    for (int limit : new int[] {1, 5, 7, 8, 20, 26, 100}) {
      String want = letters('a', (char) ('a' + Math.min(limit, 26) - 1));
      assertEquals(want, rows(table, new Scan().setLimit(limit)), "limit " + limit);
      assertEquals(want, rows(table, new Scan().setLimit(limit).setCaching(3)), "limit " + limit);
    }
    assertEquals("m", rows(table, new Scan().withStartRow(b("m")).setOneRowLimit()));
    try (ResultScanner scanner = table.getScanner(new Scan())) {
      assertEquals(5, scanner.next(5).length);
      assertEquals("f", Bytes.toString(scanner.next().getRow()));
      assertEquals(20, scanner.next(100).length);
      assertNull(scanner.next());
      assertNull(scanner.next());
    }
  }

  @Test
  void columnsFamiliesVersionsAndTimes() throws Exception {
    Table table = newTable(familyBuilder("f").setMaxVersions(3).build(), familyBuilder("g").setMaxVersions(3).build());
    put(table, "r1 f:a@5=1 f:a@9=2 f:b@7=3 g:a@7=4 | r2 f:b@9=5 | r3 g:a@5=6 g:a@6=7");
    assertEquals("r1 f:a=2 f:b=3 g:a=4 | r2 f:b=5 | r3 g:a=7", scan(table, new Scan()));
    assertEquals("r1 f:b=3 | r2 f:b=5", scan(table, new Scan().addColumn(b("f"), b("b"))));
    assertEquals("r1 f:b=3 g:a=4 | r2 f:b=5 | r3 g:a=7",
        scan(table, new Scan().addColumn(b("f"), b("b")).addFamily(b("g"))));
    assertEquals("r1 f:a=2 f:a=1 f:b=3 g:a=4 | r2 f:b=5 | r3 g:a=7 g:a=6", scan(table, new Scan().readAllVersions()));
    assertEquals("r1 f:b=3 g:a=4 | r3 g:a=7", scan(table, new Scan().setTimeRange(6, 8)));
    assertEquals("r1 f:a=1 | r3 g:a=6", scan(table, new Scan().setTimestamp(5)));
    assertEquals("r1 f:a=2 f:b=3 | r2 f:b=5 | r3 g:a=6",
        scan(table, new Scan().setColumnFamilyTimeRange(b("g"), 0, 6)));
    assertEquals("r1 f:a=2 g:a=4 | r2 f:b=5 | r3 g:a=7", scan(table, new Scan().setMaxResultsPerColumnFamily(1)));
    assertEquals("r1 f:b=3", scan(table, new Scan().setMaxResultsPerColumnFamily(1).setRowOffsetPerColumnFamily(1)));
    assertFails(NoSuchColumnFamilyException.class, () -> scan(table, new Scan().addFamily(b("x"))));
  }

  @Test
  void batchesOfCells() throws Exception {
    Table table = newTable("f", "g");
    put(table, "r1 f:a=1 f:b=2 f:c=3 g:d=4 g:e=5 | r2 f:a=6 | r3 f:a=7 g:b=8");
    assertEquals("r1 f:a=1 f:b=2 | r1 f:c=3 g:d=4 | r1 g:e=5 | r2 f:a=6 | r3 f:a=7 g:b=8",
        scan(table, new Scan().setBatch(2)));
    assertEquals("r1 f:a=1 f:b=2 f:c=3 | r1 g:d=4 g:e=5 | r2 f:a=6 | r3 f:a=7 g:b=8",
        scan(table, new Scan().setBatch(3).setCaching(1)));
    assertEquals("r1 f:a=1 f:b=2 f:c=3 g:d=4 g:e=5 | r2 f:a=6 | r3 f:a=7 g:b=8", scan(table, new Scan().setBatch(100)));
    assertEquals("r3 f:a=7 | r3 g:b=8 | r2 f:a=6", scan(table, new Scan().setBatch(1).setReversed(true).setLimit(2)));
  }

  /** 20 rows of 10 cells of 1000 bytes. */
  private Table wide() throws Exception {
    Table table = newSplitTable("r10");
    List<Put> puts = new ArrayList<>();
    for (int r = 0; r < 20; r++) {
      Put put = new Put(Bytes.toBytes(String.format("r%02d", r)));
      for (int c = 0; c < 10; c++) {
        byte[] value = new byte[1000];
        Arrays.fill(value, (byte) (r * 10 + c));
        put.addColumn(b("f"), b("c" + c), value);
      }
      puts.add(put);
    }
    table.put(puts);
    return table;
  }

  @Test
  void rowsStayWholeHoweverSmallTheAnswers() throws Exception {
    Table table = wide();
    for (long size : new long[] {1, 1500, 4000, 12_000, 1 << 20}) {
      int rows = 0;
      try (ResultScanner scanner = table.getScanner(new Scan().setMaxResultSize(size))) {
        for (Result result : scanner) {
          assertEquals(String.format("r%02d", rows), Bytes.toString(result.getRow()));
          assertEquals(10, result.size(), "cells of row " + rows + " with answers of " + size);
          for (int c = 0; c < 10; c++) {
            assertEquals((byte) (rows * 10 + c), result.getValue(b("f"), b("c" + c))[999]);
          }
          assertFalse(result.mayHaveMoreCellsInRow());
          rows++;
        }
      }
      assertEquals(20, rows);
    }
  }

  @Test
  void partialResultsWhenTheClientWantsThem() throws Exception {
    Table table = wide();
    int cells = 0;
    int parts = 0;
    List<String> order = new ArrayList<>();
    Scan scan = new Scan().setMaxResultSize(2500).setAllowPartialResults(true);
    try (ResultScanner scanner = table.getScanner(scan)) {
      for (Result result : scanner) {
        for (Cell cell : result.rawCells()) {
          order.add(Bytes.toString(result.getRow()) + Bytes.toString(cell.getQualifierArray(),
              cell.getQualifierOffset(), cell.getQualifierLength()));
        }
        cells += result.size();
        parts += result.mayHaveMoreCellsInRow() ? 1 : 0;
      }
    }
    assertEquals(200, cells);
    assertTrue(parts >= 20, parts + " partial results");
    List<String> sorted = new ArrayList<>(order);
    Collections.sort(sorted);
    assertEquals(sorted, order);
    assertEquals(200, sorted.stream().distinct().count());
  }

  @Test
  void aScannerSeesTheRegionAsItWas() throws Exception {
    Table table = newTable("f");
    put(table, "a f:x=1 | c f:x=1 | e f:x=1");
    try (ResultScanner scanner = table.getScanner(new Scan().setCaching(1))) {
      assertEquals("a f:x=1", text(scanner.next()));
      put(table, "b f:x=2 | c f:x=2 f:y=2 | d f:x=2");
      table.delete(new Delete(b("e")));
      admin.flush(table.getName());
      assertEquals("c f:x=1 | e f:x=1", text(scanner));
    }
    assertEquals("a f:x=1 | b f:x=2 | c f:x=2 f:y=2 | d f:x=2", scan(table, new Scan()));
  }

  @Test
  void memoryAndFilesAreOne() throws Exception {
    Table table = newTable(familyBuilder("f").setMaxVersions(2).build());
    put(table, "a f:x@1=1 | b f:x@1=1 | c f:x@1=1");
    admin.flush(table.getName());
    put(table, "b f:x@2=2 | d f:x@1=1");
    admin.flush(table.getName());
    put(table, "a f:x@3=3 | aa f:x@1=1");
    table.delete(new Delete(b("c")));
    assertEquals("a f:x=3 | aa f:x=1 | b f:x=2 | d f:x=1", scan(table, new Scan()));
    assertEquals("d f:x=1 | b f:x=2 | aa f:x=1 | a f:x=3", scan(table, new Scan().setReversed(true)));
    assertEquals("a f:x=3 f:x=1 | aa f:x=1 | b f:x=2 f:x=1 | d f:x=1", scan(table, new Scan().readAllVersions()));
  }

  @Test
  void scannersAreKeptAliveAndClosedEarly() throws Exception {
    Table table = alphabet();
    try (ResultScanner scanner = table.getScanner(new Scan().setCaching(2))) {
      assertEquals("a", Bytes.toString(scanner.next().getRow()));
      assertTrue(scanner.renewLease());
      assertEquals("b", Bytes.toString(scanner.next().getRow()));
      assertTrue(scanner.renewLease());
      assertEquals(letters('c', 'z'), rows(scanner));
    }
    for (int i = 0; i < 50; i++) {
      try (ResultScanner scanner = table.getScanner(new Scan().setCaching(1))) {
        assertEquals("a", Bytes.toString(scanner.next().getRow()));
      }
    }
    List<ResultScanner> open = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      open.add(table.getScanner(new Scan().setCaching(1)));
      assertEquals("a", Bytes.toString(open.get(i).next().getRow()));
    }
    for (ResultScanner scanner : open) {
      assertEquals("b", Bytes.toString(scanner.next().getRow()));
      scanner.close();
    }
  }

  @Test
  void metricsAreCounted() throws Exception {
    Table table = alphabet();
    Scan scan = new Scan().setScanMetricsEnabled(true).setCaching(5);
    try (ResultScanner scanner = table.getScanner(scan)) {
      assertEquals(letters('a', 'z'), rows(scanner));
      ScanMetrics metrics = scanner.getScanMetrics();
      assertEquals(3, metrics.countOfRegions.get());
      assertEquals(26, metrics.countOfRowsScanned.get());
      assertEquals(0, metrics.countOfRowsFiltered.get());
      assertTrue(metrics.countOfRPCcalls.get() >= 6, metrics.countOfRPCcalls.get() + " calls");
      assertTrue(metrics.countOfBytesInResults.get() > 26 * 20);
    }
    Scan filtered = new Scan().setScanMetricsEnabled(true)
        .setFilter(new RowFilter(CompareOperator.EQUAL, new SubstringComparator("k")));
    try (ResultScanner scanner = table.getScanner(filtered)) {
      assertEquals("k", rows(scanner));
      assertEquals(25, scanner.getScanMetrics().countOfRowsFiltered.get());
    }
  }

  @Test
  void cursorsDoNotDisturb() throws Exception {
    Table table = alphabet();
    List<String> rows = new ArrayList<>();
    Scan scan = new Scan().setNeedCursorResult(true).setMaxResultSize(1).setAllowPartialResults(true);
    try (ResultScanner scanner = table.getScanner(scan)) {
      for (Result result : scanner) {
        if (!result.isCursor()) {
          rows.add(Bytes.toString(result.getRow()));
        }
      }
    }
    assertEquals(letters('a', 'z'), String.join(" ", rows));
  }

  @Test
  void otherOptionsDoNotChangeTheAnswer() throws Exception {
    Table table = alphabet();
    String want = letters('a', 'z');
    assertEquals(want, rows(table, new Scan().setIsolationLevel(IsolationLevel.READ_UNCOMMITTED)));
    assertEquals(want, rows(table, new Scan().setConsistency(Consistency.TIMELINE)));
    assertEquals(want, rows(table, new Scan().setLoadColumnFamiliesOnDemand(false).setPriority(300).setId("mine")));
    assertEquals(want, rows(table, new Scan().setFilter(new FirstKeyOnlyFilter())));
    assertEquals("", rows(newTable("f"), new Scan()));
  }

  @Test
  void manyRowsOfManySizes() throws Exception {
    Table table = newSplitTable("row-3000", "row-6000");
    List<Put> puts = new ArrayList<>();
    for (int i = 0; i < 9_000; i++) {
      byte[] value = new byte[i % 97];
      Arrays.fill(value, (byte) i);
      puts.add(new Put(Bytes.toBytes(String.format("row-%04d", i))).addColumn(b("f"), b("q"), value));
      if (i == 4_000) {
        table.put(puts);
        puts.clear();
        admin.flush(table.getName());
      }
    }
    table.put(puts);
    for (boolean reversed : new boolean[] {false, true}) {
      int seen = 0;
      try (ResultScanner scanner = table.getScanner(new Scan().setReversed(reversed).setMaxResultSize(20_000))) {
        for (Result result : scanner) {
          int i = reversed ? 8_999 - seen : seen;
          assertEquals(String.format("row-%04d", i), Bytes.toString(result.getRow()));
          assertEquals(i % 97, result.value().length);
          seen++;
        }
      }
      assertEquals(9_000, seen);
    }
  }
}
