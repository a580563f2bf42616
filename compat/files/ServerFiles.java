// What a running Martite wrote, read by HBase's own classes: fills tables through HBase's client, has them flushed and compacted,
// and looks at every file and every log below the server's root directory.
//   ServerFiles QUORUM:PORT ROOT WORK
//
// It lives in HBase's package because the bloom filter question is not public.
package org.apache.hadoop.hbase.regionserver;

import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.fs.HFileSystem;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.BloomFilterMetrics;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileInfo;
import org.apache.hadoop.hbase.io.hfile.HFilePrettyPrinter;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.io.hfile.ReaderContext;
import org.apache.hadoop.hbase.io.hfile.ReaderContextBuilder;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.wal.WALPrettyPrinter;

public final class ServerFiles {
  private static final String[] COMPRESSIONS = { "NONE", "GZ", "SNAPPY", "LZ4", "ZSTD" };
  private static final String[] ENCODINGS = { "NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1" };
  private static final BloomType[] BLOOMS = { BloomType.ROW, BloomType.ROWCOL, BloomType.NONE };
  private static final long START_MS = 1_700_000_000_000L;
  private static final int ROWS = 1500;
  private static final int BIG_ROWS = 55_000;
  private static final int BIG_VALUE = 2000;
  private static final long YEARS_MS = 100L * 365 * 24 * 3600 * 1000;

  private final Configuration conf;
  private final HFileSystem fs;
  private final File root;
  private final File work;
  private final List<String> wrong = new ArrayList<>();
  /** By table: cells sent to the server, and those of them with tags. */
  private final TreeMap<String, long[]> sent = new TreeMap<>();
  private int files;
  private long cells;

  private ServerFiles(Configuration conf, File root, File work) throws IOException {
    this.conf = conf;
    this.fs = new HFileSystem(conf, true);
    this.root = root;
    this.work = work;
  }

  /** Of a client of the server behind a ZooKeeper, QUORUM:PORT. */
  static Configuration configuration(String zookeeper) {
    Configuration conf = HBaseConfiguration.create();
    int colon = zookeeper.lastIndexOf(':');
    conf.set("hbase.zookeeper.quorum", zookeeper.substring(0, colon));
    conf.set("hbase.zookeeper.property.clientPort", zookeeper.substring(colon + 1));
    return conf;
  }

  public static void main(String[] args) throws Exception {
    Configuration conf = configuration(args[0]);
    ServerFiles check = new ServerFiles(conf, new File(args[1]).getAbsoluteFile(), new File(args[2]).getAbsoluteFile());
    try (Connection connection = ConnectionFactory.createConnection(conf)) {
      check.run(connection);
    }
    for (String line : check.wrong) {
      System.out.println("WRONG: " + line);
    }
    if (check.wrong.isEmpty()) {
      System.out.println("server's files: " + check.files + " files with " + check.cells
        + " cells are HBase's by its pretty printer, checksums, bloom filters and cells; its logs hold every cell that was sent");
    }
    System.exit(check.wrong.isEmpty() ? 0 : 1);
  }

  private void run(Connection connection) throws Exception {
    try (Admin admin = connection.getAdmin()) {
      for (String compression : COMPRESSIONS) {
        TableName table = TableName.valueOf("files_" + compression);
        create(admin, table, compression);
        fill(connection, table, 0);
        admin.flush(table);
        look(connection, table);
        fill(connection, table, 1);
        admin.flush(table);
        look(connection, table);
        compact(admin, table);
        look(connection, table);
        fill(connection, table, 2);
      }
      TableName big = TableName.valueOf("files_big");
      createBig(admin, big);
      fillBig(connection, big);
      admin.flush(big);
      compact(admin, big);
      look(connection, big);
      if (storeFiles(big).stream().noneMatch(file -> file.length() > 100_000_000)) {
        wrong.add("no file over 100 MB");
      }
      damaged(storeFiles(TableName.valueOf("files_NONE")).get(0));
      // What is in the log that is open now is in a closed one then.
      for (ServerName server : admin.getRegionServers()) {
        admin.rollWALWriter(server);
      }
      logs();
    }
  }

