package martite.compat;

import static martite.compat.Text.b;
import static martite.compat.Text.put;
import static martite.compat.Text.scan;
import static martite.compat.Text.text;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.Test;

/** Other ways over the wire: codecs, compression, client implementations, registries, many connections. */
class TransportTest extends CompatTest {
  /** Writes and reads of every kind over a connection with these settings. */
  private void roundTrip(String... settings) throws Exception {
    Configuration conf = Server.configuration();
    for (int i = 0; i < settings.length; i += 2) {
      conf.set(settings[i], settings[i + 1]);
    }
    Table shared = newSplitTable("m");
    try (Connection own = ConnectionFactory.createConnection(conf); Table table = own.getTable(shared.getName())) {
      put(table, "a f:x=1 f:y=2 | b f:x=3 | z f:x=");
      byte[] big = new byte[300_000];
      Arrays.fill(big, (byte) 'q');
      table.put(new Put(b("n")).addColumn(b("f"), b("big"), big));
      assertArrayEquals(big, table.get(new Get(b("n"))).value());
      assertEquals("a f:x=1 f:y=2", text(table.get(new Get(b("a")))));
      assertTrue(table.exists(new Get(b("z"))));
      table.delete(new Delete(b("n")));
      table.delete(new Delete(b("a")).addColumn(b("f"), b("y")));
      assertEquals(7, Bytes.toLong(table.increment(new Increment(b("c")).addColumn(b("f"), b("n"), 7)).value()));
      table.delete(new Delete(b("c")));
      assertEquals("b f:x=34", text(table.append(new Append(b("b")).addColumn(b("f"), b("x"), b("4")))));
      RowMutations row = new RowMutations(b("o"));
      row.add(new Put(b("o")).addColumn(b("f"), b("x"), b("5")));
      table.mutateRow(row);
      Result[] some = table.get(List.of(new Get(b("z")), new Get(b("none")), new Get(b("o"))));
      assertEquals(List.of("z f:x=", "", "o f:x=5"), Arrays.stream(some).map(Text::text).toList());
      assertEquals("a f:x=1 | b f:x=34 | o f:x=5 | z f:x=", scan(table, new Scan().setCaching(2)));
      assertEquals("z f:x= | o f:x=5", scan(table, new Scan().setReversed(true).setLimit(2)));
      assertTrue(Arrays.asList(own.getAdmin().listTableNames()).contains(table.getName()));
    }
  }

  @Test
  void cellsInsideOfTheMessages() throws Exception {
    roundTrip("hbase.client.default.rpc.codec", "");
  }

  @Test
  void otherCodecs() throws Exception {
    roundTrip("hbase.client.rpc.codec", "org.apache.hadoop.hbase.codec.KeyValueCodec");
    roundTrip("hbase.client.rpc.codec", "org.apache.hadoop.hbase.codec.KeyValueCodecWithTags");
    roundTrip("hbase.client.rpc.codec", "org.apache.hadoop.hbase.codec.CellCodec");
  }

  @Test
  void compressedCellBlocks() throws Exception {
    roundTrip("hbase.client.rpc.compressor", "org.apache.hadoop.io.compress.GzipCodec");
    roundTrip("hbase.client.rpc.compressor", "org.apache.hadoop.io.compress.DefaultCodec");
  }

  @Test
  void theBlockingClient() throws Exception {
    roundTrip("hbase.rpc.client.impl", "org.apache.hadoop.hbase.ipc.BlockingRpcClient");
  }

  @Test
  void manyConnectionsAndThreads() throws Exception {
    Table table = newSplitTable("r3", "r6");
    int threads = 12;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Callable<Integer>> work = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        int me = t;
        work.add(() -> {
          Configuration conf = Server.configuration();
          conf.setInt("hbase.client.ipc.pool.size", 1 + me % 3);
          int seen = 0;
          try (Connection own = ConnectionFactory.createConnection(conf); Table mine = own.getTable(table.getName())) {
            for (int i = 0; i < 100; i++) {
              byte[] row = Bytes.toBytes("r" + i % 10 + "-" + me);
              mine.put(new Put(row).addColumn(b("f"), Bytes.toBytes(i), Bytes.toBytes(me * 1000 + i)));
              seen += Bytes.toInt(mine.get(new Get(row)).getValue(b("f"), Bytes.toBytes(i))) == me * 1000 + i ? 1 : 0;
            }
          }
          return seen;
        });
      }
      for (Future<Integer> future : pool.invokeAll(work)) {
        assertEquals(100, future.get());
      }
    } finally {
      pool.shutdown();
    }
    int cells = 0;
    try (var scanner = table.getScanner(new Scan())) {
      for (Result result : scanner) {
        cells += result.size();
      }
    }
    assertEquals(threads * 100, cells);
  }
}
