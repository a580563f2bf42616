import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.PerformanceEvaluation;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.util.ToolRunner;

/**
 * Runs the stock PerformanceEvaluation again and again in one JVM, as its main() would, and judges what it logs.
 *
 * <p>Reads one case a line, {@code NAME<TAB>STEP WORD...}, and prints one line a case: its name, its time, and what is wrong.
 * Everything a case logs goes to {@code LOGS/NAME.log}. Steps:
 *
 * <pre>
 *   pe OPTION... COMMAND CLIENTS           --nomapred is added
 *   during ACTION TABLE pe ...             ACTION (flush, major, split, restart, kill) is done again and again until the
 *                                          command ends
 *   flush|major|split|drop TABLE           returns when it is done
 *   restart|kill TABLE                     the server stops or is killed, and starts again
 *   check TABLE [rows=N] [cells=N] [sum=QUALIFIER:N] [length=QUALIFIER:N]
 *       forward scan, backward scan and Gets of all rows agree, and there are as many; sum adds up counters,
 *       length is that of each value
 * </pre>
 */
public class PeSweep {
  /** What a log may say although nothing is wrong. */
  private static final Pattern HARMLESS =
    Pattern.compile("native-hadoop library|Option \"rows\" unspecified|options provided for|ZKConnectionRegistry is deprecated|log4j:WARN|hbase.client.start.log");
  private static final Pattern BAD = Pattern.compile("Exception|Error\\b| ERROR | FATAL | WARN |^\\s+at .*\\.java:");
  private static final Pattern WARNING = Pattern.compile(" ERROR | FATAL | WARN ");
  private static final Pattern FATAL = Pattern.compile(" ERROR | FATAL ");
  private static final Pattern MEASURES = Pattern.compile("Num measures \\(latency\\) : (\\d+)");
  private static final Pattern RANGE = Pattern.compile("Scan for key range (\\d+) - (\\d+) returned (\\d+) rows");
  private static final Pattern SPEED = Pattern.compile("Avg TPS/QPS\\]\\s+(\\d+)");
  private static final int GETS_IN_ONE_CALL = 500;
  /** What ends the server; a client needs time between two of them. */
  private static final List<String> ENDS = List.of("restart", "kill");

  private static final PrintStream OUT = System.out;
  private static OutputStream log = OutputStream.nullOutputStream();

  public static void main(String[] args) throws Exception {
    PrintStream forwarding = new PrintStream(new OutputStream() {
      @Override
      public void write(int b) throws IOException {
        log.write(b);
      }

      @Override
      public void write(byte[] bytes, int from, int length) throws IOException {
        log.write(bytes, from, length);
      }
    }, true, StandardCharsets.UTF_8);
    System.setErr(forwarding);
    System.setOut(forwarding);
    Path logs = Files.createDirectories(Path.of(args[0]));
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    int cases = 0;
    int failures = 0;
    for (String line; (line = in.readLine()) != null;) {
      String[] nameAndStep = line.split("\t", 2);
      cases++;
      if (!run(logs, nameAndStep[0], List.of(nameAndStep[1].trim().split("\\s+")))) {
        failures++;
      }
    }
    OUT.println(failures == 0 ? cases + " cases passed" : failures + " of " + cases + " cases FAILED, see " + logs);
    System.exit(failures == 0 ? 0 : 1);
  }

  private static boolean run(Path logs, String name, List<String> step) throws IOException {
    Path file = logs.resolve(name.replace('/', '.') + ".log");
    List<String> wrong = new ArrayList<>();
    long start = System.nanoTime();
    try (OutputStream to = new FileOutputStream(file.toFile())) {
      log = to;
      System.err.println("# " + String.join(" ", step));
      step(step, wrong);
    } catch (Exception | AssertionError e) {
      wrong.add(e.toString());
    } finally {
      log = OutputStream.nullOutputStream();
    }
    String text = Files.readString(file);
    judge(step, text, wrong);
    long ms = (System.nanoTime() - start) / 1_000_000;
    Matcher speed = SPEED.matcher(text);
    String rate = speed.find() ? speed.group(1) + " rows/s" : "";
    OUT.printf("%-4s %-44s %6d ms  %s%n", wrong.isEmpty() ? "ok" : "FAIL", name, ms, rate);
    wrong.stream().limit(5).forEach(what -> OUT.println("       " + what));
    return wrong.isEmpty();
  }

