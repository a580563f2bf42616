package martite.model;

import static martite.model.Step.bytes;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.filter.BinaryComparator;
import org.apache.hadoop.hbase.filter.BinaryComponentComparator;
import org.apache.hadoop.hbase.filter.BinaryPrefixComparator;
import org.apache.hadoop.hbase.filter.BitComparator;
import org.apache.hadoop.hbase.filter.ByteArrayComparable;
import org.apache.hadoop.hbase.filter.ColumnCountGetFilter;
import org.apache.hadoop.hbase.filter.ColumnPaginationFilter;
import org.apache.hadoop.hbase.filter.ColumnPrefixFilter;
import org.apache.hadoop.hbase.filter.ColumnRangeFilter;
import org.apache.hadoop.hbase.filter.ColumnValueFilter;
import org.apache.hadoop.hbase.filter.DependentColumnFilter;
import org.apache.hadoop.hbase.filter.FamilyFilter;
import org.apache.hadoop.hbase.filter.Filter;
import org.apache.hadoop.hbase.filter.FilterList;
import org.apache.hadoop.hbase.filter.FirstKeyOnlyFilter;
import org.apache.hadoop.hbase.filter.FuzzyRowFilter;
import org.apache.hadoop.hbase.filter.InclusiveStopFilter;
import org.apache.hadoop.hbase.filter.KeyOnlyFilter;
import org.apache.hadoop.hbase.filter.MultiRowRangeFilter;
import org.apache.hadoop.hbase.filter.MultiRowRangeFilter.RowRange;
import org.apache.hadoop.hbase.filter.MultipleColumnPrefixFilter;
import org.apache.hadoop.hbase.filter.NullComparator;
import org.apache.hadoop.hbase.filter.PageFilter;
import org.apache.hadoop.hbase.filter.PrefixFilter;
import org.apache.hadoop.hbase.filter.QualifierFilter;
import org.apache.hadoop.hbase.filter.RegexStringComparator;
import org.apache.hadoop.hbase.filter.RowFilter;
import org.apache.hadoop.hbase.filter.SingleColumnValueExcludeFilter;
import org.apache.hadoop.hbase.filter.SingleColumnValueFilter;
import org.apache.hadoop.hbase.filter.SkipFilter;
import org.apache.hadoop.hbase.filter.SubstringComparator;
import org.apache.hadoop.hbase.filter.TimestampsFilter;
import org.apache.hadoop.hbase.filter.ValueFilter;
import org.apache.hadoop.hbase.filter.WhileMatchFilter;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Pair;

/**
 * Random filters, all that HBase ships but the one that throws dice. Of a value that is not eight bytes long LongComparator reads beyond
 * the end, or throws, depending on where HBase has the cell: it is left out, too.
 */
final class Filters {
  private final Draw draw;
  private final boolean isReversed;

  Filters(Draw draw) {
    this(draw, false);
  }

  /** @param isReversed for a scan backwards */
  Filters(Draw draw, boolean isReversed) {
    this.draw = draw;
    this.isReversed = isReversed;
  }

  /** For raw scans: HBase 2.6.4 shows filters more of what has no qualifier than later ones do, which those that count notice. */
  Filter notCounting() {
    while (true) {
      Filter filter = any(0);
      if (!(filter instanceof ColumnCountGetFilter) && !(filter instanceof ColumnPaginationFilter)) {
        return filter;
      }
    }
  }

  /**
   * A filter that answers "and the next column" is shown older versions of the column by HBase, if the column is named and of a family
   * with NEW_VERSION_BEHAVIOR: its tracker is not told (NewVersionBehaviorTracker has no doneWithColumn). Those that count return
   * other cells then.
   */
  Filter any(boolean ofNamedColumns, int depth) {
    return ofNamedColumns && draw.isNewVersionBehavior() ? notCounting() : any(depth);
  }

