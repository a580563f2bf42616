import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.BufferedMutatorParams;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.filter.BinaryComparator;
import org.apache.hadoop.hbase.filter.BinaryComponentComparator;
import org.apache.hadoop.hbase.filter.BinaryPrefixComparator;
import org.apache.hadoop.hbase.filter.ByteArrayComparable;
import org.apache.hadoop.hbase.filter.ColumnPaginationFilter;
import org.apache.hadoop.hbase.filter.ColumnPrefixFilter;
import org.apache.hadoop.hbase.filter.ColumnRangeFilter;
import org.apache.hadoop.hbase.filter.ColumnValueFilter;
import org.apache.hadoop.hbase.filter.DependentColumnFilter;
import org.apache.hadoop.hbase.filter.FamilyFilter;
import org.apache.hadoop.hbase.filter.Filter;
import org.apache.hadoop.hbase.filter.FilterAllFilter;
import org.apache.hadoop.hbase.filter.FilterList;
import org.apache.hadoop.hbase.filter.FirstKeyOnlyFilter;
import org.apache.hadoop.hbase.filter.FirstKeyValueMatchingQualifiersFilter;
import org.apache.hadoop.hbase.filter.FuzzyRowFilter;
import org.apache.hadoop.hbase.filter.InclusiveStopFilter;
import org.apache.hadoop.hbase.filter.KeyOnlyFilter;
import org.apache.hadoop.hbase.filter.MultiRowRangeFilter;
import org.apache.hadoop.hbase.filter.MultiRowRangeFilter.RowRange;
import org.apache.hadoop.hbase.filter.MultipleColumnPrefixFilter;
import org.apache.hadoop.hbase.filter.PageFilter;
import org.apache.hadoop.hbase.filter.PrefixFilter;
import org.apache.hadoop.hbase.filter.QualifierFilter;
import org.apache.hadoop.hbase.filter.RandomRowFilter;
import org.apache.hadoop.hbase.filter.RegexStringComparator;
import org.apache.hadoop.hbase.filter.RowFilter;
import org.apache.hadoop.hbase.filter.SingleColumnValueExcludeFilter;
import org.apache.hadoop.hbase.filter.SingleColumnValueFilter;
import org.apache.hadoop.hbase.filter.SkipFilter;
import org.apache.hadoop.hbase.filter.SubstringComparator;
import org.apache.hadoop.hbase.filter.TimestampsFilter;
import org.apache.hadoop.hbase.filter.ValueFilter;
import org.apache.hadoop.hbase.filter.WhileMatchFilter;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Pair;

/**
 * Scans of whole tables with HBase's filters, by HBase's own client, of two servers by turns: what a row costs the server,
 * and whether both say the same. See filters.sh.
 */
public final class Filters {
  private static final byte[] FAMILY = Bytes.toBytes("f");
  /** One column of 1,000 bytes, and ten of 100. */
  private static final TableName ONE = TableName.valueOf("one");
  private static final TableName TEN = TableName.valueOf("ten");
  private static final int KEY = 16;
  /** Values consist of upper-case letters. */
  private static final byte[] NONE = Bytes.toBytes("none");

  private record Case(TableName table, Supplier<Scan> scan) {}

  private record Server(String name, Connection connection, long process) {}

  /** What a scan brought. */
  private record Answer(long cells, long hash) {}

  private final long rows;
  private final Map<String, Case> cases = new LinkedHashMap<>();

  private Filters(long rows) {
    this.rows = rows;
    rowFilters();
    cellFilters();
    columnFilters();
    valueFilters();
    lists();
    withoutFilter();
  }

  private static byte[] key(long number) {
    return Bytes.toBytes(String.format(Locale.ROOT, "%0" + KEY + "d", number));
  }

  private static byte[] bytes(String text) {
    return Bytes.toBytes(text);
  }

  private static ByteArrayComparable is(String text) {
    return new BinaryComparator(bytes(text));
  }

