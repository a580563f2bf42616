package martite.model;

import static martite.model.Step.bytes;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;
import martite.model.Step.Action;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.io.TimeRange;
import org.apache.hadoop.hbase.util.Bytes;

/** Random operations that write. */
final class Writes {
  private static final long YEARS_MS = 100L * 365 * 24 * 3600 * 1000;

  private final Draw draw;

  Writes(Draw draw) {
    this.draw = draw;
  }

  Action any() {
    byte[] row = draw.row();
    int kind = draw.below(100);
    if (kind < 36) {
      Put put = put(row);
      return new Action(text(put), true, side -> {
        side.table().put(put);
        return "ok";
      });
    } else if (kind < 58) {
      Delete delete = delete(row);
      return new Action(text(delete), true, side -> {
        side.table().delete(delete);
        return "ok";
      });
    } else if (kind < 66) {
      Increment increment = increment(row);
      return new Action(text(increment), true,
        side -> Show.result(side.table().increment(increment), draw.hourAgo));
    } else if (kind < 72) {
      Append append = append(row);
      return new Action(text(append), true, side -> Show.result(side.table().append(append), draw.hourAgo));
    } else if (kind < 80) {
      RowMutations mutations = rowMutations(row);
      return new Action(text(mutations), true,
        side -> Show.result(side.table().mutateRow(mutations), draw.hourAgo));
    } else if (kind < 92) {
      CheckAndMutate check = check(row);
      return new Action("check " + check.getCompareOp() + " " + Bytes.toString(check.getFamily()) + ":"
        + Bytes.toString(check.getQualifier()) + " " + Bytes.toStringBinary(check.getValue()) + " " + check.getFilter() + " "
        + check.getTimeRange() + " then " + text(check.getAction()), true,
        side -> Show.any(side.table().checkAndMutate(check), draw.hourAgo));
    }
    List<Row> batch = batch();
    return new Action("batch " + batch.stream().map(Writes::text).toList(), true, side -> batch(side, batch));
  }

  private static String text(Row row) {
    if (row instanceof RowMutations mutations) {
      return "row mutations " + mutations.getMutations().stream().map(Writes::text).toList();
    }
    if (row instanceof Mutation mutation) {
      StringJoiner text = new StringJoiner(" ", row.getClass().getSimpleName() + "(", ")");
      if (mutation.isEmpty()) {
        text.add(Bytes.toString(row.getRow()) + " at " + mutation.getTimestamp());
      }
      mutation.getFamilyCellMap().values().forEach(cells -> cells.forEach(cell -> text.add(Show.cell(cell, Long.MAX_VALUE))));
      return text + (mutation.getTTL() == Long.MAX_VALUE ? "" : " ttl " + mutation.getTTL());
    }
    return row.toString();
  }

