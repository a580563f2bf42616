package martite.model;

import static martite.model.Step.bytes;

import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.regionserver.BloomType;

/**
 * How the table of a seed is made.
 *
 * @param recent whether times near now are written too, for families that have a time to live
 * @param isSplit two regions
 */
record OptionSet(String name, boolean recent, boolean isSplit, UnaryOperator<ColumnFamilyDescriptorBuilder> family) {
  private static final int DAY_S = 24 * 3600;

  @Override
  public String toString() {
    return name;
  }

  boolean isNewVersionBehavior() {
    return name.startsWith("new-version-behavior");
  }

  static OptionSet of(String name, long seed) {
    List<OptionSet> all = all();
    if (name == null) {
      return all.get((int) Math.floorMod(seed, (long) all.size()));
    }
    return all.stream().filter(set -> set.name.equals(name)).findFirst().orElseThrow();
  }

  static List<OptionSet> all() {
    return List.of(
      new OptionSet("one-version", false, false, f -> f),
      new OptionSet("three-versions", false, true, f -> f.setMaxVersions(3)),
      new OptionSet("keep-deleted", false, false, f -> f.setMaxVersions(3).setKeepDeletedCells(KeepDeletedCells.TRUE)),
      new OptionSet("keep-deleted-one-version", false, false, f -> f.setKeepDeletedCells(KeepDeletedCells.TRUE)),
      new OptionSet("keep-deleted-ttl", true, false,
        f -> f.setMaxVersions(3).setTimeToLive(DAY_S).setKeepDeletedCells(KeepDeletedCells.TTL)),
      new OptionSet("keep-deleted-ttl-min-versions", true, false, f -> f.setMaxVersions(4).setMinVersions(2).setTimeToLive(DAY_S)
        .setKeepDeletedCells(KeepDeletedCells.TTL)),
      new OptionSet("min-versions", true, true, f -> f.setMaxVersions(4).setMinVersions(2).setTimeToLive(DAY_S)),
      new OptionSet("ttl", true, false, f -> f.setMaxVersions(2).setTimeToLive(DAY_S)),
      new OptionSet("new-version-behavior", false, false, f -> f.setMaxVersions(3).setNewVersionBehavior(true)),
      new OptionSet("new-version-behavior-one-version", false, true, f -> f.setNewVersionBehavior(true)),
      new OptionSet("new-version-behavior-keep-deleted", false, false,
        f -> f.setMaxVersions(3).setNewVersionBehavior(true).setKeepDeletedCells(KeepDeletedCells.TRUE)),
      new OptionSet("rowcol-fast-diff-gz", false, true, f -> f.setMaxVersions(2).setBloomFilterType(BloomType.ROWCOL)
        .setDataBlockEncoding(DataBlockEncoding.FAST_DIFF).setCompressionType(Compression.Algorithm.GZ)),
      new OptionSet("row-index-small-blocks", false, false,
        f -> f.setMaxVersions(3).setBlocksize(64).setDataBlockEncoding(DataBlockEncoding.ROW_INDEX_V1)),
      new OptionSet("prefix-no-bloom", false, false, f -> f.setMaxVersions(3).setBlocksize(128)
        .setBloomFilterType(BloomType.NONE).setDataBlockEncoding(DataBlockEncoding.PREFIX)),
      new OptionSet("diff-all-versions", false, true,
        f -> f.setMaxVersions(Integer.MAX_VALUE).setBlocksize(100).setDataBlockEncoding(DataBlockEncoding.DIFF)));
  }

  /** Files stay apart until a step compacts them: when a server would do so by itself is its own affair. */
  TableDescriptor table(String name) {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(TableName.valueOf(name))
      .setValue("hbase.hstore.compaction.min", "1000").setValue("hbase.hstore.blockingStoreFiles", "1000")
      .setValue("hbase.hregion.majorcompaction", "0")
      // Blocks of a few cells.
      .setValue("hbase.table.sanity.checks", "false");
    for (String each : Step.FAMILIES) {
      table.setColumnFamily(family.apply(ColumnFamilyDescriptorBuilder.newBuilder(bytes(each))).build());
    }
    return table.build();
  }
}
