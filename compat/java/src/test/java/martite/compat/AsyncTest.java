package martite.compat;

import static martite.compat.Text.b;
import static martite.compat.Text.put;
import static martite.compat.Text.rows;
import static martite.compat.Text.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.client.AdvancedScanResultConsumer;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.metrics.ScanMetrics;
import org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The asynchronous client. */
class AsyncTest extends CompatTest {
  private AsyncConnection async;

  @BeforeEach
  void connect() throws Exception {
    async = ConnectionFactory.createAsyncConnection(Server.configuration()).get();
  }

  @AfterEach
  void disconnect() throws Exception {
    async.close();
  }

  private static <T> T await(CompletableFuture<T> future) throws Exception {
    return future.get(60, TimeUnit.SECONDS);
  }

  @Test
  void manyCallsAtOnce() throws Exception {
    Table shared = newSplitTable("r3", "r6");
    AsyncTable<AdvancedScanResultConsumer> table = async.getTable(shared.getName());
    List<CompletableFuture<?>> puts = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      byte[] row = Bytes.toBytes("r" + i % 10 + "-" + i);
      puts.add(table.put(new Put(row).addColumn(b("f"), b("q"), Bytes.toBytes(i))));
    }
    await(CompletableFuture.allOf(puts.toArray(new CompletableFuture<?>[0])));
    List<CompletableFuture<Result>> gets = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      gets.add(table.get(new Get(Bytes.toBytes("r" + i % 10 + "-" + i))));
    }
    for (int i = 0; i < 1_000; i++) {
      assertEquals(i, Bytes.toInt(await(gets.get(i)).value()));
    }
    assertEquals(1_000, await(table.scanAll(new Scan())).size());
  }

  @Test
  void scansAndBatches() throws Exception {
    Table shared = newSplitTable("m");
    put(shared, "a f:x=1 f:y=2 | c f:x=3 | n f:x=4 | z f:x=5");
    AsyncTable<AdvancedScanResultConsumer> table = async.getTable(shared.getName());
    assertEquals("a c n z", rows(await(table.scanAll(new Scan()))));
    assertEquals("z n c", rows(await(table.scanAll(new Scan().setReversed(true).setLimit(3)))));
    assertEquals("a f:x=1 | a f:y=2 | c f:x=3 | n f:x=4 | z f:x=5", text(await(table.scanAll(new Scan().setBatch(1)))));
    List<Result> got = await(table.getAll(List.of(new Get(b("z")), new Get(b("none")), new Get(b("a")))));
    assertEquals(List.of("z f:x=5", "", "a f:x=1 f:y=2"), got.stream().map(Text::text).toList());
    assertTrue(await(table.exists(new Get(b("c")))));
    CompletableFuture<Void> bad = table.put(new Put(b("r")).addColumn(b("nope"), b("q"), b("1")));
    assertFails(NoSuchColumnFamilyException.class, () -> await(bad));
  }

  /** Stops after each answer until it is told to go on. */
  private static final class Consumer implements AdvancedScanResultConsumer {
    final List<String> rows = new ArrayList<>();
    final CompletableFuture<Void> done = new CompletableFuture<>();
    ScanMetrics metrics;
    int pauses;

    @Override
    public void onNext(Result[] results, ScanController controller) {
      for (Result result : results) {
        rows.add(Bytes.toString(result.getRow()));
      }
      ScanResumer resumer = controller.suspend();
      pauses++;
      new Thread(resumer::resume).start();
    }

    @Override
    public void onScanMetricsCreated(ScanMetrics scanMetrics) {
      metrics = scanMetrics;
    }

    @Override
    public void onError(Throwable error) {
      done.completeExceptionally(error);
    }

    @Override
    public void onComplete() {
      done.complete(null);
    }
  }

  @Test
  void scansArePausedAndResumed() throws Exception {
    Table shared = newSplitTable("m");
    put(shared, "a f:x=1 | b f:x=1 | c f:x=3 | n f:x=4 | z f:x=5");
    Consumer consumer = new Consumer();
    async.getTable(shared.getName()).scan(new Scan().setCaching(2).setScanMetricsEnabled(true), consumer);
    await(consumer.done);
    assertEquals(List.of("a", "b", "c", "n", "z"), consumer.rows);
    assertTrue(consumer.pauses >= 3, consumer.pauses + " pauses");
    assertEquals(5, consumer.metrics.countOfRowsScanned.get());
  }

  @Test
  void tablesAreMade() throws Exception {
    var name = newName();
    var asyncAdmin = async.getAdmin();
    await(asyncAdmin.createTable(descriptor(name, "f").build(), new byte[][] {b("k")}));
    assertEquals(2, await(asyncAdmin.getRegions(name)).size());
    assertTrue(await(asyncAdmin.tableExists(name)));
    await(asyncAdmin.flush(name));
    await(asyncAdmin.disableTable(name));
    await(asyncAdmin.deleteTable(name));
    assertTrue(!await(asyncAdmin.tableExists(name)));
  }
}
