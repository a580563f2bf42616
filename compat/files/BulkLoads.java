// HFiles that HBase's writer made, loaded into a running Martite by HBase's own tool (completebulkload).
//   BulkLoads QUORUM:PORT ROOT WORK
package org.apache.hadoop.hbase.regionserver;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.tool.BulkLoadHFiles;
import org.apache.hadoop.hbase.util.Bytes;

public final class BulkLoads {
  private static final TableName TABLE = TableName.valueOf("loaded");
  private static final byte[] QUALIFIER = bytes("q");
  private static final long MS = 1_700_000_000_000L;

  private final Configuration conf;
  private final File work;
  private final List<String> wrong = new ArrayList<>();
  /** Row and family, and the value that is to be there. */
  private final TreeMap<String, String> expected = new TreeMap<>();

  private BulkLoads(Configuration conf, File work) {
    this.conf = conf;
    this.work = work;
  }

  public static void main(String[] args) throws Exception {
    Configuration conf = ServerFiles.configuration(args[0]);
    BulkLoads check = new BulkLoads(conf, new File(args[2], "loads").getAbsoluteFile());
    try (Connection connection = ConnectionFactory.createConnection(conf)) {
      check.run(connection);
    }
    check.wrong.forEach(line -> System.out.println("WRONG: " + line));
    if (check.wrong.isEmpty()) {
      System.out.println("bulk loads: " + check.expected.size() + " cells as HBase's tool loaded them");
    }
    System.exit(check.wrong.isEmpty() ? 0 : 1);
  }

  private void run(Connection connection) throws Exception {
    try (Admin admin = connection.getAdmin(); Table table = connection.getTable(TABLE)) {
      admin.createTable(TableDescriptorBuilder.newBuilder(TABLE).setColumnFamily(ColumnFamilyDescriptorBuilder.of("a"))
        .setColumnFamily(ColumnFamilyDescriptorBuilder.of("b")).build(), new byte[][] { row(100), row(200) });
      // In memory when the files come, of the same time: the files are newer.
      for (int i = 0; i < 300; i += 7) {
        put(table, i, "before");
      }
      // One for all regions, which the tool cuts, and one for one.
      File whole = write("first", "a", 0, 300, "loaded");
      File part = write("first", "b", 120, 180, "loaded");
      load("first");
      check(table, "loaded");
      if (whole.exists() || part.exists()) {
        wrong.add("a file that was loaded is where it was");
      }
      for (int i = 0; i < 300; i += 11) {
        put(table, i, "after");
      }
      check(table, "written behind it");
      // Copied, and again: it is the newest each time.
      File copied = write("second", "a", 210, 220, "copied");
      conf.setBoolean(BulkLoadHFiles.ALWAYS_COPY_FILES, true);
      load("second");
      load("second");
      check(table, "copied");
      if (!copied.exists()) {
        wrong.add("a file that was to be copied is gone");
      }
      write("stranger", "c", 0, 10, "never");
      try {
        load("stranger");
        wrong.add("a family that the table has not was loaded");
      } catch (IOException e) {
        if (!e.getMessage().contains("Unmatched family names found")) {
          wrong.add("a strange family: " + e);
        }
      }
      admin.majorCompact(TABLE);
      admin.disableTable(TABLE);
      admin.enableTable(TABLE);
      check(table, "opened again");
      admin.disableTable(TABLE);
      admin.deleteTable(TABLE);
    }
  }

  private void put(Table table, int number, String value) throws IOException {
    table.put(new Put(row(number)).addColumn(bytes("a"), QUALIFIER, MS, bytes(value)));
    expected.put(key(row(number), "a"), value);
  }

  /** An HFile of a family, with a cell for each of these rows. */
  private File write(String load, String family, int from, int to, String value) throws IOException {
    File folder = new File(new File(work, load), family);
    folder.mkdirs();
    File file = new File(folder, "made");
    Path path = ServerFiles.path(file);
    FileSystem fs = path.getFileSystem(conf);
    try (HFile.Writer writer = HFile.getWriterFactory(conf, new CacheConfig(conf)).withPath(fs, path)
      .withFileContext(new HFileContextBuilder().withBlockSize(1024).build()).create()) {
      for (int i = from; i < to; i++) {
        writer.append(new KeyValue(row(i), bytes(family), QUALIFIER, MS, bytes(value)));
        if (!family.equals("c")) {
          expected.put(key(row(i), family), value);
        }
      }
    }
    return file;
  }

  private void load(String name) throws IOException {
    BulkLoadHFiles.create(conf).bulkLoad(TABLE, ServerFiles.path(new File(work, name)));
  }

  private void check(Table table, String when) throws IOException {
    TreeMap<String, String> found = new TreeMap<>();
    try (ResultScanner scanner = table.getScanner(new Scan())) {
      for (Result result : scanner) {
        for (Cell cell : result.rawCells()) {
          String family = Bytes.toString(CellUtil.cloneFamily(cell));
          found.put(key(CellUtil.cloneRow(cell), family), Bytes.toString(CellUtil.cloneValue(cell)));
        }
      }
    }
    if (!found.equals(expected)) {
      wrong.add(when + ": " + found.size() + " cells instead of " + expected.size() + ", or others");
    }
  }

  private static String key(byte[] row, String family) {
    return Bytes.toString(row) + " " + family;
  }

  private static byte[] row(int number) {
    return bytes(String.format("row-%05d", number));
  }

  private static byte[] bytes(String text) {
    return ServerFiles.bytes(text);
  }
}
