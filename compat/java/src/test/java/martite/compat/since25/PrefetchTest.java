package martite.compat.since25;

import static martite.compat.Text.put;
import static martite.compat.Text.rows;
import static org.junit.jupiter.api.Assertions.assertEquals;

import martite.compat.CompatTest;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.junit.jupiter.api.Test;

/** Scans that read ahead on a thread of the client; older clients start it before they are ready. */
class PrefetchTest extends CompatTest {
  @Test
  void readingAheadDoesNotChangeTheAnswer() throws Exception {
    Table table = newSplitTable("h", "q");
    put(table, "a f:x=1 | b f:x=1 | g f:x=1 | h f:x=1 | m f:x=1 | p f:x=1 | q f:x=1 | z f:x=1");
    for (int caching : new int[] {1, 3, 100}) {
      Scan scan = new Scan().setAsyncPrefetch(true).setCaching(caching);
      assertEquals("a b g h m p q z", rows(table, scan), "caching " + caching);
    }
  }
}
