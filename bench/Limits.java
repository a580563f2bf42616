import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.quotas.QuotaSettingsFactory;
import org.apache.hadoop.hbase.quotas.ThrottleType;
import org.apache.hadoop.hbase.security.User;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Closed loops of one user under a limit, by HBase's own client with its default settings: how much passes, how evenly,
 * what fails. See limits.sh.
 */
public final class Limits {
  private static final TableName TABLE = TableName.valueOf("limits");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final int ROWS = 10_000;
  private static final int VALUE = 1_000;
  private static final int BATCH = 100;

  private final int threads;
  private final double warmup;
  private final double seconds;
  private final long pid;

  private Limits(int threads, double warmup, double seconds, long pid) {
    this.threads = threads;
    this.warmup = warmup;
    this.seconds = seconds;
    this.pid = pid;
  }

  /** Arguments: threads, seconds of warm-up and of measurement, the server's process, limits. */
  public static void main(String[] args) throws Exception {
    Limits runs = new Limits(Integer.parseInt(args[0]), Double.parseDouble(args[1]), Double.parseDouble(args[2]),
        Long.parseLong(args[3]));
    Configuration conf = HBaseConfiguration.create();
    try (Connection connection = ConnectionFactory.createConnection(conf); Admin admin = connection.getAdmin()) {
      load(connection, admin);
      for (String limit : Arrays.copyOfRange(args, 4, args.length)) {
        System.out.println(runs.row(conf, admin, Limit.parse(limit)));
      }
    }
  }