  private static Filter all(Filter... filters) {
    return new FilterList(FilterList.Operator.MUST_PASS_ALL, filters);
  }

  private static Filter any(Filter... filters) {
    return new FilterList(FilterList.Operator.MUST_PASS_ONE, filters);
  }

  private static Filter row(CompareOperator op, ByteArrayComparable to) {
    return new RowFilter(op, to);
  }

  private static Filter rowEndsIn0() {
    return row(CompareOperator.EQUAL, new BinaryComponentComparator(bytes("0"), KEY - 1));
  }

  private static Filter qualifier(String name) {
    return new QualifierFilter(CompareOperator.EQUAL, is(name));
  }

  private static Filter value(ByteArrayComparable to) {
    return new ValueFilter(CompareOperator.EQUAL, to);
  }

  private static SingleColumnValueFilter column(String name, ByteArrayComparable to) {
    return new SingleColumnValueFilter(FAMILY, bytes(name), CompareOperator.EQUAL, to);
  }

  private void add(String name, TableName table, Supplier<Scan> scan) {
    cases.put(name, new Case(table, scan));
  }

  private void filter(String name, TableName table, Supplier<Filter> filter) {
    add(name, table, () -> new Scan().setFilter(filter.get()));
  }

  private void rowFilters() {
    filter("FilterAllFilter, one column", ONE, FilterAllFilter::new);
    filter("FilterAllFilter", TEN, FilterAllFilter::new);
    filter("RowFilter, last digit, a tenth", TEN, Filters::rowEndsIn0);
    filter("RowFilter, =, none", TEN, () -> row(CompareOperator.EQUAL, is("x")));
    filter("RowFilter, >, none", TEN, () -> row(CompareOperator.GREATER, is("x")));
    filter("RowFilter, regex, none", TEN, () -> row(CompareOperator.EQUAL, new RegexStringComparator("[a-z]$")));
    filter("RowFilter, substring, none", TEN, () -> row(CompareOperator.EQUAL, new SubstringComparator("xyz")));
    filter("PrefixFilter, a thousandth", TEN, () -> new PrefixFilter(Arrays.copyOf(key(rows / 2), KEY - 3)));
    filter("InclusiveStopFilter, a tenth", TEN, () -> new InclusiveStopFilter(key(rows / 10)));
    filter("PageFilter, 1,000 rows", TEN, () -> new PageFilter(1000));
    filter("FuzzyRowFilter, a hundredth", TEN, () -> fuzzy(KEY - 2, KEY));
    filter("MultiRowRangeFilter, 100 ranges, a tenth", TEN, this::ranges);
    filter("RandomRowFilter, none", TEN, () -> new RandomRowFilter(0));
    filter("WhileMatchFilter, a tenth", TEN, () -> new WhileMatchFilter(row(CompareOperator.LESS, new BinaryComparator(key(rows / 10)))));
  }

  /** Zeros from one byte to another, anything before. */
  private static Filter fuzzy(int from, int to) {
    byte[] mask = new byte[KEY];
    Arrays.fill(mask, (byte) 1);
    Arrays.fill(mask, from, to, (byte) 0);
    return new FuzzyRowFilter(List.of(new Pair<>(key(0), mask)));
  }

  private Filter ranges() {
    List<RowRange> ranges = new ArrayList<>();
    for (long start = 0; start < rows; start += rows / 100) {
      ranges.add(new RowRange(key(start), true, key(start + rows / 1000), false));
    }
    return new MultiRowRangeFilter(ranges);
  }

