package martite.compat.since24;

import static martite.compat.Text.b;
import static martite.compat.Text.put;
import static martite.compat.Text.rows;
import static martite.compat.Text.scan;
import static martite.compat.Text.scanWithTimestamps;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import martite.compat.CompatTest;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.NamespaceNotFoundException;
import org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableExistsException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.TableNotDisabledException;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.SnapshotDescription;
import org.apache.hadoop.hbase.client.SnapshotType;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.snapshot.RestoreSnapshotException;
import org.apache.hadoop.hbase.snapshot.SnapshotCreationException;
import org.apache.hadoop.hbase.snapshot.SnapshotDoesNotExistException;
import org.apache.hadoop.hbase.snapshot.SnapshotExistsException;
import org.apache.hadoop.hbase.snapshot.SnapshotTTLExpiredException;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Snapshots: taken, listed, cloned, restored, deleted and expired; what they keep of tables that change, split and go. */
class SnapshotTest extends CompatTest {
  private final String run = "snap_" + Long.toString(System.nanoTime(), 36);

  @AfterEach
  void deleteSnapshots() throws Exception {
    admin.deleteSnapshots(Pattern.compile(run + ".*"));
  }

  /** A name that no other test has; the snapshot is deleted after the test. */
  private String named(String name) {
    return run + "_" + name;
  }

  private Pattern ours(String names) {
    return Pattern.compile(run + "_" + names);
  }

  private static Put row(int i, String value) {
    return new Put(b(String.format("r%03d", i)))
        .addColumn(b("f"), b("q"), b(value + i)).addColumn(b("g"), b("q"), b(value + i));
  }

  private static void fill(Table table, int from, int to, int step, String value) throws Exception {
    List<Put> puts = new ArrayList<>();
    for (int i = from; i < to; i += step) {
      puts.add(row(i, value));
    }
    table.put(puts);
  }

  /** Families {@code f} and {@code g}, three regions; of rows r000 to r299 every third is in a file, the others are in memory. */
  private Table newFilledTable() throws Exception {
    TableName name = newName();
    admin.createTable(descriptor(name, "f", "g").build(), new byte[][] {b("r100"), b("r200")});
    Table table = open(name);
    fill(table, 0, 300, 3, "a");
    admin.flush(name);
    fill(table, 1, 300, 3, "b");
    fill(table, 2, 300, 3, "c");
    return table;
  }

  private static String all(Table table) throws Exception {
    return scanWithTimestamps(table, new Scan().readAllVersions());
  }

  private static int count(Table table) throws Exception {
    return rows(table, new Scan()).split(" ").length;
  }

  private void assertRows(String expected, TableName name) throws Exception {
    assertEquals(expected, all(open(name)));
  }

  private TableName cloned(String snapshot) throws Exception {
    TableName clone = newName();
    admin.cloneSnapshot(snapshot, clone);
    assertTrue(admin.isTableEnabled(clone));
    return clone;
  }

  private void drop(TableName name) throws Exception {
    admin.disableTable(name);
    admin.deleteTable(name);
    admin.runCatalogJanitor();
    admin.runCleanerChore();
  }

  private List<String> startKeys(TableName name) throws Exception {
    return admin.getRegions(name).stream().map(r -> Bytes.toString(r.getStartKey())).sorted()
        .collect(Collectors.toList());
  }

  private List<String> listed(String names) throws Exception {
    return admin.listSnapshots(ours(names)).stream().map(s -> s.getName().substring(run.length() + 1)).sorted()
        .collect(Collectors.toList());
  }

  private SnapshotDescription description(String snapshot) throws Exception {
    List<SnapshotDescription> found = admin.listSnapshots(Pattern.compile(snapshot));
    assertEquals(1, found.size(), found.toString());
    return found.get(0);
  }

  /** Every store has one file, which is none of another table: there are more before. */
  private void majorCompact(TableName name, int families) throws Exception {
    ServerName server = admin.getRegionServers().iterator().next();
    admin.majorCompact(name);
    eventually("a file a store", () -> {
      for (RegionMetrics region : admin.getRegionMetrics(server, name)) {
        if (region.getStoreFileCount() != families) {
          return false;
        }
      }
      return true;
    });
  }

