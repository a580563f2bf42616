package martite.compat;

import static martite.compat.Text.b;
import static martite.compat.Text.put;
import static martite.compat.Text.rows;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.InvalidFamilyOperationException;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.NamespaceNotFoundException;
import org.apache.hadoop.hbase.TableExistsException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.TableNotDisabledException;
import org.apache.hadoop.hbase.TableNotEnabledException;
import org.apache.hadoop.hbase.TableNotFoundException;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.Test;

/** Tables: created, described, changed, disabled, truncated and deleted; what is refused and how. */
class DdlTest extends CompatTest {
  private List<String> startKeys(TableName name) throws Exception {
    List<String> keys = new ArrayList<>();
    for (RegionInfo region : admin.getRegions(name)) {
      keys.add(Bytes.toStringBinary(region.getStartKey()));
    }
    keys.sort(null);
    return keys;
  }

  @Test
  void aTableIsThereAfterItsCreation() throws Exception {
    TableName name = newName();
    assertFalse(admin.tableExists(name));
    admin.createTable(descriptor(name, "f", "g").build());
    assertTrue(admin.tableExists(name));
    assertTrue(admin.isTableEnabled(name));
    assertFalse(admin.isTableDisabled(name));
    assertTrue(admin.isTableAvailable(name));
    assertEquals(List.of(""), startKeys(name));
    put(open(name), "r1 f:a=1 g:b=2");
    assertEquals("r1", rows(open(name), new Scan()));
  }

  @Test
  void splitKeysMakeRegions() throws Exception {
    TableName given = newName();
    admin.createTable(descriptor(given, "f").build(), new byte[][] {b("m"), b("c"), b("x\\x00")});
    assertEquals(List.of("", "c", "m", "x\\x00"), startKeys(given));
    try (RegionLocator locator = connection.getRegionLocator(given)) {
      assertEquals(4, locator.getStartEndKeys().getFirst().length);
      assertArrayEquals(b("m"), locator.getRegionLocation(b("p")).getRegion().getStartKey());
      assertArrayEquals(b("x\\x00"), locator.getRegionLocation(b("p")).getRegion().getEndKey());
      assertArrayEquals(b("c"), locator.getRegionLocation(b("c")).getRegion().getStartKey());
    }

    TableName computed = newName();
    admin.createTable(descriptor(computed, "f").build(), b("aaa"), b("ddd"), 5);
    assertEquals(List.of("", "aaa", "bbb", "ccc", "ddd"), startKeys(computed));
  }

  @Test
  void attributesOfFamiliesAreKept() throws Exception {
    TableName name = newName();
    ColumnFamilyDescriptor family = familyBuilder("f")
        .setMaxVersions(7)
        .setMinVersions(2)
        .setTimeToLive(86_400)
        .setBlocksize(8_192)
        .setBloomFilterType(BloomType.ROWCOL)
        .setCompressionType(Compression.Algorithm.GZ)
        .setDataBlockEncoding(DataBlockEncoding.FAST_DIFF)
        .setKeepDeletedCells(KeepDeletedCells.TTL)
        .setInMemory(true)
        .setBlockCacheEnabled(false)
        .setCacheDataOnWrite(true)
        .setCacheIndexesOnWrite(true)
        .setCacheBloomsOnWrite(true)
        .setEvictBlocksOnClose(true)
        .setPrefetchBlocksOnOpen(true)
        .setScope(1)
        .setDFSReplication((short) 2)
        .setNewVersionBehavior(false)
        .setConfiguration("hbase.hstore.blockingStoreFiles", "20")
        .setValue(b("owner's note"), b("kept as it is"))
        .build();
    admin.createTable(TableDescriptorBuilder.newBuilder(name).setColumnFamily(family).build());
    ColumnFamilyDescriptor got = admin.getDescriptor(name).getColumnFamily(b("f"));
    // Newer servers add attributes that older clients do not send.
    family.getValues().forEach((key, value) -> assertEquals(value, got.getValues().get(key), key.toString()));
    assertEquals(7, got.getMaxVersions());
    assertEquals(DataBlockEncoding.FAST_DIFF, got.getDataBlockEncoding());
    assertEquals(KeepDeletedCells.TTL, got.getKeepDeletedCells());
    assertEquals(86_400, got.getTimeToLive());
    assertEquals("20", got.getConfigurationValue("hbase.hstore.blockingStoreFiles"));
    assertArrayEquals(b("kept as it is"), got.getValue(b("owner's note")));
  }