  private void cellFilters() {
    filter("KeyOnlyFilter, one column", ONE, KeyOnlyFilter::new);
    filter("KeyOnlyFilter", TEN, KeyOnlyFilter::new);
    filter("FirstKeyOnlyFilter, one column", ONE, FirstKeyOnlyFilter::new);
    filter("FirstKeyOnlyFilter", TEN, FirstKeyOnlyFilter::new);
    filter("FirstKeyOnlyFilter and KeyOnlyFilter", TEN, () -> all(new FirstKeyOnlyFilter(), new KeyOnlyFilter()));
    filter("TimestampsFilter, a thousandth", TEN, () -> new TimestampsFilter(List.of(1500L)));
    filter("TimestampsFilter with hints", TEN, () -> new TimestampsFilter(List.of(1500L), true));
    filter("FamilyFilter, none", TEN, () -> new FamilyFilter(CompareOperator.EQUAL, is("x")));
    filter("DependentColumnFilter, all", TEN, () -> new DependentColumnFilter(FAMILY, bytes("5")));
    filter("SkipFilter", TEN, () -> new SkipFilter(new ValueFilter(CompareOperator.NOT_EQUAL, new BinaryPrefixComparator(bytes("A")))));
  }

  private void columnFilters() {
    filter("QualifierFilter, one column", TEN, () -> qualifier("5"));
    filter("QualifierFilter, none", TEN, () -> qualifier("x"));
    filter("QualifierFilter, <, two columns", TEN, () -> new QualifierFilter(CompareOperator.LESS, is("2")));
    filter("QualifierFilter, regex, none", TEN, () -> new QualifierFilter(CompareOperator.EQUAL, new RegexStringComparator("[a-z]")));
    filter("ColumnPrefixFilter, one column", TEN, () -> new ColumnPrefixFilter(bytes("5")));
    filter("ColumnPrefixFilter, none", TEN, () -> new ColumnPrefixFilter(bytes("x")));
    filter("MultipleColumnPrefixFilter, two columns", TEN, () -> new MultipleColumnPrefixFilter(new byte[][] {bytes("2"), bytes("7")}));
    filter("ColumnRangeFilter, two columns", TEN, () -> new ColumnRangeFilter(bytes("3"), true, bytes("4"), true));
    filter("ColumnPaginationFilter, the sixth column", TEN, () -> new ColumnPaginationFilter(1, 5));
    filter("ColumnPaginationFilter, from column 5", TEN, () -> new ColumnPaginationFilter(1, bytes("5")));
    filter("FirstKeyValueMatchingQualifiersFilter", TEN, () -> new FirstKeyValueMatchingQualifiersFilter(Set.of(bytes("2"))));
  }

  private void valueFilters() {
    filter("ValueFilter, substring, none, one column", ONE, () -> value(new SubstringComparator("none")));
    filter("ValueFilter, substring, none", TEN, () -> value(new SubstringComparator("none")));
    filter("ValueFilter, =, none", TEN, () -> value(new BinaryComparator(NONE)));
    filter("ValueFilter, regex, none", TEN, () -> value(new RegexStringComparator("n.ne")));
    filter("ValueFilter, prefix, a 26th of the cells", TEN, () -> value(new BinaryPrefixComparator(bytes("A"))));
    filter("ValueFilter, !=, all, one column", ONE, () -> new ValueFilter(CompareOperator.NOT_EQUAL, new BinaryComparator(NONE)));
    filter("SingleColumnValueFilter, none, one column", ONE, () -> column("0", new BinaryComparator(NONE)));
    filter("SingleColumnValueFilter, none", TEN, () -> column("5", new BinaryComparator(NONE)));
    filter("SingleColumnValueFilter, a 26th", TEN, () -> column("5", new BinaryPrefixComparator(bytes("A"))));
    add("SingleColumnValueFilter, its column only", TEN, () -> new Scan().addColumn(FAMILY, bytes("5")).setFilter(column("5", new BinaryComparator(NONE))));
    filter("SingleColumnValueExcludeFilter, a 26th", TEN,
        () -> new SingleColumnValueExcludeFilter(FAMILY, bytes("5"), CompareOperator.EQUAL, new BinaryPrefixComparator(bytes("A"))));
    filter("ColumnValueFilter, a 26th", TEN,
        () -> new ColumnValueFilter(FAMILY, bytes("5"), CompareOperator.EQUAL, new BinaryPrefixComparator(bytes("A"))));
  }