  @Test
  void snapshotsAreListed() throws Exception {
    TableName table = newFilledTable().getName();
    assertEquals(List.of(), listed(".*"));
    long before = System.currentTimeMillis();
    admin.snapshot(named("s"), table);
    long after = System.currentTimeMillis();
    SnapshotDescription snapshot = description(named("s"));
    assertEquals(named("s"), snapshot.getName());
    assertEquals(table, snapshot.getTableName());
    assertEquals(SnapshotType.FLUSH, snapshot.getType());
    assertTrue(snapshot.getCreationTime() >= before && snapshot.getCreationTime() <= after, snapshot.toString());
    assertEquals(0, snapshot.getTtl());
    assertTrue(admin.isSnapshotFinished(snapshot));
    assertTrue(admin.listSnapshots().stream().anyMatch(s -> s.getName().equals(named("s"))));
    admin.deleteSnapshot(named("s"));
    assertEquals(List.of(), listed(".*"));
    // The name is free again.
    admin.snapshot(named("s"), table, SnapshotType.SKIPFLUSH);
    assertEquals(SnapshotType.SKIPFLUSH, description(named("s")).getType());
  }

  @Test
  void aCloneHasTheRowsOfTheSnapshot() throws Exception {
    Table table = newFilledTable();
    String before = all(table);
    admin.snapshot(named("s"), table.getName());
    fill(table, 290, 400, 1, "later");
    table.delete(new Delete(b("r001")));
    table.delete(new Delete(b("r150")).addFamily(b("g")));
    String later = all(table);
    assertNotEquals(before, later);

    TableName clone = cloned(named("s"));
    assertRows(before, clone);
    assertEquals(300, count(open(clone)));
    assertEquals(List.of("", "r100", "r200"), startKeys(clone));
    TableDescriptor wanted = TableDescriptorBuilder.copy(clone, admin.getDescriptor(table.getName()));
    assertEquals(wanted, admin.getDescriptor(clone));
    // Each goes its own way.
    put(open(clone), "r000 f:q=ofClone | s f:q=ofClone");
    open(clone).delete(new Delete(b("r299")));
    assertEquals(later, all(table));
    assertEquals("r000 f:q=ofClone g:q=a0", scan(open(clone), new Scan().setLimit(1)));
    assertEquals("r298 s", rows(open(clone), new Scan().withStartRow(b("r298"))));
    // And the snapshot is as it was.
    assertRows(before, cloned(named("s")));
  }

  @Test
  void restorePutsRowsRegionsAndDescriptorBack() throws Exception {
    Table table = newFilledTable();
    TableName name = table.getName();
    String before = all(table);
    TableDescriptor described = admin.getDescriptor(name);
    admin.snapshot(named("s"), name);

    fill(table, 0, 400, 2, "later");
    table.delete(new Delete(b("r001")));
    admin.addColumnFamily(name, family("h"));
    admin.modifyColumnFamily(name, familyBuilder("f").setMaxVersions(9).build());
    admin.deleteColumnFamily(name, b("g"));
    admin.modifyTable(TableDescriptorBuilder.newBuilder(admin.getDescriptor(name)).setValue("purpose", "later").build());
    put(table, "r500 h:q=later");
    admin.flush(name);
    RegionInfo last = admin.getRegions(name).stream().filter(r -> r.getEndKey().length == 0).findFirst().get();
    admin.splitRegionAsync(last.getRegionName(), b("r250")).get();
    assertEquals(List.of("", "r100", "r200", "r250"), startKeys(name));

    assertFails(TableNotDisabledException.class, () -> admin.restoreSnapshot(named("s")));
    admin.disableTable(name);
    admin.restoreSnapshot(named("s"));
    assertTrue(admin.isTableDisabled(name));
    assertEquals(described, admin.getDescriptor(name));
    admin.enableTable(name);
    assertEquals(List.of("", "r100", "r200"), startKeys(name));
    assertEquals(before, all(table));
    assertNull(admin.getDescriptor(name).getValue("purpose"));
    put(table, "r500 g:q=again");
    admin.flush(name);
    majorCompact(name, 2);
    assertEquals(before + " | r500 g:q=again", before + " | " + scan(table, new Scan().withStartRow(b("r300"))));
    // Once more, over the files that the first restore left; the failsafe snapshot is gone afterwards.
    admin.disableTable(name);
    admin.restoreSnapshot(named("s"), true);
    admin.enableTable(name);
    assertEquals(before, all(table));
    assertEquals(1, admin.listTableSnapshots(Pattern.compile(name.getNameAsString()), Pattern.compile(".*")).size());
  }

  @Test
  void restoreMakesATableThatIsGone() throws Exception {
    Table table = newFilledTable();
    String before = all(table);
    admin.snapshot(named("s"), table.getName());
    drop(table.getName());
    admin.restoreSnapshot(named("s"));
    assertTrue(admin.isTableEnabled(table.getName()));
    assertEquals(before, all(table));
    assertEquals(List.of("", "r100", "r200"), startKeys(table.getName()));
  }

