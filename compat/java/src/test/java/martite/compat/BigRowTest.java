package martite.compat;

import static martite.compat.Text.b;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.BinaryComparator;
import org.apache.hadoop.hbase.filter.FamilyFilter;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.Test;

/** Rows with many cells and cells with many bytes. */
class BigRowTest extends CompatTest {
  @Test
  void aRowOfTwentyThousandCells() throws Exception {
    Table table = newTable("f");
    for (int start = 0; start < 20_000; start += 2_000) {
      Put put = new Put(b("wide"));
      for (int i = start; i < start + 2_000; i++) {
        put.addColumn(b("f"), Bytes.toBytes(String.format("q%05d", i)), Bytes.toBytes(i));
      }
      table.put(put);
      if (start == 8_000) {
        admin.flush(table.getName());
      }
    }
    table.put(new Put(b("z")).addColumn(b("f"), b("q"), b("last")));
    Result whole = table.get(new Get(b("wide")));
    assertEquals(20_000, whole.size());
    assertEquals(12_345, Bytes.toInt(whole.getValue(b("f"), b("q12345"))));
    for (int batch : new int[] {1_000, 7_777}) {
      int cells = 0;
      try (ResultScanner scanner = table.getScanner(new Scan().setBatch(batch))) {
        for (Result result : scanner) {
          assertTrue(result.size() <= batch);
          if (Bytes.equals(result.getRow(), b("wide"))) {
            for (Cell cell : result.rawCells()) {
              assertEquals(cells++, Bytes.toInt(CellUtil.cloneValue(cell)));
            }
          }
        }
      }
      assertEquals(20_000, cells);
    }
    Get some = new Get(b("wide"));
    for (int i = 0; i < 20_000; i += 1_000) {
      some.addColumn(b("f"), Bytes.toBytes(String.format("q%05d", i)));
    }
    assertEquals(20, table.get(some).size());
    assertEquals(5, table.get(new Get(b("wide")).setMaxResultsPerColumnFamily(5).setRowOffsetPerColumnFamily(15_000)).size());
  }

  @Test
  void cellsOfMegabytes() throws Exception {
    Table table = newTable("f");
    byte[][] values = new byte[6][];
    for (int i = 0; i < values.length; i++) {
      values[i] = new byte[(i + 1) << 19];
      new Random(i).nextBytes(values[i]);
      table.put(new Put(b("r" + i)).addColumn(b("f"), b("q"), values[i]));
    }
    admin.flush(table.getName());
    int rows = 0;
    try (ResultScanner scanner = table.getScanner(new Scan())) {
      for (Result result : scanner) {
        assertTrue(Bytes.equals(values[rows], result.value()), "row " + rows);
        rows++;
      }
    }
    assertEquals(values.length, rows);
    Result[] all = table.get(IntStream.range(0, 6).mapToObj(i -> new Get(b("r" + i))).toList());
    for (int i = 0; i < all.length; i++) {
      assertTrue(Bytes.equals(values[i], all[i].value()), "row " + i);
    }
  }

  /** Large cells leave the server as they lie in their blocks, small ones are copied: nobody may tell. */
  @Test
  void cellsOfAllSizesBesideEachOther() throws Exception {
    Table table = newTable("f");
    int[] sizes = {0, 100, 16_000, 16_384, 17_000, 40_000, 70_000, 300_000};
    Random random = new Random(7);
    byte[][][] values = new byte[40][sizes.length][];
    for (int row = 0; row < values.length; row++) {
      Put put = new Put(row(row));
      for (int column = 0; column < sizes.length; column++) {
        values[row][column] = new byte[sizes[(row + column) % sizes.length]];
        random.nextBytes(values[row][column]);
        put.addColumn(b("f"), b("q" + column), values[row][column]);
      }
      table.put(put);
    }
    admin.flush(table.getName());
    for (Scan scan : List.of(new Scan(), new Scan().setBatch(3), new Scan().setCaching(1), new Scan().setMaxResultSize(50_000),
        new Scan().setFilter(new FamilyFilter(CompareOperator.EQUAL, new BinaryComparator(b("f")))))) {
      int[] columns = new int[values.length];
      try (ResultScanner scanner = table.getScanner(scan)) {
        for (Result result : scanner) {
          int row = Integer.parseInt(Bytes.toString(result.getRow()));
          for (Cell cell : result.rawCells()) {
            assertTrue(Bytes.equals(values[row][columns[row]++], CellUtil.cloneValue(cell)), scan + ": row " + row);
          }
        }
      }
      assertTrue(Arrays.stream(columns).allMatch(count -> count == sizes.length), scan.toString());
    }
    Result[] some = table.get(IntStream.range(0, values.length).mapToObj(
        row -> new Get(row(row)).addColumn(b("f"), b("q" + row % 8)).addColumn(b("f"), b("q" + (row + 3) % 8))).toList());
    for (int row = 0; row < some.length; row++) {
      for (int column : new int[] {row % 8, (row + 3) % 8}) {
        assertTrue(Bytes.equals(values[row][column], some[row].getValue(b("f"), b("q" + column))), "row " + row);
      }
    }
    // A new version of a large cell, in the memstore, hides the one in the file.
    table.put(new Put(row(5)).addColumn(b("f"), b("q0"), b("new")));
    table.append(new Append(row(6)).addColumn(b("f"), b("q1"), b("more")));
    assertEquals("new", Bytes.toString(table.get(new Get(row(5))).getValue(b("f"), b("q0"))));
    byte[] longer = table.get(new Get(row(6))).getValue(b("f"), b("q1"));
    assertTrue(Bytes.equals(Bytes.add(values[6][1], b("more")), longer));
  }

  private static byte[] row(int number) {
    return b(String.format("%03d", number));
  }
}
