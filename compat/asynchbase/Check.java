// asynchbase against a server that is up. The table (its family is "f") must exist: asynchbase cannot create one.
//   mvn -q dependency:copy-dependencies -DoutputDirectory=target/lib
//   java -cp 'target/lib/*' Check.java QUORUM TABLE
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.hbase.async.AppendRequest;
import org.hbase.async.AtomicIncrementRequest;
import org.hbase.async.DeleteRequest;
import org.hbase.async.GetRequest;
import org.hbase.async.HBaseClient;
import org.hbase.async.KeyValue;
import org.hbase.async.PutRequest;
import org.hbase.async.Scanner;

public class Check {
  private static final int ROWS = 1000;

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static void equal(Object expected, Object found, String what) {
    if (!expected.equals(found)) {
      throw new AssertionError(what + ": expected " + expected + ", found " + found);
    }
    System.out.println("ok " + what + " = " + found);
  }

  private static String value(HBaseClient client, byte[] table, String row) throws Exception {
    List<KeyValue> cells = client.get(new GetRequest(table, bytes(row), bytes("f"), bytes("q"))).join(10_000);
    return cells.isEmpty() ? "none" : new String(cells.get(0).value(), StandardCharsets.UTF_8);
  }

  private static List<String> rows(HBaseClient client, byte[] table, String start, String stop) throws Exception {
    Scanner scanner = client.newScanner(table);
    scanner.setStartKey(bytes(start));
    scanner.setStopKey(bytes(stop));
    scanner.setMaxNumRows(64);
    List<String> found = new ArrayList<>();
    for (var batch = scanner.nextRows().join(10_000); batch != null; batch = scanner.nextRows().join(10_000)) {
      batch.forEach(row -> found.add(new String(row.get(0).key(), StandardCharsets.UTF_8)));
    }
    return found;
  }

  public static void main(String[] args) throws Exception {
    byte[] table = bytes(args[1]);
    HBaseClient client = new HBaseClient(args[0]);
    try {
      client.ensureTableFamilyExists(args[1], "f").join(10_000);
      client.put(new PutRequest(table, bytes("one"), bytes("f"), bytes("q"), bytes("hello"))).join(10_000);
      equal("hello", value(client, table, "one"), "get");
      equal("none", value(client, table, "absent"), "get of an absent row");
      client.append(new AppendRequest(table, bytes("one"), bytes("f"), bytes("q"), bytes(" world"))).join(10_000);
      equal("hello world", value(client, table, "one"), "append");

      client.delete(new DeleteRequest(table, bytes("counter"))).join(10_000);
      for (long expected : new long[] {41, 82}) {
        var increment = new AtomicIncrementRequest(table, bytes("counter"), bytes("f"), bytes("q"), 41);
        equal(expected, client.atomicIncrement(increment).join(10_000), "increment");
      }

      var replaced = new PutRequest(table, bytes("one"), bytes("f"), bytes("q"), bytes("new"));
      equal(false, client.compareAndSet(replaced, bytes("other")).join(10_000), "compareAndSet, other value");
      equal(true, client.compareAndSet(replaced, bytes("hello world")).join(10_000), "compareAndSet, same value");

      // Puts in flight at once travel as one multi.
      for (int i = 0; i < ROWS; i++) {
        byte[] row = bytes("row-%04d".formatted(i));
        client.put(new PutRequest(table, row, bytes("f"), bytes("q"), bytes("value " + i)));
      }
      client.flush().join(10_000);
      equal(ROWS, rows(client, table, "row-", "row.").size(), "rows scanned");
      equal(List.of("row-0008", "row-0009"), rows(client, table, "row-0008", "row-0010"), "rows of a range");

      // One that ends with its first answer is closed all the same.
      Scanner all = client.newScanner(table);
      equal(true, all.nextRows(2 * ROWS).join(10_000).size() > ROWS, "a scan that ends at once");
      all.close().join(10_000);

      client.delete(new DeleteRequest(table, bytes("one"))).join(10_000);
      equal("none", value(client, table, "one"), "get after delete");
    } finally {
      client.shutdown().join(10_000);
    }
  }
}