  private String batch(Side side, List<Row> batch) throws IOException {
    Object[] answers = new Object[batch.size()];
    String thrown = "";
    try {
      side.table().batch(batch, answers);
    } catch (IOException e) {
      thrown = "thrown ";
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    StringJoiner text = new StringJoiner(", ", thrown, "");
    for (Object answer : answers) {
      text.add(Show.any(answer, draw.hourAgo));
    }
    return text.toString();
  }

  /** The server's time once a row: whether one batch takes the same millisecond twice is chance. */
  private List<Row> batch() {
    List<Row> batch = new ArrayList<>();
    Set<String> written = new HashSet<>();
    for (int i = draw.below(6); i >= 0; i--) {
      byte[] row = batch.isEmpty() || !draw.oneIn(3) ? draw.row() : batch.get(draw.below(batch.size())).getRow();
      if (written.contains(Bytes.toString(row))) {
        batch.add(switch (draw.below(4)) {
          case 0 -> delete(row, false);
          case 1 -> put(row, false);
          default -> new Reads(draw).get(row);
        });
        continue;
      }
      batch.add(switch (draw.below(7)) {
        case 0 -> delete(row, draw.oneIn(4));
        case 1 -> increment(row);
        case 2 -> append(row);
        case 3 -> rowMutations(row);
        case 4 -> new Reads(draw).get(row);
        default -> put(row, draw.oneIn(7));
      });
      if (!(batch.get(batch.size() - 1) instanceof Get)) {
        written.add(Bytes.toString(row));
      }
    }
    return batch;
  }

  private Put put(byte[] row) {
    return put(row, draw.oneIn(7));
  }

  /** @param now at the server's time */
  private Put put(byte[] row, boolean now) {
    Put put = new Put(row);
    for (int i = draw.below(4); i >= 0; i--) {
      byte[] qualifier = draw.qualifier();
      put.addColumn(draw.family(), qualifier, now ? Long.MAX_VALUE : draw.time(), draw.valueFor(qualifier));
    }
    if (draw.oneIn(8)) {
      // Long over, or far from it: nothing expires while the test runs.
      put.setTTL(!now && draw.oneIn(4) ? 1000 : YEARS_MS);
    }
    return put;
  }

  private Delete delete(byte[] row) {
    return delete(row, draw.oneIn(4));
  }

  /** @param now at the server's time */
  private Delete delete(byte[] row, boolean now) {
    if (draw.oneIn(8)) {
      return now ? new Delete(row) : new Delete(row, draw.time());
    }
    Delete delete = new Delete(row);
    for (int i = draw.below(2); i >= 0; i--) {
      byte[] family = draw.family();
      byte[] qualifier = draw.qualifier();
      switch (draw.below(4)) {
        case 0 -> {
          if (now) {
            delete.addColumn(family, qualifier);
          } else {
            delete.addColumn(family, qualifier, draw.time());
          }
        }
        case 1 -> {
          if (now) {
            delete.addColumns(family, qualifier);
          } else {
            delete.addColumns(family, qualifier, draw.time());
          }
        }
        case 2 -> {
          if (now) {
            delete.addFamily(family);
          } else {
            delete.addFamily(family, draw.time());
          }
        }
        default -> delete.addFamilyVersion(family, draw.time());
      }
    }
    return delete;
  }

  private Increment increment(byte[] row) {
    Increment increment = new Increment(row);
    for (int i = draw.below(2); i >= 0; i--) {
      increment.addColumn(draw.family(), draw.counter(), draw.below(7) - 2);
    }
    if (draw.oneIn(8)) {
      try {
        increment.setTimeRange(draw.below(5), draw.endOfRange(5 + draw.below(10)));
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }
    if (draw.oneIn(8)) {
      increment.setReturnResults(false);
    }
    if (draw.oneIn(8)) {
      increment.setTTL(YEARS_MS);
    }
    return increment;
  }

  private Append append(byte[] row) {
    Append append = new Append(row);
    for (int i = draw.below(2); i >= 0; i--) {
      append.addColumn(draw.family(), bytes(draw.of("a", "ab", "b", "ba")), bytes(draw.of("+", "++", "-")));
    }
    if (draw.oneIn(8)) {
      append.setTimeRange(draw.below(5), draw.endOfRange(5 + draw.below(10)));
    }
    if (draw.oneIn(8)) {
      append.setReturnResults(false);
    }
    if (draw.oneIn(8)) {
      append.setTTL(YEARS_MS);
    }
    return append;
  }

  private RowMutations rowMutations(byte[] row) {
    List<Mutation> mutations = new ArrayList<>();
    for (int i = draw.below(3); i >= 0; i--) {
      mutations.add(switch (draw.below(6)) {
        case 0, 1 -> delete(row);
        case 2 -> draw.oneIn(2) ? increment(row) : append(row);
        default -> put(row);
      });
    }
    try {
      return RowMutations.of(mutations);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private CheckAndMutate check(byte[] row) {
    CheckAndMutate.Builder builder = CheckAndMutate.newBuilder(row);
    byte[] qualifier = draw.qualifier();
    switch (draw.below(4)) {
      case 0 -> builder.ifNotExists(draw.family(), qualifier);
      case 1 -> builder.ifEquals(draw.family(), qualifier, draw.valueFor(qualifier));
      case 2 -> builder.ifMatches(draw.family(), qualifier, Filters.comparison(draw), draw.valueFor(qualifier));
      default -> builder.ifMatches(new Filters(draw).any(1));
    }
    if (draw.oneIn(5)) {
      int from = draw.below(5);
      builder.timeRange(TimeRange.between(from, draw.endOfRange(from + 1 + draw.below(9))));
    }
    return switch (draw.below(5)) {
      case 0 -> builder.build(delete(row));
      case 1 -> builder.build(increment(row));
      case 2 -> builder.build(append(row));
      case 3 -> builder.build(rowMutations(row));
      default -> builder.build(put(row));
    };
  }
}
