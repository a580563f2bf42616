package martite.compat;

import static martite.compat.Text.b;
import static martite.compat.Text.put;
import static martite.compat.Text.scan;
import static martite.compat.Text.withTimestamps;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException;
import org.junit.jupiter.api.Test;

/** The four kinds of delete markers, in memory and after a flush and a compaction. */
class DeleteTest extends CompatTest {
  private static final String CELLS = "r f:a@3=3 f:a@5=5 f:a@7=7 f:b@5=5 f:b@7=7 g:a@5=5";

  private Table filled() throws Exception {
    Table table = newTable(familyBuilder("f").setMaxVersions(9).build(), familyBuilder("g").setMaxVersions(9).build());
    put(table, CELLS);
    return table;
  }

  private static String all(Table table) throws Exception {
    return withTimestamps(table.get(new Get(b("r")).readAllVersions()));
  }

  /** The answer is the same from memory, from a file with the marker, and from a file without it. */
  private void check(Table table, Delete delete, String want) throws Exception {
    table.delete(delete);
    assertEquals(want, all(table), "in memory");
    admin.flush(table.getName());
    assertEquals(want, all(table), "flushed");
    admin.majorCompact(table.getName());
    eventually("the markers are compacted away", () -> {
      Scan raw = new Scan().setRaw(true).readAllVersions();
      return !Text.scanWithTimestamps(table, raw).contains("/");
    });
    assertEquals(want, all(table), "compacted");
  }

  @Test
  void oneVersionAtItsTimestamp() throws Exception {
    check(filled(), new Delete(b("r")).addColumn(b("f"), b("a"), 5),
        "r f:a@7=7 f:a@3=3 f:b@7=7 f:b@5=5 g:a@5=5");
  }

  @Test
  void theNewestVersion() throws Exception {
    check(filled(), new Delete(b("r")).addColumn(b("f"), b("a")),
        "r f:a@5=5 f:a@3=3 f:b@7=7 f:b@5=5 g:a@5=5");
  }

  @Test
  void severalNewestVersionsAtOnce() throws Exception {
    Delete two = new Delete(b("r")).addColumn(b("f"), b("a")).addColumn(b("f"), b("a")).addColumn(b("f"), b("b"));
    check(filled(), two, "r f:a@3=3 f:b@5=5 g:a@5=5");
  }

  @Test
  void aColumnUpToATimestamp() throws Exception {
    check(filled(), new Delete(b("r")).addColumns(b("f"), b("a"), 5), "r f:a@7=7 f:b@7=7 f:b@5=5 g:a@5=5");
  }

  @Test
  void aWholeColumn() throws Exception {
    check(filled(), new Delete(b("r")).addColumns(b("f"), b("a")), "r f:b@7=7 f:b@5=5 g:a@5=5");
  }

  @Test
  void aFamilyUpToATimestamp() throws Exception {
    check(filled(), new Delete(b("r")).addFamily(b("f"), 5), "r f:a@7=7 f:b@7=7 g:a@5=5");
  }

  @Test
  void aWholeFamily() throws Exception {
    check(filled(), new Delete(b("r")).addFamily(b("f")), "r g:a@5=5");
  }

  @Test
  void aFamilyAtOneTimestamp() throws Exception {
    check(filled(), new Delete(b("r")).addFamilyVersion(b("f"), 5), "r f:a@7=7 f:a@3=3 f:b@7=7 g:a@5=5");
  }

  @Test
  void aWholeRow() throws Exception {
    check(filled(), new Delete(b("r")), "");
  }

  @Test
  void aRowUpToATimestamp() throws Exception {
    check(filled(), new Delete(b("r"), 5), "r f:a@7=7 f:b@7=7");
  }

  @Test
  void whatIsPutBelowAMarkerStaysHiddenUntilACompaction() throws Exception {
    Table table = newTable("f");
    table.delete(new Delete(b("r")).addColumns(b("f"), b("a"), 10));
    put(table, "r f:a@9=hidden");
    assertEquals("", all(table));
    put(table, "r f:a@11=seen");
    assertEquals("r f:a@11=seen", all(table));
    // At the same timestamp the delete wins, whoever came first.
    put(table, "r f:b@10=b");
    table.delete(new Delete(b("r")).addColumn(b("f"), b("b"), 10));
    put(table, "r f:b@10=again");
    assertEquals("r f:a@11=seen", all(table));
  }

  @Test
  void deletingWhatIsNotThereIsNoError() throws Exception {
    Table table = newTable("f");
    table.delete(new Delete(b("none")));
    table.delete(new Delete(b("none")).addColumn(b("f"), b("a")));
    // Later than the markers for certain: in the same millisecond they would win.
    put(table, "none f:a@" + (System.currentTimeMillis() + 1000) + "=1");
    assertEquals("none f:a=1", scan(table, new Scan()));
    assertFails(NoSuchColumnFamilyException.class, () -> table.delete(new Delete(b("r")).addFamily(b("x"))));
  }

  @Test
  void rawScansShowMarkersAndWhatTheyHide() throws Exception {
    Table table = newTable(familyBuilder("f").setMaxVersions(9).build());
    put(table, "r f:a@3=3 f:a@5=5 f:b@4=4");
    table.delete(new Delete(b("r")).addColumns(b("f"), b("a"), 4));
    table.delete(new Delete(b("r")).addFamily(b("f"), 2));
    table.delete(new Delete(b("r")).addFamilyVersion(b("f"), 4));
    table.delete(new Delete(b("r")).addColumn(b("f"), b("a"), 5));
    Scan raw = new Scan().setRaw(true).readAllVersions();
    assertEquals("r f:@4/DeleteFamilyVersion f:@2/DeleteFamily f:a@5/Delete f:a@5=5 f:a@4/DeleteColumn f:a@3=3 f:b@4=4",
        Text.scanWithTimestamps(table, raw));
    assertEquals("", all(table));
  }

  @Test
  void manyDeletesInOneCall() throws Exception {
    Table table = newSplitTable("m");
    put(table, "a f:x=1 | b f:x=1 | n f:x=1 f:y=2 | z f:x=1");
    List<Delete> deletes = new ArrayList<>(List.of(new Delete(b("a")), new Delete(b("n")).addColumns(b("f"), b("x")),
        new Delete(b("z")).addFamily(b("f"))));
    table.delete(deletes);
    assertTrue(deletes.isEmpty(), "those that are done are taken out of the list");
    assertEquals("b f:x=1 | n f:y=2", scan(table, new Scan()));
  }
}