  private static void load(Connection connection, Admin admin) throws IOException {
    admin.createTable(TableDescriptorBuilder.newBuilder(TABLE).setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY))
        .build());
    byte[] value = new byte[VALUE];
    Random random = new Random(1);
    try (Table table = connection.getTable(TABLE)) {
      for (int from = 0; from < ROWS; from += BATCH) {
        List<Put> puts = new ArrayList<>();
        for (int i = from; i < from + BATCH; i++) {
          random.nextBytes(value);
          puts.add(new Put(key(i)).addColumn(FAMILY, QUALIFIER, value.clone()));
        }
        table.put(puts);
      }
    }
    admin.flush(TABLE);
  }

  private static byte[] key(int row) {
    return Bytes.toBytes(String.format("row%07d", row));
  }

  /** Does one operation and returns how much of its limit that was. */
  private interface Work {
    long run(Table table, Random random) throws IOException;
  }

  private record Limit(String name, ThrottleType type, long perSecond, Work work) {
    /** "999": Gets a second; "10000x100": Gets a second, 100 in a call; "10000rows", "10MiB": of scans of 100 rows. */
    static Limit parse(String text) {
      if (text.endsWith("x" + BATCH)) {
        long limit = number(text, "x" + BATCH);
        return new Limit(limit + " req/s, " + BATCH + " in a call", ThrottleType.REQUEST_NUMBER, limit, Limits::batch);
      }
      if (text.endsWith("rows")) {
        long limit = number(text, "rows");
        return new Limit(limit + " rows/s, scans", ThrottleType.READ_NUMBER, limit, (table, random) -> scan(table, random)[0]);
      }
      if (text.endsWith("MiB")) {
        long limit = number(text, "MiB");
        return new Limit(limit + " MiB/s, scans", ThrottleType.READ_SIZE, limit << 20, (table, random) -> scan(table, random)[1]);
      }
      long limit = number(text, "");
      return new Limit(limit + " req/s", ThrottleType.REQUEST_NUMBER, limit, Limits::get);
    }

    private static long number(String text, String unit) {
      return Long.parseLong(text.substring(0, text.length() - unit.length()));
    }
  }

  private static long get(Table table, Random random) throws IOException {
    check(table.get(new Get(key(random.nextInt(ROWS)))));
    return 1;
  }

  private static long batch(Table table, Random random) throws IOException {
    List<Get> gets = new ArrayList<>();
    for (int i = 0; i < BATCH; i++) {
      gets.add(new Get(key(random.nextInt(ROWS))));
    }
    for (Result result : table.get(gets)) {
      check(result);
    }
    return BATCH;
  }

  /** Rows and bytes of a scan of a hundred rows. */
  private static long[] scan(Table table, Random random) throws IOException {
    Scan scan = new Scan().withStartRow(key(random.nextInt(ROWS - BATCH))).setLimit(BATCH).setCaching(BATCH);
    long[] sums = new long[2];
    try (ResultScanner scanner = table.getScanner(scan)) {
      for (Result result = scanner.next(); result != null; result = scanner.next()) {
        check(result);
        sums[0]++;
        sums[1] += PrivateCellUtil.estimatedSerializedSizeOf(result.rawCells()[0]);
      }
    }
    if (sums[0] != BATCH) {
      throw new IllegalStateException("a scan of " + BATCH + " rows brought " + sums[0]);
    }
    return sums;
  }

  private static void check(Result result) {
    if (result.size() != 1 || result.rawCells()[0].getValueLength() != VALUE) {
      throw new IllegalStateException("a wrong answer: " + result);
    }
  }

  /** When an operation ended and how much it was; a failed one was nothing. */
  private record Done(long at, long amount) {}

  private String row(Configuration conf, Admin admin, Limit limit) throws Exception {
    String name = "limited_" + limit.perSecond() + "_" + limit.type().name().toLowerCase(Locale.ROOT) + "_" + System.nanoTime();
    admin.setQuota(QuotaSettingsFactory.throttleUser(name, limit.type(), limit.perSecond(), TimeUnit.SECONDS));
    User user = User.createUserForTesting(conf, name, new String[0]);
    List<Done> done = new ArrayList<>();
    long from;
    double cpu;
    try (Connection connection =
        user.runAs((PrivilegedExceptionAction<Connection>) () -> ConnectionFactory.createConnection(conf))) {
      from = System.nanoTime() + (long) (warmup * 1e9);
      long until = from + (long) (seconds * 1e9);
      List<Loop> loops = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        loops.add(new Loop(connection, limit.work(), until, i));
      }
      loops.forEach(Thread::start);
      TimeUnit.NANOSECONDS.sleep(from - System.nanoTime());
      double before = serverCpu();
      TimeUnit.NANOSECONDS.sleep(until - System.nanoTime());
      cpu = serverCpu() - before;
      for (Loop loop : loops) {
        loop.join();
        if (loop.wrong != null) {
          throw loop.wrong;
        }
        done.addAll(loop.done);
      }
    } finally {
      admin.setQuota(QuotaSettingsFactory.unthrottleUser(name));
    }
    return summary(limit, done, from, cpu);
  }

  private String summary(Limit limit, List<Done> done, long from, double cpu) {
    long until = from + (long) (seconds * 1e9);
    done.removeIf(one -> one.at() < from || one.at() >= until);
    done.sort(Comparator.comparingLong(Done::at));
    long amount = done.stream().mapToLong(Done::amount).sum();
    long failed = done.stream().filter(one -> one.amount() == 0).count();
    double least = Double.MAX_VALUE;
    double most = 0;
    for (long start = from; start + 1_000_000_000 <= until; start += 10_000_000) {
      double passed = sum(done, start, start + 1_000_000_000) / (double) limit.perSecond();
      least = Math.min(least, passed);
      most = Math.max(most, passed);
    }
    long succeeded = done.size() - failed;
    return String.format(Locale.ROOT, "%s | %.3f | %.3f to %.3f | %d | %d | %.1f", limit.name(),
        amount / (limit.perSecond() * seconds), least, most, succeeded, failed, cpu * 1e6 / Math.max(1, succeeded));
  }

  private static long sum(List<Done> sorted, long from, long until) {
    long sum = 0;
    for (int i = firstSince(sorted, from); i < sorted.size() && sorted.get(i).at() < until; i++) {
      sum += sorted.get(i).amount();
    }
    return sum;
  }

  private static int firstSince(List<Done> sorted, long at) {
    int low = 0;
    int high = sorted.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (sorted.get(middle).at() < at) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** One operation after the other until the time is over. */
  private static final class Loop extends Thread {
    private final Connection connection;
    private final Work work;
    private final long until;
    private final Random random;
    private final List<Done> done = new ArrayList<>();
    /** What is no failed call: an answer that is wrong. */
    private RuntimeException wrong;

    Loop(Connection connection, Work work, long until, int seed) {
      this.connection = connection;
      this.work = work;
      this.until = until;
      this.random = new Random(seed);
    }

    @Override
    public void run() {
      try (Table table = connection.getTable(TABLE)) {
        while (System.nanoTime() < until) {
          long amount = 0;
          try {
            amount = work.run(table, random);
          } catch (IOException e) {
            System.err.println("failed: " + e);
          }
          done.add(new Done(System.nanoTime(), amount));
        }
      } catch (IOException e) {
        System.err.println("closing the table: " + e);
      } catch (RuntimeException e) {
        wrong = e;
      }
    }
  }

  /** Seconds of a processor that the server has used. */
  private double serverCpu() throws IOException {
    String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    // Ticks of a hundredth of a second, as on every Linux of the machines that HBase runs on.
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / 100.0;
  }
}
