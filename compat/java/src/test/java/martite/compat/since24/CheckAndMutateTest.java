package martite.compat.since24;

import static martite.compat.Text.b;
import static martite.compat.Text.put;
import static martite.compat.Text.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import martite.compat.CompatTest;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.CheckAndMutateResult;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.Filter;
import org.apache.hadoop.hbase.filter.FilterList;
import org.apache.hadoop.hbase.filter.SingleColumnValueFilter;
import org.apache.hadoop.hbase.filter.SkipFilter;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.Test;

/** CheckAndMutate of clients since 2.4: conditions by filter, results of what was done, several at once. */
class CheckAndMutateTest extends CompatTest {
  private static CheckAndMutate.Builder on(String row) {
    return CheckAndMutate.newBuilder(b(row));
  }

  private static Put put(String row, String qualifier, String value) {
    return new Put(b(row)).addColumn(b("f"), b(qualifier), b(value));
  }

  private static SingleColumnValueFilter column(String qualifier, String value) {
    SingleColumnValueFilter filter =
        new SingleColumnValueFilter(b("f"), b(qualifier), CompareOperator.EQUAL, b(value));
    filter.setFilterIfMissing(true);
    return filter;
  }

  @Test
  void conditionsByFilter() throws Exception {
    Table table = newTable("f");
    martite.compat.Text.put(table, "r f:a=1 f:b=2");
    FilterList both = new FilterList(column("a", "1"), column("b", "2"));
    assertTrue(table.checkAndMutate(on("r").ifMatches(both).build(put("r", "mark", "x"))).isSuccess());
    FilterList wrong = new FilterList(column("a", "1"), column("b", "3"));
    assertFalse(table.checkAndMutate(on("r").ifMatches(wrong).build(put("r", "mark", "y"))).isSuccess());
    assertFalse(table.checkAndMutate(on("none").ifMatches(both).build(put("none", "mark", "y"))).isSuccess());
    assertEquals("r f:a=1 f:b=2 f:mark=x", text(table.get(new Get(b("r")))));
  }

  @Test
  void aConditionReadsAllFamiliesForItsFilter() throws Exception {
    Table table = newTable("f", "g");
    martite.compat.Text.put(table, "r g:x=1");
    Filter skip = new SkipFilter(column("a", "1"));
    assertEquals("", text(table.get(new Get(b("r")).setFilter(skip))));
    assertTrue(table.checkAndMutate(on("r").ifMatches(skip).build(put("r", "mark", "x"))).isSuccess());
    assertFalse(table.checkAndMutate(on("r").ifMatches(column("a", "1")).build(put("r", "mark", "y"))).isSuccess());
  }

  @Test
  void countersAndAppendsOnACondition() throws Exception {
    Table table = newTable("f");
    martite.compat.Text.put(table, "r f:a=1");
    CheckAndMutateResult counted = table.checkAndMutate(
        on("r").ifEquals(b("f"), b("a"), b("1")).build(new Increment(b("r")).addColumn(b("f"), b("n"), 5)));
    assertTrue(counted.isSuccess());
    assertEquals(5, Bytes.toLong(counted.getResult().getValue(b("f"), b("n"))));
    CheckAndMutateResult appended = table.checkAndMutate(
        on("r").ifEquals(b("f"), b("a"), b("1")).build(new Append(b("r")).addColumn(b("f"), b("s"), b("x"))));
    assertTrue(appended.isSuccess());
    assertEquals("r f:s=x", text(appended.getResult()));
    CheckAndMutateResult refused = table.checkAndMutate(
        on("r").ifEquals(b("f"), b("a"), b("2")).build(new Append(b("r")).addColumn(b("f"), b("s"), b("x"))));
    assertFalse(refused.isSuccess());
    assertNull(refused.getResult());
  }

  @Test
  void severalMutationsOfAllKinds() throws Exception {
    Table table = newTable("f");
    martite.compat.Text.put(table, "r f:a=1 f:gone=1");
    RowMutations change = new RowMutations(b("r"));
    change.add(put("r", "b", "2"));
    change.add(new Delete(b("r")).addColumns(b("f"), b("gone")));
    change.add(new Increment(b("r")).addColumn(b("f"), b("n"), 3));
    change.add(new Append(b("r")).addColumn(b("f"), b("s"), b("y")));
    CheckAndMutateResult done = table.checkAndMutate(on("r").ifEquals(b("f"), b("a"), b("1")).build(change));
    assertTrue(done.isSuccess());
    assertEquals(3, Bytes.toLong(done.getResult().getValue(b("f"), b("n"))));
    assertEquals("y", Bytes.toString(done.getResult().getValue(b("f"), b("s"))));
    Result row = table.get(new Get(b("r")));
    assertEquals("r f:a=1 f:b=2 f:n=\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x03 f:s=y", text(row));
  }

  @Test
  void mutateRowReturnsWhatItCounted() throws Exception {
    Table table = newTable("f");
    RowMutations change = new RowMutations(b("r"));
    change.add(put("r", "b", "2"));
    change.add(new Increment(b("r")).addColumn(b("f"), b("n"), 3));
    Result result = table.mutateRow(change);
    assertEquals(3, Bytes.toLong(result.getValue(b("f"), b("n"))));
  }

  @Test
  void severalConditionsInOneCall() throws Exception {
    Table table = newSplitTable("m");
    martite.compat.Text.put(table, "a f:x=1 | b f:x=2 | z f:x=3");
    List<CheckAndMutateResult> results = table.checkAndMutate(List.of(
        on("a").ifEquals(b("f"), b("x"), b("1")).build(put("a", "x", "10")),
        on("b").ifEquals(b("f"), b("x"), b("1")).build(put("b", "x", "20")),
        on("z").ifNotExists(b("f"), b("y")).build(put("z", "y", "30"))));
    assertEquals(List.of(true, false, true), results.stream().map(CheckAndMutateResult::isSuccess).toList());
    assertEquals("a f:x=10 | b f:x=2 | z f:x=3 f:y=30",
        martite.compat.Text.scan(table, new org.apache.hadoop.hbase.client.Scan()));
  }

  @Test
  void conditionsInABatch() throws Exception {
    Table table = newTable("f");
    martite.compat.Text.put(table, "a f:x=1");
    List<Row> batch = List.of(
        on("a").ifEquals(b("f"), b("x"), b("1")).build(put("a", "y", "2")),
        put("b", "x", "1"),
        on("a").ifEquals(b("f"), b("x"), b("7")).build(put("a", "y", "3")),
        new Get(b("a")));
    Object[] results = new Object[batch.size()];
    table.batch(batch, results);
    assertTrue(assertInstanceOf(CheckAndMutateResult.class, results[0]).isSuccess());
    assertFalse(assertInstanceOf(CheckAndMutateResult.class, results[2]).isSuccess());
    assertEquals("a f:x=1 f:y=2", text(table.get(new Get(b("a")))));
  }
}
