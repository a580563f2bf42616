package martite.compat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/** Rows and cells as text: {@code r1 f:a=1 f:b@7=2 | r2 f:a=3} are two rows; {@code @7} is a timestamp. */
public final class Text {
  private Text() {}

  public static byte[] b(String s) {
    return Bytes.toBytesBinary(s);
  }

  public static List<Put> puts(String rows) {
    List<Put> puts = new ArrayList<>();
    for (String row : rows.split("\\|")) {
      String[] words = row.trim().split(" ");
      Put put = new Put(b(words[0]));
      for (String word : Arrays.asList(words).subList(1, words.length)) {
        int equals = word.indexOf('=');
        String column = word.substring(0, equals);
        byte[] value = b(word.substring(equals + 1));
        int at = column.indexOf('@');
        String name = at < 0 ? column : column.substring(0, at);
        int colon = name.indexOf(':');
        byte[] family = b(name.substring(0, colon));
        byte[] qualifier = b(name.substring(colon + 1));
        if (at < 0) {
          put.addColumn(family, qualifier, value);
        } else {
          put.addColumn(family, qualifier, Long.parseLong(column.substring(at + 1)), value);
        }
      }
      puts.add(put);
    }
    return puts;
  }

  public static void put(Table table, String rows) throws IOException {
    table.put(puts(rows));
  }

  /** The cells of one result, without timestamps; empty for an empty result. */
  public static String text(Result result) {
    return text(result, false);
  }

  public static String withTimestamps(Result result) {
    return text(result, true);
  }

  private static String text(Result result, boolean timestamps) {
    if (result.isEmpty()) {
      return "";
    }
    StringBuilder out = new StringBuilder(Bytes.toStringBinary(result.getRow()));
    for (Cell cell : result.rawCells()) {
      out.append(' ').append(column(cell));
      if (timestamps) {
        out.append('@').append(cell.getTimestamp());
      }
      if (cell.getType() != Cell.Type.Put) {
        out.append('/').append(cell.getType());
      } else {
        out.append('=').append(Bytes.toStringBinary(CellUtil.cloneValue(cell)));
      }
    }
    return out.toString();
  }

  private static String column(Cell cell) {
    return Bytes.toString(CellUtil.cloneFamily(cell)) + ":" + Bytes.toStringBinary(CellUtil.cloneQualifier(cell));
  }

  public static String text(Iterable<Result> results) {
    List<String> rows = new ArrayList<>();
    results.forEach(result -> rows.add(text(result, false)));
    return String.join(" | ", rows);
  }

  public static String withTimestamps(Iterable<Result> results) {
    List<String> rows = new ArrayList<>();
    results.forEach(result -> rows.add(text(result, true)));
    return String.join(" | ", rows);
  }

  public static String scan(Table table, Scan scan) throws IOException {
    try (ResultScanner scanner = table.getScanner(scan)) {
      return text(scanner);
    }
  }

  public static String scanWithTimestamps(Table table, Scan scan) throws IOException {
    try (ResultScanner scanner = table.getScanner(scan)) {
      return withTimestamps(scanner);
    }
  }

  /** The rows' keys, in order, separated by blanks. */
  public static String rows(Iterable<Result> results) {
    List<String> rows = new ArrayList<>();
    results.forEach(result -> rows.add(Bytes.toStringBinary(result.getRow())));
    return String.join(" ", rows);
  }

  public static String rows(Table table, Scan scan) throws IOException {
    try (ResultScanner scanner = table.getScanner(scan)) {
      return rows(scanner);
    }
  }
}