  private void lists() {
    filter("row and column's value, none", TEN, () -> all(rowEndsIn0(), column("5", new BinaryComparator(NONE))));
    filter("qualifier and value, none", TEN, () -> all(qualifier("5"), value(new BinaryComparator(NONE))));
    filter("two columns' values, and", TEN, () -> all(column("2", new BinaryComparator(NONE)), column("7", new BinaryComparator(NONE))));
    filter("two columns' values, or", TEN, () -> any(column("2", new BinaryComparator(NONE)), column("7", new BinaryComparator(NONE))));
    filter("two qualifiers, or", TEN, () -> any(qualifier("2"), qualifier("7")));
    filter("ten rows, or", TEN, () -> {
      Filter[] these = new Filter[10];
      Arrays.setAll(these, at -> row(CompareOperator.EQUAL, new BinaryComparator(key(rows / 11 * at))));
      return any(these);
    });
    filter("rows from and to, a tenth", TEN, () -> all(
        row(CompareOperator.GREATER_OR_EQUAL, new BinaryComparator(key(rows / 2))),
        row(CompareOperator.LESS, new BinaryComparator(key(rows / 2 + rows / 10)))));
    filter("column's value and PageFilter, none", TEN, () -> all(column("5", new BinaryComparator(NONE)), new PageFilter(10)));
  }

  private void withoutFilter() {
    add("no filter, one column", ONE, Scan::new);
    add("no filter", TEN, Scan::new);
    add("a column", TEN, () -> new Scan().addColumn(FAMILY, bytes("5")));
    add("a column that no row has", TEN, () -> new Scan().addColumn(FAMILY, bytes("x")));
    add("a time range, a thousandth", TEN, () -> {
      try {
        return new Scan().setTimeRange(1500, 1501);
      } catch (IOException error) {
        throw new IllegalStateException(error);
      }
    });
    add("batches of three cells", TEN, () -> new Scan().setBatch(3));
    add("reversed, one column", ONE, () -> new Scan().setReversed(true));
    add("reversed, FilterAllFilter", TEN, () -> new Scan().setReversed(true).setFilter(new FilterAllFilter()));
    add("reversed, SingleColumnValueFilter, none", TEN, () -> new Scan().setReversed(true).setFilter(column("5", new BinaryComparator(NONE))));
  }

