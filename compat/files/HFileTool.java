// Writes and dumps HFiles with HBase's own classes; the twin of crates/hfile/examples/hfile_{write,dump}.rs.
//
// It reads commands from its standard input, one per line:
//   write FILE [name=value]...     the same options and the same cells as hfile_write
//   dump FILE OUT [rows]           the same lines as hfile_dump, into OUT
//
// It lives in HBase's package because the bloom filter question is not public.
package org.apache.hadoop.hbase.regionserver;

import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.ArrayBackedTag;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.ExtendedCell;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.MetaCellComparator;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.Tag;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.fs.HFileSystem;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.BloomFilterMetrics;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.HFileInfo;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.io.hfile.ReaderContext;
import org.apache.hadoop.hbase.io.hfile.ReaderContextBuilder;
import org.apache.hadoop.hbase.util.Bytes;

public final class HFileTool {
  private static final long START_MS = 1_700_000_000_000L;
  private static final String[] QUALIFIERS = { "a", "ab", "column-name" };
  private static final byte[] FAMILY = bytes("f");

  public static void main(String[] args) throws Exception {
    FileSystem fs = FileSystem.getLocal(HBaseConfiguration.create()).getRawFileSystem();
    // With HBase's own checksums; the plain file system's readers do not look at them.
    FileSystem checked = new HFileSystem(HBaseConfiguration.create(), true);
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = commands.readLine()) != null;) {
      String[] words = line.trim().split(" +");
      Configuration conf = HBaseConfiguration.create();
      if (System.getProperty("zstd.codec") != null) {
        conf.set("hbase.io.compress.zstd.codec", System.getProperty("zstd.codec"));
      }
      Path path = new Path("file://" + new java.io.File(words[1]).getAbsolutePath());
      if (words[0].equals("write")) {
        write(conf, fs, path, words);
        continue;
      }
      try (PrintStream out = new PrintStream(new BufferedOutputStream(new FileOutputStream(words[2]), 1 << 16))) {
        dump(conf, checked, path, out);
        if (HFile.getAndResetChecksumFailuresCount() != 0) {
          throw new IllegalStateException("checksums of " + path);
        }
        if (words.length > 3 && !words[3].equals("0")) {
          askFilters(conf, fs, path, Integer.parseInt(words[3]), out);
        }
      }
    }
  }

  private static void write(Configuration conf, FileSystem fs, Path path, String[] args) throws Exception {
    Map<String, String> options = new HashMap<>();
    for (int i = 2; i < args.length; i++) {
      String[] pair = args[i].split("=", 2);
      options.put(pair[0], pair[1]);
    }
    conf.set("hfile.index.block.max.size", options.getOrDefault("index", "131072"));
    conf.set("io.storefile.bloom.block.size", options.getOrDefault("bloomblock", "131072"));
    conf.set("RowPrefixBloomFilter.prefix_length", options.getOrDefault("prefix", "11"));
    boolean tags = flag(options, "tags", false);
    boolean mvcc = flag(options, "mvcc", true);
    boolean meta = flag(options, "meta", false);
    HFileContextBuilder context = new HFileContextBuilder()
      .withBlockSize(Integer.parseInt(options.getOrDefault("block", "65536")))
      .withCompression(Compression.Algorithm.valueOf(options.getOrDefault("compression", "NONE")))
      .withDataBlockEncoding(DataBlockEncoding.valueOf(options.getOrDefault("encoding", "NONE")))
      .withIncludesTags(tags).withCompressTags(flag(options, "dictionary", false)).withIncludesMvcc(mvcc)
      .withBytesPerCheckSum(16384).withColumnFamily(FAMILY);
    if (meta) {
      context.withCellComparator(MetaCellComparator.META_COMPARATOR);
    }
    StoreFileWriter writer = new StoreFileWriter.Builder(conf, CacheConfig.DISABLED, fs).withFilePath(path)
      .withBloomType(BloomType.valueOf(options.getOrDefault("bloom", "ROW"))).withFileContext(context.build()).build();
    int rows = Integer.parseInt(options.getOrDefault("rows", "1000"));
    String fill = "+".repeat(Integer.parseInt(options.getOrDefault("fill", "0")));
    for (int i = 0; i < rows; i++) {
      for (KeyValue cell : row(i, tags, mvcc, meta, fill)) {
        writer.append(cell);
      }
    }
    writer.appendMetadata(77, false);
    writer.close();
  }

  private static boolean flag(Map<String, String> options, String name, boolean value) {
    return options.getOrDefault(name, value ? "1" : "0").equals("1");
  }

  private static List<KeyValue> row(long i, boolean withTags, boolean mvcc, boolean meta, String fill) {
    byte[] row = bytes(String.format(meta ? "t,row-%07d,1" : "row-%07d", i));
    List<KeyValue> cells = new ArrayList<>();
    if (i % 10 == 0) {
      add(cells, row, "", START_MS + i, KeyValue.Type.DeleteFamily, "", null, mvcc ? i + 1 : 0);
    }
    if (i % 50 == 0) {
      add(cells, row, "", START_MS + i, KeyValue.Type.DeleteFamilyVersion, "", null, mvcc ? i + 1 : 0);
    }
    for (int j = 0; j < QUALIFIERS.length; j++) {
      List<Tag> tags = new ArrayList<>();
      if (withTags && (i + j) % 3 == 0) {
        tags.add(new ArrayBackedTag((byte) 8, Bytes.toBytes(1000 + i % 7)));
        if (i % 6 == 0) {
          tags.add(new ArrayBackedTag((byte) 1, bytes("acl" + i % 4)));
        }
      }
      for (int version = 0; version <= (i + j) % 2; version++) {
        boolean deleted = i % 13 == 5 && version == 0;
        String value = ("value-" + i + "-" + j + "-" + version).repeat((int) (i % 5) + 1) + fill;
        add(cells, row, QUALIFIERS[j], START_MS + i - version,
          deleted ? KeyValue.Type.DeleteColumn : KeyValue.Type.Put, deleted ? "" : value, tags, mvcc ? i * 3 + j + 1 : 0);
      }
    }
    return cells;
  }

  private static void add(List<KeyValue> cells, byte[] row, String qualifier, long ts, KeyValue.Type type, String value,
    List<Tag> tags, long seqId) {
    KeyValue cell = new KeyValue(row, FAMILY, bytes(qualifier), ts, type, bytes(value), tags);
    cell.setSequenceId(seqId);
    cells.add(cell);
  }

  private static void dump(Configuration conf, FileSystem fs, Path path, PrintStream out) throws Exception {
    try (HFile.Reader reader = HFile.createReader(fs, path, CacheConfig.DISABLED, true, conf)) {
      HFileScanner scanner = reader.getScanner(conf, false, false);
      long entries = 0;
      for (boolean more = scanner.seekTo(); more; more = scanner.next()) {
        Cell cell = scanner.getCell();
        out.println(hex(CellUtil.cloneRow(cell)) + " " + hex(CellUtil.cloneFamily(cell)) + " "
          + hex(CellUtil.cloneQualifier(cell)) + " " + cell.getTimestamp() + " " + (cell.getTypeByte() & 0xff) + " "
          + hex(CellUtil.cloneValue(cell)) + " " + hex(PrivateCellUtil.cloneTags(cell)) + " "
          + ((ExtendedCell) cell).getSequenceId());
        entries++;
      }
      if (entries != reader.getEntries()) {
        throw new IllegalStateException(entries + " cells, the trailer says " + reader.getEntries());
      }
      out.println("# entries " + entries + " first " + key(reader.getFirstKey().orElse(null)) + " last "
        + key(reader.getLastKey().orElse(null)) + " mid " + key(entries == 0 ? null : reader.midKey().orElse(null)));
    }
  }

  private static void askFilters(Configuration conf, FileSystem fs, Path path, int rows, PrintStream out)
    throws Exception {
    ReaderContext context = new ReaderContextBuilder().withFileSystemAndPath(fs, path).build();
    HFileInfo info = new HFileInfo(context, conf);
    StoreFileReader reader = new StoreFileReader(context, info, CacheConfig.DISABLED, null, conf);
    info.initMetaAndIndex(reader.getHFileReader());
    reader.loadFileInfo();
    reader.loadBloomfilter(BlockType.GENERAL_BLOOM_META, new BloomFilterMetrics());
    reader.loadBloomfilter(BlockType.DELETE_FAMILY_BLOOM_META, new BloomFilterMetrics());
    boolean rowCol = reader.getBloomFilterType() == BloomType.ROWCOL;
    TreeSet<byte[]> column = new TreeSet<>(Bytes.BYTES_COMPARATOR);
    column.add(bytes("a"));
    int present = 0;
    int absent = 0;
    int deleted = 0;
    for (int i = 0; i < rows; i++) {
      byte[] row = bytes(String.format("row-%07d", i));
      byte[] other = bytes(String.format("row-%06dx%d", i, i % 10));
      present += reader.passesBloomFilter(new Scan(new Get(row)), rowCol ? column : null) ? 1 : 0;
      absent += reader.passesBloomFilter(new Scan(new Get(other)), rowCol ? column : null) ? 1 : 0;
      deleted += reader.passesDeleteFamilyBloomFilter(row, 0, row.length) ? 1 : 0;
    }
    reader.close(true);
    out.println("# bloom present " + present + " of " + rows + " absent " + absent + " of " + rows + " delete-family "
      + deleted);
  }

  private static String key(Cell cell) {
    return cell == null ? "-" : hex(PrivateCellUtil.getCellKeySerializedAsKeyValueKey(cell));
  }

  private static String hex(byte[] bytes) {
    return bytes.length == 0 ? "-" : Bytes.toHex(bytes);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