  @Test
  void aCloneOutlivesTableAndSnapshot() throws Exception {
    Table table = newFilledTable();
    String before = all(table);
    admin.snapshot(named("s"), table.getName());
    TableName clone = cloned(named("s"));
    drop(table.getName());
    assertRows(before, clone);
    admin.deleteSnapshot(named("s"));
    admin.runCleanerChore();
    assertRows(before, clone);
    // Closed and opened again it finds its files, too.
    admin.disableTable(clone);
    admin.enableTable(clone);
    assertRows(before, clone);
    put(open(clone), "r300 f:q=d g:q=d | r099 g:r=d");
    admin.flush(clone);
    majorCompact(clone, 2);
    admin.runCleanerChore();
    assertEquals(301, count(open(clone)));
    assertEquals("r098 f:q=c98 g:q=c98 | r099 f:q=a99 g:q=a99 g:r=d | r100 f:q=b100 g:q=b100",
        scan(open(clone), new Scan().withStartRow(b("r098")).setLimit(3)));
  }

  @Test
  void aCloneIsCloned() throws Exception {
    Table table = newFilledTable();
    String before = all(table);
    admin.snapshot(named("first"), table.getName());
    TableName clone = cloned(named("first"));
    put(open(clone), "r300 f:q=d@7");
    String ofClone = all(open(clone));
    admin.snapshot(named("second"), clone);
    TableName second = cloned(named("second"));
    assertRows(ofClone, second);
    // Files of the first, through links of the second, are all that the third has.
    drop(table.getName());
    admin.deleteSnapshot(named("first"));
    drop(clone);
    assertRows(ofClone, second);
    assertNotEquals(before, ofClone);
    admin.snapshot(named("third"), second);
    drop(second);
    admin.deleteSnapshot(named("second"));
    admin.runCleanerChore();
    TableName third = cloned(named("third"));
    admin.deleteSnapshot(named("third"));
    assertRows(ofClone, third);
  }

  @Test
  void aCloneIsRestored() throws Exception {
    Table table = newFilledTable();
    admin.snapshot(named("s"), table.getName());
    TableName clone = cloned(named("s"));
    put(open(clone), "r300 f:q=d");
    String ofClone = all(open(clone));
    admin.snapshot(named("of_clone"), clone);
    fill(open(clone), 0, 300, 1, "later");
    admin.flush(clone);
    majorCompact(clone, 2);
    admin.disableTable(clone);
    admin.restoreSnapshot(named("of_clone"));
    admin.enableTable(clone);
    assertRows(ofClone, clone);
    assertEquals(300, count(table));
  }

  /** A table that is not compacted, so that the daughters of a split keep their references to the parent's files. */
  @Test
  void referencesOfASplitAreCloned() throws Exception {
    TableName name = newName();
    admin.createTable(descriptor(name, "f", "g").setCompactionEnabled(false).build(), new byte[][] {b("r200")});
    Table table = open(name);
    fill(table, 0, 300, 2, "a");
    admin.flush(name);
    fill(table, 1, 300, 2, "b");
    String before = all(table);
    RegionInfo first = admin.getRegions(name).stream().filter(r -> r.getStartKey().length == 0).findFirst().get();
    admin.splitRegionAsync(first.getRegionName(), b("r077")).get();
    assertEquals(List.of("", "r077", "r200"), startKeys(name));
    admin.snapshot(named("s"), name);
    TableName clone = cloned(named("s"));
    assertRows(before, clone);

    drop(name);
    TableName late = cloned(named("s"));
    admin.deleteSnapshot(named("s"));
    admin.runCleanerChore();
    for (TableName one : List.of(clone, late)) {
      assertRows(before, one);
      assertEquals(List.of("", "r077", "r200"), startKeys(one));
    }
    admin.modifyTable(TableDescriptorBuilder.newBuilder(admin.getDescriptor(late)).setCompactionEnabled(true).build());
    fill(open(late), 300, 301, 1, "c");
    fill(open(late), 0, 1, 1, "c");
    fill(open(late), 100, 101, 1, "c");
    admin.flush(late);
    majorCompact(late, 2);
    assertEquals(301, count(open(late)));
    assertEquals("r000 f:q=c0 g:q=c0 | r001 f:q=b1 g:q=b1", scan(open(late), new Scan().setLimit(2)));
    assertEquals("r076 f:q=a76 g:q=a76 | r077 f:q=b77 g:q=b77",
        scan(open(late), new Scan().withStartRow(b("r076")).setLimit(2)));
    // A split of the first clone, whose files are references through links.
    assertRows(before, clone);
  }

