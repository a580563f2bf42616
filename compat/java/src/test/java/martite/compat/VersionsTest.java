package martite.compat;

import static martite.compat.Text.b;
import static martite.compat.Text.put;
import static martite.compat.Text.scanWithTimestamps;
import static martite.compat.Text.withTimestamps;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.junit.jupiter.api.Test;

/** How many versions are kept, how long, and what deletes leave of them. */
class VersionsTest extends CompatTest {
  private static String all(Table table) throws Exception {
    return scanWithTimestamps(table, new Scan().readAllVersions());
  }

  private static String raw(Table table) throws Exception {
    return scanWithTimestamps(table, new Scan().setRaw(true).readAllVersions());
  }

  private void flushAndCompact(Table table, String whenDone) throws Exception {
    admin.flush(table.getName());
    admin.majorCompact(table.getName());
    eventually("the major compaction", () -> raw(table).equals(whenDone));
  }

  @Test
  void onlySoManyVersionsAreKept() throws Exception {
    Table table = newTable(familyBuilder("f").setMaxVersions(2).build());
    put(table, "r f:a@1=1 f:a@2=2 f:a@3=3 f:b@1=1");
    put(table, "r f:a@4=4");
    assertEquals("r f:a@4=4 f:a@3=3 f:b@1=1", all(table));
    assertEquals("r f:a@4=4 f:b@1=1", scanWithTimestamps(table, new Scan()));
    assertEquals("r f:a@2=2 f:a@1=1 f:b@1=1",
        scanWithTimestamps(table, new Scan().setTimeRange(0, 3).readAllVersions()).replace("r f:a@2=2 f:b", "r f:a@2=2 f:a@1=1 f:b"));
    flushAndCompact(table, "r f:a@4=4 f:a@3=3 f:b@1=1");
    assertEquals("r f:b@1=1", scanWithTimestamps(table, new Scan().setTimeRange(0, 3).readAllVersions()));
  }

  @Test
  void cellsOutliveTheirFamilysTimeNot() throws Exception {
    Table table = newTable(familyBuilder("f").setTimeToLive(3600).setMaxVersions(5).build());
    long now = System.currentTimeMillis();
    long old = now - 7_200_000;
    put(table, "r f:a@" + old + "=old f:b@" + (now - 60_000) + "=young");
    assertEquals("r f:b@" + (now - 60_000) + "=young", all(table));
    flushAndCompact(table, "r f:b@" + (now - 60_000) + "=young");
  }

  @Test
  void someVersionsAreKeptWhateverTheirAge() throws Exception {
    Table table = newTable(familyBuilder("f").setTimeToLive(3600).setMaxVersions(5).setMinVersions(2).build());
    long old = System.currentTimeMillis() - 7_200_000;
    put(table, "r f:a@" + old + "=1 f:a@" + (old + 1) + "=2 f:a@" + (old + 2) + "=3");
    String two = "r f:a@" + (old + 2) + "=3 f:a@" + (old + 1) + "=2";
    assertEquals(two, all(table));
    flushAndCompact(table, two);
  }

  @Test
  void cellsMayLiveShorter() throws Exception {
    Table table = newTable(familyBuilder("f").setMaxVersions(5).build());
    Put put = new Put(b("r")).addColumn(b("f"), b("a"), b("brief"));
    table.put(put.setTTL(1500));
    table.put(new Put(b("r")).addColumn(b("f"), b("b"), b("stays")).setTTL(3_600_000));
    table.put(new Put(b("r")).addColumn(b("f"), b("c"), b("no limit")));
    assertEquals("r f:a=brief f:b=stays f:c=no limit", Text.text(table.get(new Get(b("r")))));
    eventually("the cell's end", () -> !table.exists(new Get(b("r")).addColumn(b("f"), b("a"))));
    assertEquals("r f:b=stays f:c=no limit", Text.text(table.get(new Get(b("r")))));
    admin.flush(table.getName());
    assertEquals("r f:b=stays f:c=no limit", Text.text(table.get(new Get(b("r")))));
    table.append(new Append(b("r")).addColumn(b("f"), b("c"), b("!")).setTTL(1500));
    assertTrue(table.exists(new Get(b("r")).addColumn(b("f"), b("c"))));
    eventually("the newer cell's end",
        () -> Text.text(table.get(new Get(b("r")))).equals("r f:b=stays f:c=no limit"));
  }

  @Test
  void deletedCellsAreKeptWhenAsked() throws Exception {
    Table table = newTable(familyBuilder("f").setMaxVersions(3).setKeepDeletedCells(KeepDeletedCells.TRUE).build());
    put(table, "r f:a@10=1 f:a@20=2");
    table.delete(new Delete(b("r")).addColumns(b("f"), b("a"), 30));
    assertEquals("", all(table));
    assertEquals("r f:a@20=2 f:a@10=1", scanWithTimestamps(table, new Scan().setTimeRange(0, 25).readAllVersions()));
    assertEquals("r f:a@10=1", withTimestamps(table.get(new Get(b("r")).setTimeRange(0, 15))));
    assertEquals("", withTimestamps(table.get(new Get(b("r")).setTimeRange(0, 31))));
    String kept = "r f:a@30/DeleteColumn f:a@20=2 f:a@10=1";
    flushAndCompact(table, kept);
    assertEquals("r f:a@20=2 f:a@10=1", scanWithTimestamps(table, new Scan().setTimeRange(0, 25).readAllVersions()));
    put(table, "r f:a@40=4");
    assertEquals("r f:a@40=4", all(table));
  }

  @Test
  void withNewVersionBehaviorAPutAfterADeleteIsSeen() throws Exception {
    Table table = newTable(familyBuilder("f").setMaxVersions(2).setNewVersionBehavior(true).build());
    put(table, "r f:a@10=1");
    table.delete(new Delete(b("r")).addColumns(b("f"), b("a"), 20));
    assertEquals("", all(table));
    put(table, "r f:a@15=again");
    assertEquals("r f:a@15=again", all(table));
    admin.flush(table.getName());
    assertEquals("r f:a@15=again", all(table));
    // A version that was pushed out does not come back when a newer one is deleted.
    put(table, "r f:b@1=1");
    put(table, "r f:b@2=2");
    put(table, "r f:b@3=3");
    table.delete(new Delete(b("r")).addColumn(b("f"), b("b"), 3));
    assertEquals("r f:a@15=again f:b@2=2", all(table));
  }

  @Test
  void aPushedOutVersionMayComeBackWithoutIt() throws Exception {
    Table table = newTable(familyBuilder("f").setMaxVersions(2).build());
    put(table, "r f:b@1=1");
    put(table, "r f:b@2=2");
    put(table, "r f:b@3=3");
    table.delete(new Delete(b("r")).addColumn(b("f"), b("b"), 3));
    assertEquals("r f:b@2=2 f:b@1=1", all(table));
  }

  @Test
  void timestampsFarAwayAndNegative() throws Exception {
    Table table = newTable("f");
    put(table, "r f:a@0=zero f:b@9223372036854775806=last");
    assertEquals("r f:a@0=zero f:b@9223372036854775806=last", all(table));
    assertFails(IllegalArgumentException.class, () -> put(table, "r f:a@-1=x"));
    assertFalse(table.exists(new Get(b("r")).setTimeRange(1, 1000)));
  }
}