  private static void step(List<String> step, List<String> wrong) throws Exception {
    List<String> rest = step.subList(1, step.size());
    switch (step.get(0)) {
      case "pe":
        evaluate(rest, wrong, true);
        break;
      case "during":
        Callable<Void> action = () -> {
          act(rest.get(0), rest.get(1));
          return null;
        };
        boolean ends = ENDS.contains(rest.get(0));
        during(ends ? 1000 : 200, ends ? 15000 : 200, action, () -> evaluate(rest.subList(3, rest.size()), wrong, false));
        break;
      case "check":
        check(rest.get(0), rest.subList(1, rest.size()));
        break;
      default:
        act(step.get(0), rest.get(0));
    }
  }

  private interface Work {
    void run() throws Exception;
  }

  private static void during(int firstMs, int pauseMs, Callable<Void> action, Work work) throws Exception {
    var thread = Executors.newSingleThreadExecutor();
    var over = new CountDownLatch(1);
    Future<?> acting = thread.submit(() -> {
      // Once at least, however short the work is.
      Thread.sleep(firstMs);
      do {
        action.call();
      } while (!over.await(pauseMs, TimeUnit.MILLISECONDS));
      return null;
    });
    try {
      work.run();
    } finally {
      over.countDown();
      acting.get();
      thread.shutdown();
    }
  }

