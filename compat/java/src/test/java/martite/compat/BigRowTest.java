package martite.compat;

import static martite.compat.Text.b;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
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
    Result[] all = table.get(java.util.stream.IntStream.range(0, 6).mapToObj(i -> new Get(b("r" + i))).toList());
    for (int i = 0; i < all.length; i++) {
      assertTrue(Bytes.equals(values[i], all[i].value()), "row " + i);
    }
  }
}