  @Test
  void attributesOfTablesAreKept() throws Exception {
    TableName name = newName();
    String policy = "org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy";
    TableDescriptor table = descriptor(name, "f", "g")
        .setMaxFileSize(1L << 30)
        .setMemStoreFlushSize(64L << 20)
        .setDurability(Durability.ASYNC_WAL)
        .setCompactionEnabled(false)
        .setNormalizationEnabled(true)
        .setPriority(300)
        .setRegionSplitPolicyClassName(policy)
        .setValue("hbase.hregion.memstore.block.multiplier", "6")
        .setValue("any", "thing")
        .build();
    admin.createTable(table);
    TableDescriptor got = admin.getDescriptor(name);
    assertEquals(1L << 30, got.getMaxFileSize());
    assertEquals(64L << 20, got.getMemStoreFlushSize());
    assertEquals(Durability.ASYNC_WAL, got.getDurability());
    assertFalse(got.isCompactionEnabled());
    assertTrue(got.isNormalizationEnabled());
    assertEquals(300, got.getPriority());
    assertEquals(policy, got.getRegionSplitPolicyClassName());
    assertEquals("6", got.getValue("hbase.hregion.memstore.block.multiplier"));
    assertEquals("thing", got.getValue("any"));
    assertEquals(2, got.getColumnFamilyCount());
    assertFalse(got.isReadOnly());
  }

  @Test
  void badDescriptorsAreRefused() throws Exception {
    assertFails(DoNotRetryIOException.class, "at least one column family",
        () -> admin.createTable(TableDescriptorBuilder.newBuilder(newName()).build()));
    assertFails(DoNotRetryIOException.class, "MAX_FILESIZE",
        () -> admin.createTable(descriptor(newName(), "f").setMaxFileSize(1).build()));
    assertFails(DoNotRetryIOException.class, "MEMSTORE_FLUSHSIZE",
        () -> admin.createTable(descriptor(newName(), "f").setMemStoreFlushSize(1).build()));
    assertFails(DoNotRetryIOException.class, "no.such.SplitPolicy",
        () -> admin.createTable(descriptor(newName(), "f").setRegionSplitPolicyClassName("no.such.SplitPolicy").build()));
    assertFails(DoNotRetryIOException.class, "no.such.Coprocessor",
        () -> admin.createTable(descriptor(newName(), "f").setCoprocessor("no.such.Coprocessor").build()));
    assertFails(DoNotRetryIOException.class, "Block size",
        () -> createWith(familyBuilder("f").setBlocksize(100)));
    assertFails(DoNotRetryIOException.class, "TTL",
        () -> createWith(familyBuilder("f").setTimeToLive(0)));
    assertFails(DoNotRetryIOException.class, "eplication scope",
        () -> createWith(familyBuilder("f").setValue("REPLICATION_SCOPE", "-1")));
    assertFails(NamespaceNotFoundException.class,
        () -> admin.createTable(descriptor(TableName.valueOf("no_such_namespace", "t"), "f").build()));
    assertFails(IllegalArgumentException.class,
        () -> admin.createTable(descriptor(newName(), "f").build(), new byte[][] {b("a"), b("a")}));
  }

  private void createWith(ColumnFamilyDescriptorBuilder family) throws Exception {
    admin.createTable(TableDescriptorBuilder.newBuilder(newName()).setColumnFamily(family.build()).build());
  }

  @Test
  void aTableCannotBeCreatedTwice() throws Exception {
    TableName name = newName();
    admin.createTable(descriptor(name, "f").build());
    assertFails(TableExistsException.class, () -> admin.createTable(descriptor(name, "f").build()));
  }

  @Test
  void disableAndEnable() throws Exception {
    Table table = newTable("f");
    TableName name = table.getName();
    put(table, "r1 f:a=1");
    assertFails(TableNotDisabledException.class, () -> admin.enableTable(name));
    admin.disableTable(name);
    assertTrue(admin.isTableDisabled(name));
    assertFalse(admin.isTableEnabled(name));
    assertFails(TableNotEnabledException.class, () -> admin.disableTable(name));
    assertFails(TableNotEnabledException.class, () -> table.get(new Get(b("r1"))));
    admin.enableTable(name);
    assertTrue(admin.isTableEnabled(name));
    assertEquals("r1", rows(table, new Scan()));
  }

  @Test
  void deleteWantsADisabledTable() throws Exception {
    Table table = newTable("f");
    TableName name = table.getName();
    assertFails(TableNotDisabledException.class, () -> admin.deleteTable(name));
    admin.disableTable(name);
    admin.deleteTable(name);
    assertFalse(admin.tableExists(name));
    assertFails(TableNotFoundException.class, () -> admin.getDescriptor(name));
    // The name is free again, and the new table is empty.
    admin.createTable(descriptor(name, "g").build());
    assertEquals("", rows(table, new Scan()));
  }

  @Test
  void truncateEmptiesTheTableAndMayKeepItsSplits() throws Exception {
    Table table = newSplitTable("h", "p");
    TableName name = table.getName();
    put(table, "a f:x=1 | k f:x=2 | z f:x=3");
    assertFails(TableNotDisabledException.class, () -> admin.truncateTable(name, true));
    admin.disableTable(name);
    admin.truncateTable(name, true);
    assertTrue(admin.isTableEnabled(name));
    assertEquals(List.of("", "h", "p"), startKeys(name));
    assertEquals("", rows(table, new Scan()));
    put(table, "k f:x=2");
    admin.disableTable(name);
    admin.truncateTable(name, false);
    assertEquals(List.of(""), startKeys(name));
    put(table, "z f:x=3");
    assertEquals("z", rows(table, new Scan()));
  }

