// Snapshots that a running Martite took, read by HBase's own classes: what they name is verified and counted, and scanned without the
// server; their export is read, too. Their tables are deleted meanwhile.
//   SnapshotFiles QUORUM:PORT ROOT WORK
package org.apache.hadoop.hbase.regionserver;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.SnapshotDescription;
import org.apache.hadoop.hbase.client.SnapshotType;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableSnapshotScanner;
import org.apache.hadoop.hbase.io.HFileLink;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.SnapshotProtos;
import org.apache.hadoop.hbase.shaded.protobuf.generated.SnapshotProtos.SnapshotRegionManifest;
import org.apache.hadoop.hbase.snapshot.CorruptedSnapshotException;
import org.apache.hadoop.hbase.snapshot.ExportSnapshot;
import org.apache.hadoop.hbase.snapshot.SnapshotDescriptionUtils;
import org.apache.hadoop.hbase.snapshot.SnapshotInfo;
import org.apache.hadoop.hbase.snapshot.SnapshotManifest;
import org.apache.hadoop.hbase.snapshot.SnapshotReferenceUtil;
import org.apache.hadoop.util.ToolRunner;

public final class SnapshotFiles {
  private static final String[] FAMILIES = { "a", "b" };
  private static final byte[][] SPLITS = { row(100), row(200), row(300) };
  private static final Pattern TABLES = Pattern.compile("(copies:)?snapped.*");
  private static final int ROWS = 400;
  private static final long START_MS = 1_700_000_000_000L;
  private static final Scan[] SCANS = { new Scan().setRaw(true).readAllVersions(), new Scan(), new Scan().readAllVersions()
    .addFamily(bytes("b")).withStartRow(row(95)).withStopRow(row(305)) };

  /** What a snapshot's files are; some may be files of the table's own. */
  private enum Kind { FILES, REFERENCES, LINKS, REFERENCES_TO_LINKS }

  /** What the server says when a snapshot was just taken. */
  private record Taken(SnapshotDescription description, Kind kind, TableDescriptor table, Set<RegionInfo> regions,
    List<List<String>> cells) {}

  private final Connection connection;
  private final Admin admin;
  private final Path root;
  private final File work;
  private final List<String> wrong = new ArrayList<>();
  private final TreeMap<String, Taken> snapshots = new TreeMap<>();
  private int restored;

  private SnapshotFiles(Connection connection, Path root, File work) throws IOException {
    this.connection = connection;
    this.admin = connection.getAdmin();
    this.root = root;
    this.work = work;
  }

  public static void main(String[] args) throws Exception {
    Configuration conf = ServerFiles.configuration(args[0]);
    File work = new File(args[2]).getAbsoluteFile();
    SnapshotFiles check;
    try (Connection connection = ConnectionFactory.createConnection(conf)) {
      check = new SnapshotFiles(connection, ServerFiles.path(new File(args[1]).getAbsoluteFile()), work);
      check.run();
    }
    for (String line : check.wrong) {
      System.out.println("WRONG: " + line);
    }
    if (check.wrong.isEmpty()) {
      System.out.println("server's snapshots: " + check.snapshots.size() + " with "
        + check.snapshots.values().stream().mapToInt(taken -> taken.cells.get(0).size()).sum()
        + " cells are HBase's by its manifest, statistics, scanner and export");
    }
    System.exit(check.wrong.isEmpty() ? 0 : 1);
  }

