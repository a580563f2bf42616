package martite.model;

import java.util.Collection;
import java.util.List;
import java.util.StringJoiner;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.client.CheckAndMutateResult;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.ipc.RemoteException;

/** Answers as text. */
final class Show {
  /** Times from this on are the server's own. */
  private static final long HOUR_MS = 3_600_000;

  private Show() {}

  static String cell(Cell cell, long hourAgo) {
    long ts = cell.getTimestamp();
    String time = ts - hourAgo > HOUR_MS / 2 ? "now" : ts >= hourAgo ? "recent+" + (ts - hourAgo) : Long.toString(ts);
    byte[] value = CellUtil.cloneValue(cell);
    return Bytes.toStringBinary(CellUtil.cloneRow(cell)) + "/" + Bytes.toString(CellUtil.cloneFamily(cell)) + ":"
      + Bytes.toString(CellUtil.cloneQualifier(cell)) + "/" + time + "/" + cell.getType() + "="
      + (value.length > 40 ? value.length + "#" + Bytes.hashCode(value) : Bytes.toStringBinary(value));
  }

  static String result(Result result, long hourAgo) {
    if (result == null) {
      return "null";
    }
    if (result.getExists() != null) {
      return "exists " + result.getExists();
    }
    StringJoiner text = new StringJoiner(" ", "[", "]");
    for (Cell cell : result.rawCells()) {
      text.add(cell(cell, hourAgo));
    }
    return text.toString();
  }

  /** Results one by one: where each ends is part of the answer. */
  static String results(Collection<Result> results, long hourAgo) {
    StringJoiner text = new StringJoiner(" ");
    for (Result result : results) {
      text.add(result(result, hourAgo));
    }
    return text.toString();
  }

  /** The cells alone. */
  static String cells(List<Result> results, long hourAgo) {
    StringJoiner text = new StringJoiner(" ");
    for (Result result : results) {
      for (Cell cell : result.rawCells()) {
        text.add(cell(cell, hourAgo));
      }
    }
    return text.toString();
  }

  static String any(Object answer, long hourAgo) {
    if (answer instanceof Result result) {
      return result(result, hourAgo);
    }
    if (answer instanceof CheckAndMutateResult checked) {
      return checked.isSuccess() + " " + result(checked.getResult(), hourAgo);
    }
    if (answer instanceof Throwable thrown) {
      return thrown(thrown);
    }
    return String.valueOf(answer);
  }

  /** The class of what the server threw. */
  static String thrown(Throwable thrown) {
    Throwable at = thrown;
    while (true) {
      if (at instanceof RetriesExhaustedWithDetailsException details && details.getNumExceptions() > 0) {
        at = details.getCause(0);
      } else if (at instanceof RemoteException remote) {
        return remote.getClassName();
      } else if (at.getCause() != null && at.getCause() != at) {
        at = at.getCause();
      } else {
        return at.getClass().getName();
      }
    }
  }
}