  @Test
  void familiesAreAddedChangedAndDeleted() throws Exception {
    Table table = newTable("f");
    TableName name = table.getName();
    put(table, "r1 f:a=1");
    admin.addColumnFamily(name, family("g"));
    put(table, "r1 g:b=2");
    admin.modifyColumnFamily(name, familyBuilder("g").setMaxVersions(9).build());
    assertEquals(9, admin.getDescriptor(name).getColumnFamily(b("g")).getMaxVersions());
    assertEquals("r1 f:a=1 g:b=2", Text.text(table.get(new Get(b("r1")))));
    admin.deleteColumnFamily(name, b("f"));
    assertEquals("r1 g:b=2", Text.text(table.get(new Get(b("r1")))));
    // A family that comes back has nothing of the old one.
    admin.addColumnFamily(name, family("f"));
    assertEquals("r1 g:b=2", Text.text(table.get(new Get(b("r1")))));
    assertFails(InvalidFamilyOperationException.class, () -> admin.addColumnFamily(name, family("g")));
    assertFails(InvalidFamilyOperationException.class, () -> admin.deleteColumnFamily(name, b("x")));
    assertFails(InvalidFamilyOperationException.class, () -> admin.modifyColumnFamily(name, family("x")));
    admin.deleteColumnFamily(name, b("f"));
    assertFails(DoNotRetryIOException.class, () -> admin.deleteColumnFamily(name, b("g")));
  }

  @Test
  void modifyTableChangesAttributesOfALiveTable() throws Exception {
    Table table = newTable("f");
    TableName name = table.getName();
    put(table, "r1 f:a=1");
    TableDescriptor changed = TableDescriptorBuilder.newBuilder(admin.getDescriptor(name))
        .setReadOnly(true).setValue("purpose", "archive").build();
    admin.modifyTable(changed);
    assertTrue(admin.getDescriptor(name).isReadOnly());
    assertEquals("archive", admin.getDescriptor(name).getValue("purpose"));
    assertFails(DoNotRetryIOException.class, "read only", () -> put(table, "r2 f:a=1"));
    assertEquals("r1", rows(table, new Scan()));
    admin.modifyTable(TableDescriptorBuilder.newBuilder(changed).setReadOnly(false).removeValue(b("purpose")).build());
    put(table, "r2 f:a=1");
    assertEquals("r1 r2", rows(table, new Scan()));
    TableName missing = newName();
    assertFails(TableNotFoundException.class, () -> admin.modifyTable(descriptor(missing, "f").build()));
  }

  @Test
  void missingTablesAreNotFound() throws Exception {
    TableName missing = newName();
    assertFails(TableNotFoundException.class, () -> admin.disableTable(missing));
    assertFails(TableNotFoundException.class, () -> admin.enableTable(missing));
    assertFails(TableNotFoundException.class, () -> admin.deleteTable(missing));
    assertFails(TableNotFoundException.class, () -> admin.truncateTable(missing, false));
    assertFails(TableNotFoundException.class, () -> admin.getDescriptor(missing));
    assertFails(TableNotFoundException.class, () -> admin.isTableEnabled(missing));
    assertFails(TableNotFoundException.class, () -> open(missing).get(new Get(b("r"))));
    assertFails(TableNotFoundException.class, () -> put(open(missing), "r f:a=1"));
  }

  @Test
  void tablesAreListed() throws Exception {
    Table one = newTable("f");
    Table two = newTable("f");
    List<TableName> names = List.of(admin.listTableNames());
    assertTrue(names.contains(one.getName()) && names.contains(two.getName()));
    assertFalse(names.contains(TableName.META_TABLE_NAME));
    Pattern only = Pattern.compile(Pattern.quote(one.getName().getNameAsString()));
    assertEquals(List.of(one.getName()), List.of(admin.listTableNames(only, false)));
    List<TableDescriptor> described = admin.listTableDescriptors(List.of(two.getName()));
    assertEquals(1, described.size());
    assertEquals(two.getName(), described.get(0).getTableName());
    List<TableName> system = List.of(admin.listTableNames(Pattern.compile(".*"), true));
    assertTrue(system.contains(TableName.META_TABLE_NAME), system.toString());
  }

  @Test
  void aSchemaIsCloned() throws Exception {
    TableName from = newName();
    admin.createTable(
        TableDescriptorBuilder.newBuilder(from).setColumnFamily(familyBuilder("f").setMaxVersions(4).build()).build(),
        new byte[][] {b("k")});
    put(open(from), "a f:x=1");
    TableName to = newName();
    admin.cloneTableSchema(from, to, true);
    assertEquals(4, admin.getDescriptor(to).getColumnFamily(b("f")).getMaxVersions());
    assertEquals(List.of("", "k"), startKeys(to));
    assertEquals("", rows(open(to), new Scan()));
  }
}
