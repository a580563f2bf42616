package martite.compat.since25;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import martite.compat.CompatTest;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.coprocessor.AggregationClient;
import org.apache.hadoop.hbase.client.coprocessor.AsyncAggregationClient;
import org.apache.hadoop.hbase.client.coprocessor.BigDecimalColumnInterpreter;
import org.apache.hadoop.hbase.client.coprocessor.DoubleColumnInterpreter;
import org.apache.hadoop.hbase.client.coprocessor.LongColumnInterpreter;
import org.apache.hadoop.hbase.filter.PrefixFilter;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Aggregates by HBase's own client for them, over a table of three regions. */
class AggregationTest extends CompatTest {
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] LONG = Bytes.toBytes("long");
  private static final byte[] DOUBLE = Bytes.toBytes("double");
  private static final byte[] DECIMAL = Bytes.toBytes("decimal");
  private static final int ROWS = 300;
  private TableName name;

  @BeforeEach
  void fill() throws Exception {
    name = newName();
    var coprocessor = "org.apache.hadoop.hbase.coprocessor.AggregateImplementation";
    // The last region has no rows.
    byte[][] splits = {Bytes.toBytes("row100"), Bytes.toBytes("row900")};
    admin.createTable(descriptor(name, "f").setCoprocessor(coprocessor).build(), splits);
    List<Put> puts = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      puts.add(new Put(Bytes.toBytes("row%03d".formatted(i)))
          .addColumn(FAMILY, LONG, Bytes.toBytes((long) i - 10))
          .addColumn(FAMILY, DOUBLE, Bytes.toBytes(i / 4.0))
          .addColumn(FAMILY, DECIMAL, Bytes.toBytes(BigDecimal.valueOf(i, 1))));
    }
    try (Table rows = connection.getTable(name)) {
      rows.put(puts);
    }
  }

  private static Scan of(byte[] qualifier) {
    return new Scan().addColumn(FAMILY, qualifier);
  }

  @Test
  void longs() throws Throwable {
    try (AggregationClient client = new AggregationClient(connection.getConfiguration())) {
      var numbers = new LongColumnInterpreter();
      assertEquals(ROWS - 11, client.max(name, numbers, of(LONG)));
      assertEquals(-10, client.min(name, numbers, of(LONG)));
      assertEquals(ROWS * (ROWS - 1) / 2 - 10 * ROWS, client.sum(name, numbers, of(LONG)));
      assertEquals(ROWS, client.rowCount(name, numbers, of(LONG)));
      assertEquals((ROWS - 1) / 2.0 - 10, client.avg(name, numbers, of(LONG)), 1e-9);
      assertEquals(Math.sqrt((ROWS * (double) ROWS - 1) / 12), client.std(name, numbers, of(LONG)), 1e-6);
      assertEquals(ROWS, client.rowCount(name, numbers, new Scan()));
      var range = of(LONG).withStartRow(Bytes.toBytes("row098")).withStopRow(Bytes.toBytes("row102"));
      assertEquals(4, client.rowCount(name, numbers, range));
      assertEquals(88 + 89 + 90 + 91, client.sum(name, numbers, range));
      var filtered = of(LONG).setFilter(new PrefixFilter(Bytes.toBytes("row29")));
      assertEquals(10, client.rowCount(name, numbers, filtered));
      assertEquals(284.5, client.avg(name, numbers, filtered), 1e-9);
      var none = of(LONG).withStartRow(Bytes.toBytes("x"));
      assertNull(client.max(name, numbers, none));
      assertEquals(0, client.rowCount(name, numbers, none));
    }
  }

  @Test
  void doublesAndDecimals() throws Throwable {
    try (AggregationClient client = new AggregationClient(connection.getConfiguration())) {
      var doubles = new DoubleColumnInterpreter();
      assertEquals((ROWS - 1) / 4.0, client.max(name, doubles, of(DOUBLE)));
      assertEquals(0.0, client.min(name, doubles, of(DOUBLE)));
      assertEquals(ROWS * (ROWS - 1) / 8.0, client.sum(name, doubles, of(DOUBLE)));
      assertEquals((ROWS - 1) / 8.0, client.avg(name, doubles, of(DOUBLE)), 1e-9);
      var decimals = new BigDecimalColumnInterpreter();
      assertEquals(new BigDecimal("29.90"), client.max(name, decimals, of(DECIMAL)));
      assertEquals(new BigDecimal("4485.00"), client.sum(name, decimals, of(DECIMAL)));
      assertEquals(14.95, client.avg(name, decimals, of(DECIMAL)), 1e-9);
    }
  }

  @Test
  void byTheAsynchronousClient() throws Exception {
    try (var async = ConnectionFactory.createAsyncConnection(connection.getConfiguration()).get()) {
      AsyncTable<?> table = async.getTable(name);
      var numbers = new LongColumnInterpreter();
      assertEquals(ROWS - 11, AsyncAggregationClient.max(table, numbers, of(LONG)).get());
      assertEquals(ROWS, AsyncAggregationClient.rowCount(table, numbers, of(LONG)).get());
      assertEquals(ROWS * (ROWS - 1) / 2 - 10 * ROWS, AsyncAggregationClient.sum(table, numbers, of(LONG)).get());
      assertEquals((ROWS - 1) / 2.0 - 10, AsyncAggregationClient.avg(table, numbers, of(LONG)).get(), 1e-9);
    }
  }
}