  private void run() throws Exception {
    TableName plain = TableName.valueOf("snapped");
    create(plain, SPLITS);
    fill(plain, 0);
    admin.flush(plain);
    // Half of it in files, half in memory.
    fill(plain, 1);
    take("plain", plain, Kind.FILES);

    TableName split = TableName.valueOf("snapped_split");
    create(split, SPLITS[1]);
    fill(split, 0);
    admin.flush(split);
    fill(split, 1);
    for (int at : new int[] { 100, 300 }) {
      admin.splitRegionAsync(region(split, at).getRegionName(), row(at)).get(1, TimeUnit.MINUTES);
    }
    fill(split, 2);
    take("split", split, Kind.REFERENCES);
    fill(split, 3);
    admin.disableTable(split);
    admin.snapshot("disabled", split);
    admin.enableTable(split);
    record("disabled", split, Kind.REFERENCES);

    TableName merged = TableName.valueOf("snapped_merged");
    create(merged, SPLITS);
    fill(merged, 0);
    byte[][] parents = { region(merged, 100).getRegionName(), region(merged, 200).getRegionName() };
    admin.mergeRegionsAsync(parents, false).get(1, TimeUnit.MINUTES);
    fill(merged, 1);
    take("merged", merged, Kind.REFERENCES);

    admin.createNamespace(NamespaceDescriptor.create("copies").build());
    clone("plain", TableName.valueOf("snapped_clone"), Kind.LINKS);
    clone("split", TableName.valueOf("copies:snapped_split"), Kind.REFERENCES_TO_LINKS);
    clone("clone_of_split", TableName.valueOf("snapped_clone_of_clone"), Kind.REFERENCES_TO_LINKS);
    // References of a merged region show whole files, and become links.
    clone("merged", TableName.valueOf("snapped_clone_of_merged"), Kind.LINKS);

    check(false);
    for (TableName table : admin.listTableNames(TABLES)) {
      admin.disableTable(table);
      admin.deleteTable(table);
    }
    admin.deleteNamespace("copies");
    check(true);
    for (String name : snapshots.keySet()) {
      export(name);
      admin.deleteSnapshot(name);
    }
  }

