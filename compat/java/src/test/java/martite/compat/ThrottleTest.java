package martite.compat;

import static martite.compat.Text.b;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.quotas.QuotaFilter;
import org.apache.hadoop.hbase.quotas.QuotaSettingsFactory;
import org.apache.hadoop.hbase.quotas.RpcThrottlingException;
import org.apache.hadoop.hbase.quotas.ThrottleType;
import org.apache.hadoop.hbase.security.User;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Limits: calls over them wait and do not fail. How much passes is compared with the time that really went by, and only
 * from above: a slow machine may do less.
 */
@ResourceLock("the switch of throttling")
class ThrottleTest extends CompatTest {
  private static final int SOME = 50;
  private final String user = "throttle_user_" + Long.toString(System.nanoTime(), 36);
  private final List<AutoCloseable> connections = new ArrayList<>();

  @AfterEach
  void removeLimits() throws Exception {
    admin.setQuota(QuotaSettingsFactory.unthrottleUser(user));
    for (AutoCloseable one : connections) {
      one.close();
    }
  }

  private Connection connect(String user, Configuration conf) throws Exception {
    User caller = User.createUserForTesting(conf, user, new String[0]);
    Connection mine =
        caller.runAs((PrivilegedExceptionAction<Connection>) () -> ConnectionFactory.createConnection(conf));
    connections.add(mine);
    return mine;
  }

  private AsyncTable<?> async(TableName name) throws Exception {
    Configuration conf = Server.configuration();
    User caller = User.createUserForTesting(conf, user, new String[0]);
    AsyncConnection mine = ConnectionFactory.createAsyncConnection(conf, caller).get();
    connections.add(mine);
    return mine.getTable(name);
  }

  private void limit(ThrottleType type, long limit, TimeUnit unit) throws Exception {
    admin.setQuota(QuotaSettingsFactory.throttleUser(user, type, limit, unit));
  }

