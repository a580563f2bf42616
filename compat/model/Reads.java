package martite.model;

import static martite.model.Step.bytes;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import martite.model.Step.Action;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.IsolationLevel;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.util.Bytes;

/** Random operations that read. */
final class Reads {
  private final Draw draw;

  Reads(Draw draw) {
    this.draw = draw;
  }

  Action any() {
    int kind = draw.below(10);
    if (kind < 4) {
      Get get = get(draw.row());
      return new Action("get " + text(get), false, side -> Show.result(side.table().get(get), draw.hourAgo));
    } else if (kind == 4) {
      List<Get> gets = new ArrayList<>();
      for (int i = draw.below(4); i >= 0; i--) {
        gets.add(get(draw.row()));
      }
      boolean exists = draw.oneIn(2);
      return new Action((exists ? "exist " : "gets ") + gets.stream().map(Reads::text).toList(), false, side -> exists ? Arrays.toString(side.table().exists(gets))
        : Show.results(Arrays.asList(side.table().get(gets)), draw.hourAgo));
    }
    Scan scan = scan();
    int rows = draw.oneIn(4) ? 1 + draw.below(4) : Integer.MAX_VALUE;
    return new Action("scan " + (rows < 5 ? rows + " of " : "") + scan + (scan.isReversed() ? " reversed" : "") + (scan.isRaw() ? " raw" : "")
      + (scan.getFilter() == null ? "" : " filter " + scan.getFilter()), false, side -> results(side, scan, rows));
  }

  private static String text(Get get) {
    return get + (get.getFilter() == null ? "" : " filter " + get.getFilter());
  }

  private String results(Side side, Scan scan, int rows) throws IOException {
    List<Result> results = new ArrayList<>();
    try (ResultScanner scanner = side.table().getScanner(new Scan(scan))) {
      while (results.size() < rows) {
        Result next = scanner.next();
        if (next == null) {
          break;
        }
        results.add(next);
      }
    }
    return Show.results(results, draw.hourAgo);
  }

  Get get(byte[] row) {
    try {
      Get get = new Get(row);
      for (int i = draw.below(4); i > 1; i--) {
        if (draw.oneIn(3)) {
          get.addFamily(draw.family());
        } else {
          get.addColumn(draw.family(), draw.qualifier());
        }
      }
      switch (draw.below(4)) {
        case 0 -> get.readAllVersions();
        case 1 -> get.readVersions(1 + draw.below(4));
        default -> { }
      }
      if (draw.oneIn(5)) {
        long from = draw.time();
        get.setTimeRange(from, draw.endOfRange(from + 1 + draw.below(8)));
      } else if (draw.oneIn(10)) {
        long time = draw.time();
        get.setTimeRange(time, draw.endOfRange(time + 1));
      }
      if (draw.oneIn(12)) {
        long from = draw.time();
        get.setColumnFamilyTimeRange(draw.family(), from, draw.endOfRange(from + 1 + draw.below(8)));
      }
      if (draw.oneIn(3)) {
        get.setFilter(new Filters(draw).any(get.hasFamilies(), 2));
      }
      if (draw.oneIn(6)) {
        get.setMaxResultsPerColumnFamily(1 + draw.below(4));
      }
      if (draw.oneIn(8)) {
        get.setRowOffsetPerColumnFamily(draw.below(3));
      }
      if (draw.oneIn(12)) {
        get.setCheckExistenceOnly(true);
      }
      return get;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private Scan scan() {
    try {
      Scan scan = new Scan();
      boolean reversed = draw.oneIn(3);
      scan.setReversed(reversed);
      range(scan, reversed);
      if (draw.oneIn(8)) {
        scan.setRaw(true);
      }
      if (!scan.isRaw() || draw.oneIn(10)) {
        for (int i = draw.below(4); i > 1; i--) {
          if (draw.oneIn(3)) {
            scan.addFamily(draw.family());
          } else {
            scan.addColumn(draw.family(), draw.qualifier());
          }
        }
      }
      switch (draw.below(4)) {
        case 0 -> scan.readAllVersions();
        case 1 -> scan.readVersions(1 + draw.below(4));
        default -> { }
      }
      if (draw.oneIn(5)) {
        long from = draw.time();
        scan.setTimeRange(from, draw.endOfRange(from + 1 + draw.below(8)));
      } else if (draw.oneIn(12)) {
        long time = draw.time();
        scan.setTimeRange(time, draw.endOfRange(time + 1));
      }
      if (draw.oneIn(12)) {
        long from = draw.time();
        scan.setColumnFamilyTimeRange(draw.family(), from, draw.endOfRange(from + 1 + draw.below(8)));
      }
      if (draw.oneIn(2)) {
        Filters filters = new Filters(draw, reversed);
        scan.setFilter(scan.isRaw() ? filters.notCounting() : filters.any(scan.hasFamilies(), 2));
      }
      // Of named columns HBase may show filters where the scan begins as a row; PrefixFilter fails at an empty one.
      if (scan.hasFilter() && scan.hasFamilies() && scan.getStartRow().length == 0 && !reversed) {
        scan.withStartRow(bytes("a"));
      }
      if (draw.oneIn(6) && (scan.getFilter() == null || !scan.getFilter().hasFilterRow())) {
        scan.setBatch(1 + draw.below(4));
      }
      sizes(scan);
      return scan;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private void range(Scan scan, boolean reversed) {
    byte[] first = draw.row();
    byte[] last = draw.row();
    if (Bytes.compareTo(first, last) > 0 != reversed) {
      byte[] other = first;
      first = last;
      last = other;
    }
    if (draw.oneIn(2)) {
      scan.withStartRow(first, !draw.oneIn(3));
    }
    if (draw.oneIn(3)) {
      scan.withStopRow(last, draw.oneIn(3));
    }
  }

  private void sizes(Scan scan) {
    if (draw.oneIn(3)) {
      scan.setCaching(1 + draw.below(5));
    }
    int limit = draw.oneIn(5) ? 1 + draw.below(5) : -1;
    // The client (BatchScanResultCache) counts a row of a batch scan twice when its last piece is not full, and takes one off for
    // each answer: with a limit the rows depend on where a server's answers end.
    if (limit > 0 && scan.getBatch() <= 0) {
      scan.setLimit(limit);
    }
    if (draw.oneIn(6)) {
      scan.setMaxResultSize(50L + draw.below(600));
    }
    if (draw.oneIn(6)) {
      scan.setMaxResultsPerColumnFamily(1 + draw.below(4));
    }
    if (draw.oneIn(8)) {
      scan.setRowOffsetPerColumnFamily(draw.below(3));
    }
    // HBase refuses to load families on demand while it scans backwards; Martite can.
    if (scan.isReversed()) {
      scan.setLoadColumnFamiliesOnDemand(false);
    } else if (draw.oneIn(6)) {
      scan.setLoadColumnFamiliesOnDemand(draw.oneIn(2));
    }
    if (draw.oneIn(6)) {
      scan.setReadType(draw.of(Scan.ReadType.values()));
    }
    if (draw.oneIn(8)) {
      scan.setIsolationLevel(IsolationLevel.READ_UNCOMMITTED);
    }
    if (draw.oneIn(8)) {
      scan.setCacheBlocks(false);
    }
  }
}