  /** What PerformanceEvaluation's main does, without the exit. With {@code strict} the client tells of every retry. */
  private static void evaluate(List<String> words, List<String> wrong, boolean strict) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    if (strict) {
      conf.setInt("hbase.client.start.log.errors.counter", 0);
    }
    // Settings come first, or they are taken for commands.
    List<String> all = new ArrayList<>(words.stream().filter(w -> w.startsWith("-D")).toList());
    all.add("--nomapred");
    all.addAll(words.stream().filter(w -> !w.startsWith("-D")).toList());
    int code = ToolRunner.run(new PerformanceEvaluation(conf), all.toArray(new String[0]));
    if (code != 0) {
      wrong.add("exit code " + code);
    }
    if (words.get(words.size() - 2).startsWith("async")) {
      // An asynchronous scan that has what it wants closes its connection under its last request, and the client says so.
      Thread.sleep(500);
    }
  }

  private static void judge(List<String> step, String text, List<String> wrong) {
    boolean disturbed = step.get(0).equals("during");
    boolean ended = disturbed && ENDS.contains(step.get(1));
    Matcher end = SPEED.matcher(text);
    String judged = end.find() ? text.substring(0, end.end()) : text;
    for (String line : judged.split("\n")) {
      // The client may tell of the retries that the disturbance makes; the exit code says whether it gave up.
      boolean bad = ended ? FATAL.matcher(line).find() : disturbed ? WARNING.matcher(line).find() : BAD.matcher(line).find();
      if (bad && !HARMLESS.matcher(line).find()) {
        wrong.add(line.length() > 300 ? line.substring(0, 300) + "…" : line);
      }
    }
    if (!step.contains("pe")) {
      return;
    }
    int clients = Integer.parseInt(step.get(step.size() - 1));
    int finished = text.split("Finished TestClient-", -1).length - 1;
    if (finished != clients) {
      wrong.add(finished + " of " + clients + " clients finished");
    }
    long rows = option(step, "--rows", 1);
    long measured = MEASURES.matcher(text).results().mapToLong(m -> Long.parseLong(m.group(1))).sum();
    boolean all = step.stream().noneMatch(w -> w.startsWith("--sampleRate") || w.startsWith("--multi") || w.startsWith("--cycles")
      || w.startsWith("--measureAfter") || w.startsWith("--startRow"));
    if (all && measured != clients * (rows - 1)) {
      wrong.add(measured + " operations were measured, not " + clients * (rows - 1));
    }
    // The tables that ranges are read from have all rows from 0 to rows * clients.
    boolean none = step.contains("--filterAll");
    Matcher range = RANGE.matcher(text);
    while (range.find()) {
      long first = Long.parseLong(range.group(1));
      long expected = none ? 0 : Math.min(rows * clients, Long.parseLong(range.group(2))) - first;
      if (Long.parseLong(range.group(3)) != expected) {
        wrong.add(range.group() + ", not " + expected);
      }
    }
  }

  private static long option(List<String> words, String name, long missing) {
    return words.stream().filter(w -> w.startsWith(name + "=")).mapToLong(w -> Long.parseLong(w.substring(name.length() + 1)))
      .findFirst().orElse(missing);
  }

  private static void act(String action, String name) throws Exception {
    if (ENDS.contains(action)) {
      server(action.equals("kill") ? "kill" : "stop");
      server("start");
      return;
    }
    TableName table = TableName.valueOf(name);
    try (Connection connection = ConnectionFactory.createConnection(HBaseConfiguration.create()); Admin admin = connection.getAdmin()) {
      switch (action) {
        case "flush":
          admin.flush(table);
          break;
        case "major":
          compact(admin, table);
          break;
        case "split":
          split(admin, table);
          break;
        case "drop":
          if (admin.tableExists(table)) {
            if (admin.isTableEnabled(table)) {
              admin.disableTable(table);
            }
            admin.deleteTable(table);
          }
          break;
        default:
          throw new IllegalArgumentException("no such step: " + action);
      }
    }
  }

  /** The command that PE_SWEEP_SERVER names starts and ends the server. */
  private static void server(String what) throws Exception {
    String command = System.getenv("PE_SWEEP_SERVER") + " " + what;
    Process process = new ProcessBuilder("bash", "-c", command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    require(process.waitFor() == 0, command + ": " + said);
  }

  private static void compact(Admin admin, TableName table) throws Exception {
    long before = System.currentTimeMillis();
    admin.majorCompact(table);
    for (int i = 0; i < 600; i++) {
      Thread.sleep(100);
      boolean idle = admin.getCompactionState(table) == org.apache.hadoop.hbase.client.CompactionState.NONE;
      if (idle && System.currentTimeMillis() - before > 500) {
        return;
      }
    }
    throw new IOException("the compaction of " + table + " took more than a minute");
  }

  /** Splits the first region that can be split, if there are fewer than sixteen; daughters may have to be compacted first. */
  private static void split(Admin admin, TableName table) throws Exception {
    for (int i = 0; i < 100; i++) {
      List<RegionInfo> regions = admin.getRegions(table);
      if (regions.size() >= 16) {
        return;
      }
      for (RegionInfo region : regions) {
        try {
          admin.splitRegionAsync(region.getRegionName(), null).get();
          return;
        } catch (IOException | java.util.concurrent.ExecutionException e) {
          String why = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
          System.err.println("not split: " + region.getEncodedName() + " " + why);
        }
      }
      Thread.sleep(100);
    }
    throw new IOException("no region of " + table + " could be split in ten seconds");
  }

  private static void check(String name, List<String> expected) throws Exception {
    try (Connection connection = ConnectionFactory.createConnection(HBaseConfiguration.create());
      var table = connection.getTable(TableName.valueOf(name))) {
      List<Result> forward = read(table.getScanner(new Scan().setCaching(1000)));
      List<Result> backward = read(table.getScanner(new Scan().setCaching(1000).setReversed(true)));
      java.util.Collections.reverse(backward);
      same("scan and backward scan", forward, backward);
      List<Result> got = new ArrayList<>();
      for (int from = 0; from < forward.size(); from += GETS_IN_ONE_CALL) {
        List<Get> gets = new ArrayList<>();
        for (Result result : forward.subList(from, Math.min(forward.size(), from + GETS_IN_ONE_CALL))) {
          gets.add(new Get(result.getRow()));
        }
        got.addAll(Arrays.asList(table.get(gets)));
      }
      same("scan and gets", forward, got);
      for (String what : expected) {
        String[] pair = what.split("=", 2);
        expect(what, pair[0], pair[1], forward);
      }
    }
  }

  private static List<Result> read(ResultScanner scanner) throws IOException {
    List<Result> results = new ArrayList<>();
    try (scanner) {
      for (Result result; (result = scanner.next()) != null;) {
        results.add(result);
      }
    }
    return results;
  }

  private static void same(String what, List<Result> left, List<Result> right) throws Exception {
    require(left.size() == right.size(), what + " have " + left.size() + " and " + right.size() + " rows");
    for (int i = 0; i < left.size(); i++) {
      Result.compareResults(left.get(i), right.get(i));
    }
  }

  private static void expect(String what, String kind, String value, List<Result> rows) {
    if (kind.equals("rows")) {
      require(rows.size() == Long.parseLong(value), what + ", but there are " + rows.size());
    } else if (kind.equals("cells")) {
      long cells = rows.stream().mapToLong(Result::size).sum();
      require(cells == Long.parseLong(value), what + ", but there are " + cells);
    } else {
      String[] pair = value.split(":");
      long number = Long.parseLong(pair[1]);
      long sum = 0;
      for (Result row : rows) {
        for (Cell cell : row.rawCells()) {
          if (!Bytes.toString(CellUtil.cloneQualifier(cell)).equals(pair[0])) {
            continue;
          }
          if (kind.equals("length")) {
            require(cell.getValueLength() == number, what + ", but " + cell + " has " + cell.getValueLength());
          } else {
            sum += Bytes.toLong(CellUtil.cloneValue(cell));
          }
        }
      }
      require(kind.equals("length") || sum == number, what + ", but it is " + sum);
    }
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }
}