  private static List<Put> puts(int count) {
    List<Put> puts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      puts.add(new Put(b(String.format("row%05d", i))).addColumn(b("f"), b("q"), new byte[100]));
    }
    return puts;
  }

  /** A table with rows, put by a user without limits. */
  private TableName filled(int rows) throws Exception {
    Table table = newTable("f");
    table.put(puts(rows));
    return table.getName();
  }

  private interface Work {
    void run(Table table) throws Exception;
  }

  /** Work that takes so much of the limit of a second takes its time: not more passes than the limit and a fiftieth, and one. */
  private void assertTakes(long amount, long limit, long one, TableName name, Work work) throws Exception {
    try (Table table = connect(user, Server.configuration()).getTable(name)) {
      long began = System.nanoTime();
      work.run(table);
      double seconds = (System.nanoTime() - began) / 1e9;
      double most = limit * seconds + limit / 50.0 + one;
      assertTrue(amount <= most, amount + " in " + seconds + " s, at most " + most);
    }
  }

  @Test
  void requestsKeepToTheirLimitAndDoNotFail() throws Exception {
    TableName name = filled(1);
    limit(ThrottleType.REQUEST_NUMBER, SOME, TimeUnit.SECONDS);
    assertTakes(2 * SOME, SOME, 1, name, table -> {
      for (int i = 0; i < 2 * SOME; i++) {
        assertFalse(table.get(new Get(b("row00000"))).isEmpty());
      }
    });
  }

  @Test
  void batchesCountAsWhatTheyAre() throws Exception {
    TableName name = filled(1);
    limit(ThrottleType.WRITE_NUMBER, 10 * SOME, TimeUnit.SECONDS);
    assertTakes(20 * SOME, 10 * SOME, SOME, name, table -> {
      for (int i = 0; i < 20; i++) {
        table.put(puts(SOME));
      }
    });
  }

  @Test
  void scansAreChargedForTheRowsThatTheyRead() throws Exception {
    TableName name = filled(1000);
    limit(ThrottleType.READ_NUMBER, 500, TimeUnit.SECONDS);
    assertTakes(1000, 500, 100, name, table -> {
      int rows = 0;
      try (ResultScanner scanner = table.getScanner(new Scan().setCaching(100))) {
        for (Result ignored : scanner) {
          rows++;
        }
      }
      assertEquals(1000, rows);
    });
  }

  @Test
  void atomicLimitsAreForWhatReadsBeforeItWrites() throws Exception {
    TableName name = filled(1);
    limit(ThrottleType.valueOf("ATOMIC_REQUEST_NUMBER"), 2 * SOME, TimeUnit.SECONDS);
    assertTakes(4 * SOME, 2 * SOME, 2, name, table -> {
      for (int i = 0; i < 2 * SOME; i++) {
        table.increment(new Increment(b("counter")).addColumn(b("f"), b("n"), 1));
      }
      assertEquals(2 * SOME, table.increment(new Increment(b("counter")).addColumn(b("f"), b("n"), 0))
          .getValue(b("f"), b("n"))[7]);
    });
  }

  @Test
  void waitingLongerThanTheClientDoesIsRefusedWithTheTime() throws Exception {
    TableName name = filled(1);
    limit(ThrottleType.REQUEST_NUMBER, 1, TimeUnit.HOURS);
    Configuration conf = Server.configuration();
    conf.setInt("hbase.client.retries.number", 0);
    try (Table table = connect(user, conf).getTable(name)) {
      table.get(new Get(b("row00000")));
      RpcThrottlingException thrown =
          assertFails(RpcThrottlingException.class, () -> table.get(new Get(b("row00000"))));
      assertEquals(RpcThrottlingException.Type.NumRequestsExceeded, thrown.getType());
      assertTrue(thrown.getWaitInterval() > TimeUnit.MINUTES.toMillis(50), thrown.getMessage());
      assertTrue(thrown.getMessage().contains("USER => " + user + ", LIMIT => REQUEST_NUMBER 1req/hour"),
          thrown.getMessage());
      List<Row> batch = new ArrayList<>(puts(3));
      assertFails(RpcThrottlingException.class, () -> table.batch(batch, new Object[3]));
      assertFails(RpcThrottlingException.class, () -> table.getScanner(new Scan()).next());
    }
  }

  @Test
  void whoWaitsGoesOnWhenTheLimitGoes() throws Exception {
    TableName name = filled(1);
    // Half a minute each: they wait, for the client waits longer.
    limit(ThrottleType.READ_NUMBER, 4, TimeUnit.MINUTES);
    AsyncTable<?> mine = async(name);
    mine.get(new Get(b("row00000"))).get();
    CompletableFuture<Result> waiting = mine.get(new Get(b("row00000")));
    // It leaves the connection's other calls alone: this is answered, and the one that came before it is not.
    mine.put(puts(1).get(0)).get();
    assertFalse(waiting.isDone());
    try (Table table = connect("another_" + user, Server.configuration()).getTable(name)) {
      assertFalse(table.get(new Get(b("row00000"))).isEmpty());
    }
    assertFalse(waiting.isDone());
    admin.setQuota(QuotaSettingsFactory.unthrottleUser(user));
    assertFalse(waiting.get().isEmpty());
  }

  @Test
  void aNewLimitCountsForThoseWhoWait() throws Exception {
    TableName name = filled(1);
    limit(ThrottleType.REQUEST_NUMBER, 4, TimeUnit.MINUTES);
    AsyncTable<?> mine = async(name);
    mine.get(new Get(b("row00000"))).get();
    CompletableFuture<Result> waiting = mine.get(new Get(b("row00000")));
    limit(ThrottleType.REQUEST_NUMBER, 1000, TimeUnit.SECONDS);
    assertFalse(waiting.get().isEmpty());
  }

  /** Priorities change no answers; they are set by request, or for an owner by a plain client in hbase:quota. */
  @Test
  void prioritiesAreTakenFromTheRequestAndFromTheTable() throws Exception {
    TableName name = filled(100);
    try (Table quota = connection.getTable(TableName.valueOf("hbase:quota"))) {
      quota.put(new Put(b("u." + user)).addColumn(b("u"), b("priority"), b("batch")));
      assertTrue(admin.getQuota(new QuotaFilter().setUserFilter(user)).isEmpty(), "HBase's tools pass over it");
      try (Table table = connect(user, Server.configuration()).getTable(name)) {
        for (int priority : new int[] {1, 0, 2}) {
          assertFalse(table.get(new Get(b("row00000")).setPriority(priority)).isEmpty());
          table.increment(new Increment(b("counter")).addColumn(b("f"), b("n"), 1).setPriority(priority));
          int rows = 0;
          try (ResultScanner scanner = table.getScanner(new Scan().setCaching(30).setPriority(priority))) {
            for (Result ignored : scanner) {
              rows++;
            }
          }
          assertEquals(101, rows);
        }
        assertEquals(100, table.get(new ArrayList<>(puts(100).stream().map(p -> new Get(p.getRow())).toList())).length);
      } finally {
        quota.delete(new Delete(b("u." + user)).addColumns(b("u"), b("priority")));
      }
    }
  }

  /** Many at once: the server does them in pieces, on whatever thread has time. */
  @Test
  void scansOfLowPriorityReturnAllRowsInTheirOrder() throws Exception {
    TableName name = filled(5000);
    admin.flush(name);
    AsyncTable<?> mine = async(name);
    for (int round = 0; round < 3; round++) {
      List<CompletableFuture<List<Result>>> scans = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        scans.add(mine.scanAll(new Scan().withStartRow(b(String.format("row%05d", i))).setPriority(1)));
      }
      for (int i = 0; i < scans.size(); i++) {
        assertFalse(mine.get(new Get(b("row00000"))).get().isEmpty());
        List<Result> rows = scans.get(i).get();
        assertEquals(5000 - i, rows.size());
        for (int row = 0; row < rows.size(); row++) {
          assertArrayEquals(b(String.format("row%05d", i + row)), rows.get(row).getRow());
          assertArrayEquals(new byte[100], rows.get(row).getValue(b("f"), b("q")));
        }
      }
    }
  }

  @Test
  void switchedOffNothingIsLimited() throws Exception {
    TableName name = filled(1);
    limit(ThrottleType.REQUEST_NUMBER, 1, TimeUnit.HOURS);
    assertTrue(admin.switchRpcThrottle(false));
    try (Table table = connect(user, Server.configuration()).getTable(name)) {
      for (int i = 0; i < 10; i++) {
        table.get(new Get(b("row00000")));
      }
    } finally {
      admin.switchRpcThrottle(true);
    }
  }
}