  /** The other way about: first the snapshot, then the split of what its files are linked from. */
  @Test
  void aCloneIsSplit() throws Exception {
    Table table = newFilledTable();
    String before = all(table);
    admin.snapshot(named("s"), table.getName());
    TableName clone = cloned(named("s"));
    RegionInfo first = admin.getRegions(clone).stream().filter(r -> r.getStartKey().length == 0).findFirst().get();
    admin.splitRegionAsync(first.getRegionName(), b("r050")).get();
    assertEquals(List.of("", "r050", "r100", "r200"), startKeys(clone));
    assertRows(before, clone);
    admin.snapshot(named("of_split"), clone);
    drop(table.getName());
    admin.deleteSnapshot(named("s"));
    assertRows(before, clone);
    drop(clone);
    assertRows(before, cloned(named("of_split")));
  }

  @Test
  void skipFlushLeavesOutWhatIsInMemory() throws Exception {
    Table table = newFilledTable();
    admin.snapshot(named("files"), table.getName(), SnapshotType.SKIPFLUSH);
    admin.snapshot(named("all"), table.getName(), SnapshotType.FLUSH);
    Table files = open(cloned(named("files")));
    assertEquals(100, count(files));
    assertEquals("r000 f:q=a0 g:q=a0 | r003 f:q=a3 g:q=a3", scan(files, new Scan().setLimit(2)));
    assertEquals(300, count(open(cloned(named("all")))));
  }

  @Test
  void disabledTablesHaveSnapshots() throws Exception {
    Table table = newFilledTable();
    String before = all(table);
    admin.disableTable(table.getName());
    admin.snapshot(named("s"), table.getName());
    assertTrue(admin.isTableDisabled(table.getName()));
    assertEquals(SnapshotType.DISABLED, description(named("s")).getType());
    assertRows(before, cloned(named("s")));
    admin.enableTable(table.getName());
    fill(table, 0, 300, 1, "later");
    admin.disableTable(table.getName());
    admin.restoreSnapshot(named("s"));
    admin.enableTable(table.getName());
    assertEquals(before, all(table));
  }

  @Test
  void emptyTablesHaveSnapshots() throws Exception {
    Table table = newSplitTable("k");
    admin.snapshot(named("s"), table.getName());
    put(table, "a f:q=1 | z f:q=2");
    TableName clone = cloned(named("s"));
    assertRows("", clone);
    assertEquals(List.of("", "k"), startKeys(clone));
    admin.disableTable(table.getName());
    admin.restoreSnapshot(named("s"));
    admin.enableTable(table.getName());
    assertRows("", table.getName());
    put(table, "b f:q=3");
    assertEquals("b", rows(table, new Scan()));
  }

  @Test
  void otherNamespaces() throws Exception {
    Table table = newFilledTable();
    String before = all(table);
    admin.snapshot(named("s"), table.getName());
    assertFails(NamespaceNotFoundException.class,
        () -> admin.cloneSnapshot(named("s"), TableName.valueOf("no_such_namespace", "t")));
    String namespace = run;
    admin.createNamespace(NamespaceDescriptor.create(namespace).build());
    TableName clone = newName(namespace);
    try {
      admin.cloneSnapshot(named("s"), clone);
      assertRows(before, clone);
      admin.snapshot(named("of_clone"), clone);
      assertEquals(clone, description(named("of_clone")).getTableName());
      drop(clone);
      assertRows(before, cloned(named("of_clone")));
    } finally {
      if (admin.tableExists(clone)) {
        drop(clone);
      }
      admin.deleteNamespace(namespace);
    }
  }

  @Test
  void whatIsNotThereIsRefused() throws Exception {
    Table table = newTable("f");
    TableName name = table.getName();
    TableName missing = newName();
    assertFails(SnapshotCreationException.class, "doesn't exist", () -> admin.snapshot(named("s"), missing));
    assertFails(SnapshotDoesNotExistException.class, () -> admin.deleteSnapshot(named("none")));
    assertFails(SnapshotDoesNotExistException.class, () -> admin.cloneSnapshot(named("none"), missing));
    assertFalse(admin.tableExists(missing));
    // The client looks for the table's name itself.
    assertFails(RestoreSnapshotException.class, named("none"), () -> admin.restoreSnapshot(named("none")));

    admin.snapshot(named("s"), name);
    assertFails(SnapshotExistsException.class, () -> admin.snapshot(named("s"), name));
    assertFails(SnapshotExistsException.class, () -> admin.snapshot(named("s"), newTable("f").getName()));
    assertFails(TableExistsException.class, () -> admin.cloneSnapshot(named("s"), name));
    assertFails(TableNotDisabledException.class, () -> admin.restoreSnapshot(named("s")));
    admin.disableTable(name);
    assertFails(TableExistsException.class, () -> admin.cloneSnapshot(named("s"), name));
    assertEquals(List.of("s"), listed(".*"));
  }