  /** References stay, and so do cells that a compaction would leave out. */
  private void create(TableName name, byte[]... splits) throws IOException {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(name).setCompactionEnabled(false);
    table.setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(bytes("a")).setBlocksize(2048).setMaxVersions(3)
      .setCompressionType(Compression.Algorithm.GZ).setDataBlockEncoding(DataBlockEncoding.FAST_DIFF)
      .setBloomFilterType(BloomType.ROWCOL).build());
    table.setColumnFamily(ColumnFamilyDescriptorBuilder.of("b"));
    admin.createTable(table.build(), splits);
  }

  private void fill(TableName name, int batch) throws IOException {
    try (BufferedMutator out = connection.getBufferedMutator(name)) {
      for (int i = 0; i < ROWS; i++) {
        long ts = START_MS + batch * 1_000_000L + i;
        Put put = new Put(row(i));
        for (String family : FAMILIES) {
          put.addColumn(bytes(family), bytes("column-" + (i + batch) % 4), ts, bytes(("value " + i).repeat(i % 5)));
          put.addColumn(bytes(family), bytes("same"), ts, bytes("value-" + batch));
        }
        out.mutate(put);
        if (i % 10 == batch) {
          out.mutate(new Delete(row(i)).addFamily(bytes("a"), ts - 500).addColumns(bytes("b"), bytes("same"), ts - 500));
        }
      }
    }
  }

  private RegionInfo region(TableName table, int row) throws IOException {
    try (RegionLocator locator = connection.getRegionLocator(table)) {
      return locator.getRegionLocation(row(row), true).getRegion();
    }
  }

  private void take(String name, TableName table, Kind kind) throws IOException {
    admin.snapshot(name, table);
    record(name, table, kind);
  }

  private void record(String name, TableName table, Kind kind) throws IOException {
    List<SnapshotDescription> found = admin.listSnapshots().stream().filter(snapshot -> snapshot.getName().equals(name)).toList();
    List<List<String>> cells = new ArrayList<>();
    try (Table client = connection.getTable(table)) {
      for (Scan scan : SCANS) {
        cells.add(cells(client.getScanner(new Scan(scan))));
      }
    }
    snapshots.put(name, new Taken(found.get(0), kind, admin.getDescriptor(table), new HashSet<>(admin.getRegions(table)), cells));
  }

  /** A snapshot of a clone that has got rows of its own. */
  private void clone(String snapshot, TableName table, Kind kind) throws IOException {
    admin.cloneSnapshot(snapshot, table);
    try (Table client = connection.getTable(table)) {
      compare("the clone of " + snapshot, snapshots.get(snapshot).cells.get(0), cells(client.getScanner(new Scan(SCANS[0]))));
    }
    fill(table, 4);
    take("clone_of_" + snapshot, table, kind);
  }

  private void check(boolean isArchived) throws Exception {
    Configuration conf = conf(root);
    List<String> listed = SnapshotInfo.getSnapshotList(conf).stream().map(SnapshotFiles::text).sorted().toList();
    List<String> served = admin.listSnapshots().stream().map(SnapshotFiles::text).sorted().toList();
    if (!listed.equals(served)) {
      wrong.add("HBase lists " + listed + ", the server " + served);
    }
    for (String name : snapshots.keySet()) {
      look(name, conf, isArchived);
    }
  }

  /** Everything about a snapshot below a root directory. */
  private void look(String name, Configuration conf, boolean isArchived) throws Exception {
    Taken taken = snapshots.get(name);
    FileSystem fs = FileSystem.get(conf);
    Path dir = SnapshotDescriptionUtils.getCompletedSnapshotDir(name, new Path(conf.get("hbase.rootdir")));
    SnapshotProtos.SnapshotDescription description = SnapshotDescriptionUtils.readSnapshotInfo(fs, dir);
    if (!text(taken.description).equals(text(ProtobufUtil.createSnapshotDesc(description)))) {
      wrong.add(dir + ": " + description + " instead of " + text(taken.description));
    }
    SnapshotType type = name.equals("disabled") ? SnapshotType.DISABLED : SnapshotType.FLUSH;
    if (taken.description.getType() != type || taken.description.getVersion() != SnapshotDescriptionUtils.SNAPSHOT_LAYOUT_VERSION) {
      wrong.add(dir + ": " + text(taken.description));
    }
    SnapshotManifest manifest = SnapshotManifest.open(conf, fs, dir, description);
    SnapshotReferenceUtil.verifySnapshot(conf, fs, manifest);
    SnapshotReferenceUtil.verifySnapshot(conf, fs, dir, description);
    if (!manifest.getTableDescriptor().equals(taken.table)) {
      wrong.add(dir + ": " + manifest.getTableDescriptor() + " instead of " + taken.table);
    }
    count(name, files(dir, taken, manifest), conf, isArchived);
    for (int i = 0; i < SCANS.length; i++) {
      Path to = ServerFiles.path(new File(work, "restored-" + restored++));
      Path from = new Path(conf.get("hbase.rootdir"));
      compare(dir + ": " + SCANS[i], taken.cells.get(i),
        cells(new TableSnapshotScanner(conf, from, to, name, new Scan(SCANS[i]))));
    }
  }

  /**
   * The HFiles that the regions' files lead to, with sizes, without those of references, which SnapshotInfo does not count. The files are
   * of the kind that is asked for: else the check would be none.
   */
  private Map<String, Long> files(Path dir, Taken taken, SnapshotManifest manifest) {
    Set<RegionInfo> regions = new HashSet<>();
    Map<String, Long> files = new TreeMap<>();
    int references = 0;
    int links = 0;
    int all = 0;
    for (SnapshotRegionManifest region : manifest.getRegionManifests()) {
      RegionInfo info = ProtobufUtil.toRegionInfo(region.getRegionInfo());
      if (!info.isSplitParent()) {
        regions.add(info);
      }
      for (SnapshotRegionManifest.FamilyFiles family : region.getFamilyFilesList()) {
        for (SnapshotRegionManifest.StoreFile file : family.getStoreFilesList()) {
          String name = file.getName();
          if (file.hasReference() != StoreFileInfo.isReference(name)) {
            wrong.add(dir + ": " + file);
          }
          name = name.replaceFirst("\\..*", "");
          boolean isLink = HFileLink.isHFileLink(name);
          all++;
          references += file.hasReference() ? 1 : 0;
          links += isLink ? 1 : 0;
          if (!file.hasReference()) {
            files.put(isLink ? HFileLink.getReferencedHFileName(name) : name, file.getFileSize());
          }
        }
      }
    }
    if (!regions.equals(taken.regions)) {
      wrong.add(dir + ": regions " + regions + " instead of " + taken.regions);
    }
    boolean wantsReferences = taken.kind == Kind.REFERENCES || taken.kind == Kind.REFERENCES_TO_LINKS;
    boolean wantsLinks = taken.kind == Kind.LINKS || taken.kind == Kind.REFERENCES_TO_LINKS;
    if (all < FAMILIES.length * regions.size() || references > 0 != wantsReferences || links > 0 != wantsLinks) {
      wrong.add(dir + ": " + all + " files, " + references + " references and " + links + " links: not " + taken.kind);
    }
    return files;
  }

  /** SnapshotInfo's numbers, and what it prints. */
  private void count(String name, Map<String, Long> files, Configuration conf, boolean isArchived) throws Exception {
    SnapshotInfo.SnapshotStats stats = SnapshotInfo.getSnapshotStats(conf, snapshots.get(name).description);
    long size = files.values().stream().mapToLong(Long::longValue).sum();
    if (stats.isSnapshotCorrupted() || stats.getStoreFilesCount() != files.size() || stats.getStoreFilesSize() != size
      || stats.getArchivedStoreFilesCount() != (isArchived ? files.size() : 0)) {
      wrong.add(name + ": SnapshotInfo counts " + stats.getStoreFilesCount() + " files of " + files.size() + ", "
        + stats.getArchivedStoreFilesCount() + " in the archive, " + stats.getMissingStoreFilesCount() + " missing, "
        + stats.getCorruptedStoreFilesCount() + " corrupt, " + stats.getStoreFilesSize() + " bytes of " + size);
    }
    ByteArrayOutputStream report = new ByteArrayOutputStream();
    PrintStream out = System.out;
    System.setOut(new PrintStream(report));
    String[] args = { "-snapshot", name, "-files", "-stats", "-schema" };
    int code = ToolRunner.run(new Configuration(conf), new SnapshotInfo(), args);
    System.setOut(out);
    String wanted = "\n" + files.size() + " HFiles (" + (isArchived ? files.size() : 0) + " in archive, 0 in mob storage)";
    if (code != 0 || !report.toString(StandardCharsets.UTF_8).contains(wanted)) {
      wrong.add(name + ": SnapshotInfo ends with " + code + " and does not print " + wanted + ": " + report);
    }
  }

  /** A copy by HBase's job, and that it is noticed when a file of it is gone. */
  private void export(String name) throws Exception {
    File to = new File(work, "export-" + name);
    Path copy = ServerFiles.path(to);
    // Local files have no checksums that it could compare.
    String[] args = { "-snapshot", name, "-copy-to", copy.toString(), "-mappers", "2", "-no-checksum-verify" };
    int code = ToolRunner.run(conf(root), new ExportSnapshot(), args);
    if (code != 0) {
      wrong.add(name + ": ExportSnapshot ends with " + code);
      return;
    }
    Configuration conf = conf(copy);
    look(name, conf, true);
    List<File> files = ServerFiles.under(new File(to, "archive"), file -> !file.getName().endsWith(".crc"));
    for (File file : files) {
      java.nio.file.Path original = new File(root.toUri()).toPath().resolve(to.toPath().relativize(file.toPath()));
      if (Files.mismatch(original, file.toPath()) != -1) {
        wrong.add(file + ": not as " + original);
      }
    }
    Files.delete(files.get(0).toPath());
    FileSystem fs = FileSystem.get(conf);
    Path dir = SnapshotDescriptionUtils.getCompletedSnapshotDir(name, copy);
    try {
      SnapshotReferenceUtil.verifySnapshot(conf, fs, dir, SnapshotDescriptionUtils.readSnapshotInfo(fs, dir));
      wrong.add(to + ": a file that is gone is not noticed");
    } catch (CorruptedSnapshotException e) {
      // As it should be.
    }
  }

  private Configuration conf(Path root) {
    Configuration conf = new Configuration(connection.getConfiguration());
    conf.set("fs.defaultFS", "file:///");
    conf.set("hbase.rootdir", root.toString());
    conf.set("hadoop.tmp.dir", new File(work, "hadoop").getPath());
    return conf;
  }

  private void compare(String what, List<String> wanted, List<String> found) {
    if (!found.equals(wanted)) {
      Set<String> missing = new TreeSet<>(wanted);
      found.forEach(missing::remove);
      wrong.add(what + ": " + found.size() + " cells, the server has " + wanted.size() + "; missing "
        + missing.stream().findFirst().orElse("-"));
    }
  }

  private static List<String> cells(ResultScanner scanner) throws IOException {
    List<String> cells = new ArrayList<>();
    try (scanner) {
      for (Result result : scanner) {
        for (Cell cell : result.rawCells()) {
          cells.add(ServerFiles.text(cell, false));
        }
      }
    }
    return cells;
  }

  private static String text(SnapshotDescription s) {
    return s.getName() + " " + s.getTableNameAsString() + " " + s.getType() + " " + s.getOwner() + " " + s.getCreationTime() + " "
      + s.getTtl() + " " + s.getVersion() + " " + s.getMaxFileSize();
  }

  private static byte[] row(int i) {
    return bytes(String.format("row-%05d", i));
  }

  private static byte[] bytes(String text) {
    return ServerFiles.bytes(text);
  }
}
