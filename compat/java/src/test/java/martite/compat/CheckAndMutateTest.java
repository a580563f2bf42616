package martite.compat;

import static martite.compat.Text.b;
import static martite.compat.Text.put;
import static martite.compat.Text.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.io.TimeRange;
import org.junit.jupiter.api.Test;

/** Changes on a condition, as clients of all versions ask for them. */
@SuppressWarnings("deprecation")
class CheckAndMutateTest extends CompatTest {
  private static Table.CheckAndMutateBuilder on(Table table, String qualifier) {
    return table.checkAndMutate(b("r"), b("f")).qualifier(b(qualifier));
  }

  private static Put mark(String value) {
    return new Put(b("r")).addColumn(b("f"), b("mark"), b(value));
  }

  private static String all(Table table) throws Exception {
    return text(table.get(new Get(b("r"))));
  }

  @Test
  void equalOrNot() throws Exception {
    Table table = newTable("f");
    put(table, "r f:a=1");
    assertTrue(on(table, "a").ifEquals(b("1")).thenPut(mark("x")));
    assertFalse(on(table, "a").ifEquals(b("2")).thenPut(mark("y")));
    assertEquals("r f:a=1 f:mark=x", all(table));
    assertFalse(on(table, "a").ifEquals(b("2")).thenDelete(new Delete(b("r"))));
    assertTrue(on(table, "a").ifEquals(b("1")).thenDelete(new Delete(b("r"))));
    assertEquals("", all(table));
  }

  @Test
  void thereOrNot() throws Exception {
    Table table = newTable("f");
    assertTrue(on(table, "a").ifNotExists().thenPut(new Put(b("r")).addColumn(b("f"), b("a"), b("1"))));
    assertFalse(on(table, "a").ifNotExists().thenPut(mark("x")));
    assertFalse(on(table, "missing").ifEquals(b("1")).thenPut(mark("y")));
    assertFalse(on(table, "missing").ifMatches(CompareOperator.NOT_EQUAL, b("1")).thenPut(mark("z")));
    // An empty value counts as absent.
    put(table, "r f:empty=");
    assertTrue(on(table, "empty").ifNotExists().thenPut(mark("absent")));
    assertEquals("r f:a=1 f:empty= f:mark=absent", all(table));
  }

  @Test
  void theGivenValueStandsOnTheLeft() throws Exception {
    Table table = newTable("f");
    put(table, "r f:a=5");
    // operator, whether "4 OP 5", "5 OP 5", "6 OP 5" holds
    Object[][] cases = {
      {CompareOperator.LESS, true, false, false},
      {CompareOperator.LESS_OR_EQUAL, true, true, false},
      {CompareOperator.EQUAL, false, true, false},
      {CompareOperator.NOT_EQUAL, true, false, true},
      {CompareOperator.GREATER_OR_EQUAL, false, true, true},
      {CompareOperator.GREATER, false, false, true},
    };
    for (Object[] c : cases) {
      for (int i = 0; i < 3; i++) {
        byte[] given = b(Integer.toString(4 + i));
        boolean done = on(table, "a").ifMatches((CompareOperator) c[0], given).thenPut(mark("x"));
        assertEquals(c[i + 1], done, (4 + i) + " " + c[0] + " 5");
      }
    }
  }

  @Test
  void severalMutationsAllOrNothing() throws Exception {
    Table table = newTable("f");
    put(table, "r f:a=1 f:b=2");
    RowMutations change = new RowMutations(b("r"));
    change.add(new Put(b("r")).addColumn(b("f"), b("c"), b("3")));
    change.add(new Delete(b("r")).addColumns(b("f"), b("b")));
    assertFalse(on(table, "a").ifEquals(b("9")).thenMutate(change));
    assertEquals("r f:a=1 f:b=2", all(table));
    assertTrue(on(table, "a").ifEquals(b("1")).thenMutate(change));
    assertEquals("r f:a=1 f:c=3", all(table));
  }

  @Test
  void onlyATimeRangeIsLookedAt() throws Exception {
    Table table = newTable(familyBuilder("f").setMaxVersions(5).build());
    put(table, "r f:a@10=old f:a@20=new");
    assertFalse(on(table, "a").timeRange(TimeRange.between(0, 15)).ifEquals(b("new")).thenPut(mark("x")));
    assertTrue(on(table, "a").timeRange(TimeRange.between(0, 15)).ifEquals(b("old")).thenPut(mark("x")));
    assertTrue(on(table, "a").timeRange(TimeRange.between(0, 5)).ifNotExists().thenPut(mark("x")));
  }

  @Test
  void onlyOneOfManyWins() throws Exception {
    Table table = newTable("f");
    int threads = 8;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      for (int round = 0; round < 10; round++) {
        String qualifier = "q" + round;
        List<Callable<Boolean>> work = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
          Put put = new Put(b("r")).addColumn(b("f"), b(qualifier), b("t" + t));
          work.add(() -> on(table, qualifier).ifNotExists().thenPut(put));
        }
        int winners = 0;
        for (Future<Boolean> future : pool.invokeAll(work)) {
          winners += future.get() ? 1 : 0;
        }
        assertEquals(1, winners);
      }
    } finally {
      pool.shutdown();
    }
  }
}