  @Test
  void illegalNamesAreRefused() throws Exception {
    TableName name = newTable("f").getName();
    for (String illegal : List.of("", ".s", "-s", "a b", "a/b", "a:b", "../s", "s\0")) {
      assertFails(IllegalArgumentException.class, () -> admin.snapshot(illegal, name));
    }
    assertEquals(List.of(), admin.listTableSnapshots(Pattern.compile(name.getNameAsString()), Pattern.compile(".*")));
    for (String legal : List.of("s.1", "s-1", "s_1", "S1", "1.")) {
      admin.snapshot(named(legal), name);
    }
    assertEquals(List.of("1.", "S1", "s-1", "s.1", "s_1"), listed(".*"));
  }

  @Test
  void patternsFindNamesAndTables() throws Exception {
    TableName one = newTable("f").getName();
    TableName two = newTable("f").getName();
    admin.snapshot(named("a1"), one);
    admin.snapshot(named("a2"), one);
    admin.snapshot(named("b1"), one);
    admin.snapshot(named("a3"), two);
    assertEquals(List.of("a1", "a2", "a3"), listed("a."));
    assertEquals(List.of(), listed("a"));
    assertEquals(List.of("a1", "a2"), ofTables(one.getNameAsString(), "a.*"));
    assertEquals(List.of("a1", "a2", "a3", "b1"),
        ofTables(one.getNameAsString() + "|" + two.getNameAsString(), ".*"));
    assertEquals(List.of(), ofTables(one.getNameAsString().substring(1), ".*"));

    admin.deleteSnapshots(ours("nothing.*"));
    admin.deleteTableSnapshots(Pattern.compile(two.getNameAsString()), ours("b.*"));
    assertEquals(List.of("a1", "a2", "a3", "b1"), listed(".*"));
    admin.deleteTableSnapshots(Pattern.compile(one.getNameAsString()), ours("a.*"));
    assertEquals(List.of("a3", "b1"), listed(".*"));
    admin.deleteSnapshots(ours("[ab]3"));
    assertEquals(List.of("b1"), listed(".*"));
    admin.deleteTableSnapshots(Pattern.compile(one.getNameAsString()), Pattern.compile(".*"));
    assertEquals(List.of(), listed(".*"));
  }

  private List<String> ofTables(String tables, String names) throws Exception {
    return admin.listTableSnapshots(Pattern.compile(tables), ours(names)).stream()
        .map(s -> s.getName().substring(run.length() + 1)).sorted().collect(Collectors.toList());
  }

  @Test
  void expiredSnapshotsAreOfNoUse() throws Exception {
    Table table = newTable("f");
    put(table, "r f:q=1");
    admin.snapshot(named("long"), table.getName(), Map.of("TTL", 1_000_000L));
    admin.snapshot(named("short"), table.getName(), Map.of("TTL", 1L));
    // Listed until the chore that looks for expired ones comes along, which may be at once.
    assertEquals(1_000_000, description(named("long")).getTtl());
    eventually("expired", () -> {
      TableName clone = newName();
      try {
        admin.cloneSnapshot(named("short"), clone);
      } catch (SnapshotTTLExpiredException e) {
        assertFalse(admin.tableExists(clone));
        return true;
      }
      return false;
    });
    admin.disableTable(table.getName());
    assertFails(SnapshotTTLExpiredException.class, () -> admin.restoreSnapshot(named("short")));
    admin.enableTable(table.getName());
    assertEquals("r f:q=1", scan(table, new Scan()));
    assertEquals(1, description(named("short")).getTtl());
    admin.deleteSnapshot(named("short"));
    assertRows(all(table), cloned(named("long")));
  }

  @Test
  void aSnapshotSaysHowLargeRegionsOfItsClonesGrow() throws Exception {
    Table table = newTable("f");
    long size = 21_474_836_480L;
    admin.snapshot(named("s"), table.getName(), Map.of("MAX_FILESIZE", size));
    assertEquals(size, description(named("s")).getMaxFileSize());
    assertEquals(size, admin.getDescriptor(cloned(named("s"))).getMaxFileSize());
    assertEquals(-1, admin.getDescriptor(table.getName()).getMaxFileSize());
  }
}