  /** The same on each server. */
  private void load(Connection connection, TableName name, int columns, int length) throws Exception {
    try (Admin admin = connection.getAdmin()) {
      admin.createTable(TableDescriptorBuilder.newBuilder(name)
          .setRegionSplitPolicyClassName("org.apache.hadoop.hbase.regionserver.DisabledRegionSplitPolicy")
          .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY)).build());
      Random random = new Random(1);
      byte[] value = new byte[length];
      try (BufferedMutator mutator = connection.getBufferedMutator(new BufferedMutatorParams(name).writeBufferSize(4 << 20))) {
        for (long number = 0; number < rows; number++) {
          Put put = new Put(key(number), 1000 + number % 1000).setDurability(Durability.SKIP_WAL);
          for (int column = 0; column < columns; column++) {
            for (int at = 0; at < length; at++) {
              value[at] = (byte) ('A' + (at % 8 == 0 ? random.nextInt(26) : value[at - 1] - 'A'));
            }
            put.addColumn(FAMILY, bytes("" + column), value.clone());
          }
          mutator.mutate(put);
        }
      }
      admin.flush(name);
      admin.majorCompact(name);
      // It is under way a moment after it was asked for, or over already.
      do {
        Thread.sleep(1000);
      } while (admin.getCompactionState(name) != CompactionState.NONE);
    }
  }

  private static double cpuSeconds(long process) throws IOException {
    String stat = Files.readString(Path.of("/proc/" + process + "/stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / 100.0;
  }

  private static Answer scan(Table table, Scan scan, boolean hashes) throws IOException {
    long cells = 0;
    long hash = 0;
    try (ResultScanner scanner = table.getScanner(scan)) {
      for (Result result; (result = scanner.next()) != null;) {
        for (Cell cell : result.rawCells()) {
          cells++;
          if (hashes) {
            hash = hash * 31 + Bytes.hashCode(CellUtil.cloneRow(cell)) + 7L * Bytes.hashCode(CellUtil.cloneQualifier(cell))
                + 13L * Arrays.hashCode(CellUtil.cloneValue(cell)) + cell.getTimestamp();
          }
        }
      }
    }
    return new Answer(cells, hash);
  }

  /** Microseconds of the server's CPU for a row of the table. */
  private double measure(Server server, Case what, double seconds) throws IOException {
    try (Table table = server.connection.getTable(what.table)) {
      double before = cpuSeconds(server.process);
      long began = System.nanoTime();
      long scans = 0;
      double used;
      do {
        scan(table, what.scan.get(), false);
        scans++;
        used = cpuSeconds(server.process) - before;
      } while (used == 0 || System.nanoTime() - began < seconds * 1e9);
      return used * 1e6 / (scans * rows);
    }
  }

  private static double middle(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
  }

  /** False: the servers do not agree. */
  private boolean run(String name, Case what, List<Server> servers, int rounds, double seconds) throws IOException {
    List<Answer> answers = new ArrayList<>();
    for (Server server : servers) {
      try (Table table = server.connection.getTable(what.table)) {
        answers.add(scan(table, what.scan.get(), true));
      }
      // Code that is compiled while it runs is compiled before it counts.
      measure(server, what, seconds / 2);
    }
    boolean same = Set.copyOf(answers).size() == 1;
    List<List<Double>> costs = new ArrayList<>();
    servers.forEach(server -> costs.add(new ArrayList<>()));
    for (int round = 0; round < rounds; round++) {
      for (int turn = 0; turn < servers.size(); turn++) {
        int at = round % 2 == 0 ? turn : servers.size() - 1 - turn;
        costs.get(at).add(measure(servers.get(at), what, seconds));
      }
    }
    StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "| %s | %d |", name, answers.get(0).cells));
    costs.forEach(each -> line.append(String.format(Locale.ROOT, " %.3f |", middle(each))));
    if (servers.size() == 2) {
      List<Double> ratios = new ArrayList<>();
      for (int round = 0; round < rounds; round++) {
        ratios.add(costs.get(1).get(round) / costs.get(0).get(round));
      }
      ratios.sort(null);
      line.append(String.format(Locale.ROOT, " %.1f (%.1f to %.1f) |", middle(ratios), ratios.get(0), ratios.get(rounds - 1)));
    }
    System.out.println(line + (same ? "" : " DIFFERENT: " + answers));
    return same;
  }

  private static Connection connect(String zookeeperPort) throws IOException {
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.zookeeper.quorum", "localhost");
    conf.set("hbase.zookeeper.property.clientPort", zookeeperPort);
    return ConnectionFactory.createConnection(conf);
  }

  /** ROWS ROUNDS SECONDS PATTERN, and of each server NAME ZOOKEEPER_PORT PROCESS. */
  public static void main(String[] args) throws Exception {
    Filters filters = new Filters(Long.parseLong(args[0]));
    Function<String, Boolean> wanted = args[3].isEmpty() ? name -> true : name -> Pattern.compile(args[3]).matcher(name).find();
    List<Server> servers = new ArrayList<>();
    for (int at = 4; at < args.length; at += 3) {
      Server server = new Server(args[at], connect(args[at + 1]), Long.parseLong(args[at + 2]));
      filters.load(server.connection, ONE, 1, 1000);
      filters.load(server.connection, TEN, 10, 100);
      servers.add(server);
    }
    boolean same = true;
    for (Map.Entry<String, Case> each : filters.cases.entrySet()) {
      if (wanted.apply(each.getKey())) {
        same &= filters.run(each.getKey(), each.getValue(), servers, Integer.parseInt(args[1]), Double.parseDouble(args[2]));
      }
    }
    System.exit(same ? 0 : 1);
  }
}