  private static void create(Admin admin, TableName name, String compression) throws IOException {
    TableDescriptorBuilder table = small(name);
    for (int i = 0; i < ENCODINGS.length; i++) {
      table.setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(bytes(ENCODINGS[i])).setBlocksize(2048).setMaxVersions(3)
        .setCompressionType(Compression.Algorithm.valueOf(compression)).setCompressTags(i % 2 == 0)
        .setDataBlockEncoding(DataBlockEncoding.valueOf(ENCODINGS[i]))
        .setBloomFilterType(BLOOMS[(i + compression.length()) % BLOOMS.length]).build());
    }
    admin.createTable(table.build());
  }

  private static void createBig(Admin admin, TableName name) throws IOException {
    admin.createTable(small(name).setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(bytes("f")).build()).build());
  }

  /** Blocks of indexes and filters are small, so that there are several levels of them. */
  private static TableDescriptorBuilder small(TableName name) {
    return TableDescriptorBuilder.newBuilder(name).setValue("hfile.index.block.max.size", "1024")
      .setValue("io.storefile.bloom.block.size", "1024");
  }

  /** Every cell has a key of its own, so that no file may forget one. */
  private void fill(Connection connection, TableName name, int batch) throws IOException {
    try (BufferedMutator out = connection.getBufferedMutator(name)) {
      for (int i = 0; i < ROWS; i++) {
        byte[] row = bytes(String.format("row-%05d", i * 3 + batch * 1000));
        long ts = START_MS + batch * 1_000_000L + i;
        Put put = new Put(row);
        for (String family : ENCODINGS) {
          put.addColumn(bytes(family), bytes("a"), ts, bytes("value-" + i));
          put.addColumn(bytes(family), bytes("column-" + i % 4), ts, bytes(("longer value " + i).repeat(i % 5)));
        }
        if (i % 3 == 0) {
          put.setTTL(YEARS_MS + i % 5);
        }
        send(out, name, put, i % 3 == 0);
        if (i % 10 == 0) {
          Delete delete = new Delete(row);
          for (String family : ENCODINGS) {
            byte[] f = bytes(family);
            switch (i % 40) {
              case 0: delete.addFamily(f, ts - 500); break;
              case 10: delete.addColumns(f, bytes("a"), ts - 500); break;
              case 20: delete.addColumn(f, bytes("a"), ts - 500); break;
              default: delete.addFamilyVersion(f, ts - 500); break;
            }
          }
          send(out, name, delete, false);
        }
      }
    }
  }

  private void fillBig(Connection connection, TableName name) throws IOException {
    try (BufferedMutator out = connection.getBufferedMutator(name)) {
      byte[] value = new byte[BIG_VALUE];
      for (int i = 0; i < BIG_ROWS; i++) {
        for (int at = 0; at < value.length; at++) {
          value[at] = (byte) ('a' + (i + at * 7) % 26);
        }
        send(out, name, new Put(bytes(String.format("row-%08d", i))).addColumn(bytes("f"), bytes("q"), START_MS, value), false);
      }
    }
  }

  private void send(BufferedMutator out, TableName table, Mutation mutation, boolean tagged) throws IOException {
    long[] counts = sent.computeIfAbsent(table.getNameAsString(), name -> new long[2]);
    counts[0] += mutation.size();
    counts[1] += tagged ? mutation.size() : 0;
    out.mutate(mutation);
  }

  private void compact(Admin admin, TableName table) throws Exception {
    admin.majorCompact(table);
    long until = System.nanoTime() + 120_000_000_000L;
    int families = admin.getDescriptor(table).getColumnFamilyCount();
    while (admin.getCompactionState(table) != CompactionState.NONE || storeFiles(table).size() != families) {
      if (System.nanoTime() > until) {
        throw new IOException(table + " has " + storeFiles(table).size() + " files after two minutes of compaction");
      }
      Thread.sleep(20);
    }
  }

  private List<File> storeFiles(TableName table) throws IOException {
    return under(new File(root, "data/default/" + table.getNameAsString()), file -> {
      String family = file.getParentFile().getName();
      return !family.startsWith(".") && !file.getName().startsWith(".") && !file.getPath().contains("/recovered.edits/")
        && !file.getPath().contains("/.tmp/") && file.getParentFile().getParentFile().getParentFile().getName()
          .equals(table.getNameAsString());
    });
  }

  static List<File> under(File folder, java.util.function.Predicate<File> wanted) throws IOException {
    try (Stream<java.nio.file.Path> all = Files.walk(folder.toPath())) {
      return all.filter(Files::isRegularFile).map(java.nio.file.Path::toFile).filter(wanted).sorted().toList();
    }
  }

  /** Everything about the files of a table, all of whose cells are in files. */
  private void look(Connection connection, TableName table) throws Exception {
    boolean isBig = table.getNameAsString().endsWith("big");
    TreeSet<String> inFiles = new TreeSet<>();
    for (File file : storeFiles(table)) {
      files++;
      List<String> found = read(file, isBig);
      cells += found.size();
      for (String cell : found) {
        if (!inFiles.add(cell)) {
          wrong.add(file + ": twice: " + cell);
        }
      }
      print(file, found.size());
    }
    TreeSet<String> served = new TreeSet<>();
    try (Table client = connection.getTable(table);
      ResultScanner scanner = client.getScanner(new Scan().setRaw(true).readAllVersions().setCaching(1000))) {
      for (Result result : scanner) {
        for (Cell cell : result.rawCells()) {
          served.add(text(cell, isBig));
        }
      }
    }
    if (!inFiles.equals(served)) {
      TreeSet<String> missing = new TreeSet<>(served);
      missing.removeAll(inFiles);
      wrong.add(table + ": " + inFiles.size() + " cells in files, " + served.size() + " served; first missing: "
        + (missing.isEmpty() ? "-" : missing.first()));
    }
  }

  /** The cells of a file, by HBase's reader with checksums, after its filters were asked. */
  private List<String> read(File file, boolean isBig) throws IOException {
    List<String> found = new ArrayList<>();
    Set<String> rows = new HashSet<>();
    Set<String> deleted = new HashSet<>();
    Set<String> columns = new HashSet<>();
    Path path = path(file);
    try (HFile.Reader reader = HFile.createReader(fs, path, CacheConfig.DISABLED, true, conf)) {
      if (reader.getTrailer().getNumDataIndexLevels() < 2) {
        wrong.add(file + ": one level of index");
      }
      HFileScanner scanner = reader.getScanner(conf, false, false);
      for (boolean more = scanner.seekTo(); more; more = scanner.next()) {
        Cell cell = scanner.getCell();
        found.add(text(cell, isBig));
        String row = Bytes.toString(CellUtil.cloneRow(cell));
        rows.add(row);
        if (CellUtil.isDelete(cell) && cell.getQualifierLength() == 0) {
          deleted.add(row);
        } else {
          columns.add(row + " " + Bytes.toString(CellUtil.cloneQualifier(cell)));
        }
      }
      if (found.size() != reader.getEntries()) {
        wrong.add(file + ": " + found.size() + " cells, the trailer says " + reader.getEntries());
      }
    }
    if (HFile.getAndResetChecksumFailuresCount() != 0) {
      wrong.add(file + ": checksums");
    }
    askFilters(path, rows, columns, deleted);
    return found;
  }

  private void askFilters(Path path, Set<String> rows, Set<String> columns, Set<String> deleted) throws IOException {
    ReaderContext context = new ReaderContextBuilder().withFileSystemAndPath(fs, path).build();
    HFileInfo info = new HFileInfo(context, conf);
    StoreFileReader reader = new StoreFileReader(context, info, CacheConfig.DISABLED, null, conf);
    info.initMetaAndIndex(reader.getHFileReader());
    reader.loadFileInfo();
    reader.loadBloomfilter(BlockType.GENERAL_BLOOM_META, new BloomFilterMetrics());
    reader.loadBloomfilter(BlockType.DELETE_FAMILY_BLOOM_META, new BloomFilterMetrics());
    boolean rowCol = reader.getBloomFilterType() == BloomType.ROWCOL;
    int absent = 0;
    int asked = 0;
    for (String question : rowCol ? columns : rows) {
      String[] words = question.split(" ", 2);
      TreeSet<byte[]> column = new TreeSet<>(Bytes.BYTES_COMPARATOR);
      column.add(bytes(rowCol ? words[1] : "a"));
      if (!reader.passesBloomFilter(new Scan(new Get(bytes(words[0]))), rowCol ? column : null)) {
        wrong.add(path + ": its filter denies " + question);
      }
      asked++;
      // Keys inside of the file's range: else the range alone would answer.
      absent += reader.passesBloomFilter(new Scan(new Get(bytes(words[0] + "~"))), rowCol ? column : null) ? 1 : 0;
    }
    if (reader.getBloomFilterType() != BloomType.NONE && absent > asked / 20) {
      wrong.add(path + ": its filter admits " + absent + " of " + asked + " absent keys");
    }
    for (String row : deleted) {
      if (!reader.passesDeleteFamilyBloomFilter(bytes(row), 0, row.length())) {
        wrong.add(path + ": its filter of deleted families denies " + row);
      }
    }
    reader.close(true);
  }

  /** The pretty printer's own view of a file. */
  private void print(File file, int entries) throws IOException {
    File report = new File(work, "pretty.txt");
    ByteArrayOutputStream complaints = new ByteArrayOutputStream();
    HFilePrettyPrinter printer = new HFilePrettyPrinter(new Configuration(conf));
    int code;
    try (PrintStream out = new PrintStream(new BufferedOutputStream(Files.newOutputStream(report.toPath()), 1 << 16))) {
      printer.setPrintStreams(out, new PrintStream(complaints));
      code = printer.run(new String[] { "-v", "-k", "-p", "-m", "-s", "-b", "-f", path(file).toString() });
    }
    if (code != 0 || complaints.size() > 0) {
      wrong.add(file + ": the pretty printer ends with " + code + ": " + complaints.toString(StandardCharsets.UTF_8));
    }
    long printed = 0;
    Set<String> wanted = new TreeSet<>(Set.of("Scanned kv count -> " + entries, "Fileinfo:", "Block Index:", "Stats:",
      "Bloom filter:", "Delete Family Bloom filter:"));
    try (BufferedReader lines = Files.newBufferedReader(report.toPath(), StandardCharsets.ISO_8859_1)) {
      for (String line; (line = lines.readLine()) != null;) {
        printed += line.startsWith("K: ") ? 1 : 0;
        wanted.remove(line);
        if (line.contains("Unable to retrieve")) {
          wrong.add(file + ": " + line);
        }
      }
    }
    if (printed != entries || !wanted.isEmpty()) {
      wrong.add(file + ": the pretty printer prints " + printed + " of " + entries + " cells, and not " + wanted);
    }
  }

  /** A flipped bit must be seen, or the check would be none. */
  private void damaged(File file) throws IOException {
    File copy = new File(work, "damaged");
    byte[] content = Files.readAllBytes(file.toPath());
    content[200] ^= 1;
    Files.write(copy.toPath(), content);
    boolean seen = false;
    try (HFile.Reader reader = HFile.createReader(fs, path(copy), CacheConfig.DISABLED, true, conf)) {
      HFileScanner scanner = reader.getScanner(conf, false, false);
      for (boolean more = scanner.seekTo(); more; more = scanner.next()) {
        scanner.getCell();
      }
    } catch (IOException | RuntimeException e) {
      seen = true;
    }
    if (HFile.getAndResetChecksumFailuresCount() == 0 && !seen) {
      wrong.add("a damaged block is not noticed");
    }
  }

  /** Every cell that was sent is in the logs, by HBase's printer. */
  private void logs() throws IOException {
    List<File> logs = new ArrayList<>(under(new File(root, "WALs"), file -> true));
    File old = new File(root, "oldWALs");
    if (old.isDirectory()) {
      logs.addAll(under(old, file -> true));
    }
    File open = logs.stream().filter(log -> !log.getName().endsWith(".meta")).max((a, b) -> a.getName().compareTo(b.getName())).get();
    File report = new File(work, "wal.txt");
    try (PrintStream out = new PrintStream(new BufferedOutputStream(Files.newOutputStream(report.toPath()), 1 << 16))) {
      WALPrettyPrinter printer =
        new WALPrettyPrinter(true, false, -1, new HashSet<>(), null, null, null, false, false, out);
      for (File log : logs) {
        try {
          printer.processFile(conf, path(log));
        } catch (EOFException e) {
          // That is how HBase's reader, too, ends a log without a trailer.
          if (log != open) {
            throw e;
          }
        }
      }
    }
    TreeMap<String, long[]> logged = new TreeMap<>();
    try (BufferedReader lines = Files.newBufferedReader(report.toPath(), StandardCharsets.ISO_8859_1)) {
      String table = "";
      for (String line; (line = lines.readLine()) != null;) {
        if (line.startsWith("Sequence=")) {
          table = line.replaceFirst(".*, table=", "").replaceFirst(",.*", "");
        } else if (sent.containsKey(table) && !line.contains("column=METAFAMILY")) {
          long[] counts = logged.computeIfAbsent(table, name -> new long[2]);
          counts[0] += line.startsWith("row=") ? 1 : 0;
          counts[1] += line.startsWith("    tag: ") ? 1 : 0;
        }
      }
    }
    for (String table : sent.keySet()) {
      long[] wanted = sent.get(table);
      long[] found = logged.getOrDefault(table, new long[2]);
      if (wanted[0] != found[0] || wanted[1] != found[1]) {
        wrong.add("the logs have " + found[0] + " cells of " + table + ", " + found[1] + " with tags; " + wanted[0] + " were sent, "
          + wanted[1] + " with tags");
      }
    }
  }

  static String text(Cell cell, boolean isBig) {
    byte[] value = CellUtil.cloneValue(cell);
    return Bytes.toString(CellUtil.cloneRow(cell)) + " " + Bytes.toString(CellUtil.cloneFamily(cell)) + ":"
      + Bytes.toString(CellUtil.cloneQualifier(cell)) + " " + cell.getTimestamp() + " " + cell.getType() + " "
      + (isBig ? value.length + " " + Bytes.hashCode(value) : Bytes.toString(value));
  }

  static Path path(File file) {
    return new Path("file://" + file.getPath());
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
