package martite.model;

import static martite.model.Step.bytes;

import java.util.Random;
import org.apache.hadoop.hbase.util.Bytes;

/** Random rows, columns, times and values: few of each, so that operations meet. */
final class Draw {
  private static final String[] ROWS = { "a", "aa", "ab", "abc", "ba", "bb", "bc", "c", "ca", "cb" };
  private static final String[] QUALIFIERS = { "", "a", "ab", "b", "ba", "c", "n", "n2" };

  final long hourAgo;
  private final Random random;
  private final OptionSet options;

  Draw(long seed, OptionSet options, long hourAgo) {
    this.random = new Random(seed);
    this.options = options;
    this.hourAgo = hourAgo;
  }

  int below(int bound) {
    return random.nextInt(bound);
  }

  /** True one time in {@code n}. */
  boolean oneIn(int n) {
    return random.nextInt(n) == 0;
  }

  @SafeVarargs
  final <T> T of(T... choices) {
    return choices[random.nextInt(choices.length)];
  }

  boolean isNewVersionBehavior() {
    return options.isNewVersionBehavior();
  }

  byte[] row() {
    return bytes(of(ROWS));
  }

  byte[] family() {
    return bytes(of(Step.FAMILIES));
  }

  byte[] qualifier() {
    String qualifier = of(QUALIFIERS);
    // HBase takes the empty qualifier for none with NEW_VERSION_BEHAVIOR: it counts no versions there, and some deletes end in a null
    // pointer for every reader of the row.
    return bytes(qualifier.isEmpty() && options.isNewVersionBehavior() ? "a" : qualifier);
  }

  /** Columns that mostly hold counters. */
  byte[] counter() {
    return oneIn(12) ? qualifier() : bytes(of("n", "n2"));
  }

  long time() {
    return options.recent() && random.nextBoolean() ? hourAgo + below(10) : below(13);
  }

  /**
   * With NEW_VERSION_BEHAVIOR versions after a time range count, too, and HBase sees those only that are in a file or memstore with
   * something in the range.
   */
  long endOfRange(long end) {
    return options.isNewVersionBehavior() ? Long.MAX_VALUE : end;
  }

  byte[] value() {
    if (oneIn(20)) {
      return new byte[0];
    }
    return bytes(oneIn(15) ? "long value ".repeat(1 + below(60)) : of("x", "y", "xy", "z1", "z2", "abc") + (oneIn(3) ? below(9) : ""));
  }

  byte[] valueFor(byte[] qualifier) {
    boolean isCounter = qualifier.length > 0 && qualifier[0] == 'n';
    return isCounter && !oneIn(20) ? Bytes.toBytes((long) below(100)) : value();
  }
}