  /** @param depth how many filters may stand in each other */
  Filter any(int depth) {
    int kind = draw.below(depth > 0 ? 29 : 23);
    return switch (kind) {
      // Of a row that is shorter than the prefix HBase 2.6.4 reads beyond the end.
      case 0 -> new PrefixFilter(bytes(draw.of("a", "b", "c")));
      // Of what is shorter than its component HBase's comparator reads beyond the end; a row has one byte at least.
      case 1 -> new RowFilter(operator(), draw.oneIn(6) ? new BinaryComponentComparator(bytes(draw.of("a", "b")), 0)
        : comparator(bytes(draw.of("a", "ab", "bb", "c"))));
      case 2 -> new FamilyFilter(operator(), new BinaryComparator(draw.family()));
      case 3 -> new QualifierFilter(operator(), comparator(draw.qualifier()));
      case 4 -> new ValueFilter(operator(), comparator(draw.value()));
      case 5, 6 -> single(false);
      case 7 -> single(true);
      case 8 -> new ColumnPrefixFilter(bytes(draw.of("a", "b", "n")));
      case 9 -> new MultipleColumnPrefixFilter(new byte[][] { bytes(draw.of("a", "ab")), bytes(draw.of("b", "n")) });
      case 10 -> range();
      case 11 -> new ColumnCountGetFilter(1 + draw.below(4));
      case 12 -> draw.oneIn(2) ? new ColumnPaginationFilter(1 + draw.below(3), draw.below(3))
        : new ColumnPaginationFilter(1 + draw.below(3), draw.qualifier());
      case 13 -> new PageFilter(1 + draw.below(4));
      case 14 -> new FirstKeyOnlyFilter();
      case 15 -> new KeyOnlyFilter(draw.oneIn(2));
      case 16 -> new InclusiveStopFilter(draw.row());
      case 17 -> new TimestampsFilter(List.of(draw.time(), draw.time(), draw.time()), draw.oneIn(2));
      // Backwards HBase 2.6.4 may seek from a row to the same row for ever.
      case 18 -> isReversed ? new InclusiveStopFilter(draw.row()) : new FuzzyRowFilter(fuzzy());
      // In a list HBase's filter may be asked about a cell before it was asked about the row, and has no answer then.
      case 19 -> depth > 1 ? ranges() : new PrefixFilter(bytes("a"));
      case 20 -> new ColumnValueFilter(draw.family(), draw.qualifier(), comparison(draw), draw.value());
      case 21 -> dependent();
      case 22 -> new QualifierFilter(operator(), new RegexStringComparator(draw.of("^a", "b$", "[bc]", "n\\d?")));
      case 23, 24 -> new SkipFilter(any(depth - 1));
      case 25 -> new WhileMatchFilter(any(depth - 1));
      default -> {
        List<Filter> filters = new ArrayList<>();
        for (int i = draw.below(3); i >= 0; i--) {
          filters.add(any(depth - 1));
        }
        yield new FilterList(draw.of(FilterList.Operator.values()), filters);
      }
    };
  }

  private CompareOperator operator() {
    return draw.oneIn(8) ? CompareOperator.NO_OP : comparison(draw);
  }

  /** For those that end in an error of HBase's with NO_OP. */
  static CompareOperator comparison(Draw draw) {
    return draw.of(CompareOperator.EQUAL, CompareOperator.EQUAL, CompareOperator.NOT_EQUAL, CompareOperator.LESS,
      CompareOperator.LESS_OR_EQUAL, CompareOperator.GREATER, CompareOperator.GREATER_OR_EQUAL);
  }

  private ByteArrayComparable comparator(byte[] with) {
    return switch (draw.below(7)) {
      case 0 -> new BinaryPrefixComparator(with);
      case 1 -> new SubstringComparator(Bytes.toString(with));
      case 2 -> new RegexStringComparator(draw.of("^x", "y.*", "[abz]", "1$"));
      case 3 -> new BitComparator(with, draw.of(BitComparator.BitwiseOp.values()));
      case 4 -> new NullComparator();
      default -> new BinaryComparator(with);
    };
  }

  private Filter single(boolean exclude) {
    byte[] family = draw.family();
    byte[] qualifier = draw.qualifier();
    ByteArrayComparable comparator = comparator(draw.valueFor(qualifier));
    SingleColumnValueFilter filter = exclude
      ? new SingleColumnValueExcludeFilter(family, qualifier, comparison(draw), comparator)
      : new SingleColumnValueFilter(family, qualifier, comparison(draw), comparator);
    filter.setFilterIfMissing(draw.oneIn(2));
    filter.setLatestVersionOnly(!draw.oneIn(3));
    return filter;
  }

  private Filter range() {
    byte[] first = draw.qualifier();
    byte[] last = draw.qualifier();
    boolean swap = Bytes.compareTo(first, last) > 0;
    return new ColumnRangeFilter(swap ? last : first, draw.oneIn(2), swap ? first : last, draw.oneIn(2));
  }

  private List<Pair<byte[], byte[]>> fuzzy() {
    List<Pair<byte[], byte[]>> fuzzy = new ArrayList<>();
    for (int i = draw.below(2); i >= 0; i--) {
      byte[] key = bytes(draw.of("ab", "ba", "cb", "a", "abc"));
      byte[] mask = new byte[key.length];
      for (int at = 0; at < mask.length; at++) {
        mask[at] = (byte) draw.below(2);
      }
      fuzzy.add(new Pair<>(key, mask));
    }
    return fuzzy;
  }

  private Filter ranges() {
    List<RowRange> ranges = new ArrayList<>();
    for (int i = draw.below(2); i >= 0; i--) {
      byte[] first = draw.row();
      byte[] last = draw.row();
      boolean swap = Bytes.compareTo(first, last) > 0;
      ranges.add(new RowRange(swap ? last : first, true, swap ? first : last, true));
    }
    return new MultiRowRangeFilter(ranges);
  }

  private Filter dependent() {
    return draw.oneIn(2) ? new DependentColumnFilter(draw.family(), draw.qualifier(), draw.oneIn(2))
      : new DependentColumnFilter(draw.family(), draw.qualifier(), draw.oneIn(2), operator(),
        new BinaryComparator(draw.value()));
  }
}
