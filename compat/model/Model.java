package martite.model;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The same random operations through HBase's client against two servers: every answer, and at the end every cell, must be the same.
 *
 * <pre>
 *   Model --left QUORUM:PORT --right QUORUM:PORT [--seed FIRST] [--seeds N] [--steps N] [--set NAME] [--shrink]
 * </pre>
 *
 * <p>A seed chooses an option set (in turn, or the one that is named) and a list of steps. Each step is a seed of its own, so that a
 * shorter list is still the same steps. On a difference the seed, the option set and the shortest failing prefix are printed; with
 * {@code --shrink} steps that are not needed for it are left out.
 *
 * <p>What depends on the clock is kept out: written times are either explicit or shown as "now", no step that takes the server's time
 * begins in the same millisecond as the one before, and no automatic compaction is started (see {@link OptionSet}).
 */
public final class Model {
  private final Side left;
  private final Side right;
  private final long hourAgo = (System.currentTimeMillis() - 3_600_000) / 1000 * 1000;
  private int tables;

  private Model(Side left, Side right) {
    this.left = left;
    this.right = right;
  }

  /** Where two servers part: after this many steps, and what each said. */
  private record Difference(int steps, String left, String right) {}

  public static void main(String[] args) throws Exception {
    String leftZk = null;
    String rightZk = null;
    String set = null;
    long first = 1;
    int seeds = 2 * OptionSet.all().size();
    int steps = 150;
    boolean shrink = false;
    for (int i = 0; i < args.length; i++) {
      switch (args[i]) {
        case "--left" -> leftZk = args[++i];
        case "--right" -> rightZk = args[++i];
        case "--seed" -> first = Long.parseLong(args[++i]);
        case "--seeds" -> seeds = Integer.parseInt(args[++i]);
        case "--steps" -> steps = Integer.parseInt(args[++i]);
        case "--set" -> set = args[++i];
        case "--shrink" -> shrink = true;
        default -> throw new IllegalArgumentException(args[i]);
      }
    }
    int different = 0;
    try (Side left = new Side(leftZk); Side right = new Side(rightZk)) {
      Model model = new Model(left, right);
      for (long seed = first; seed < first + seeds; seed++) {
        OptionSet options = OptionSet.of(set, seed);
        different += model.seed(seed, options, steps, shrink) ? 0 : 1;
      }
    }
    System.out.printf("%d seeds of %d steps: %s%n", seeds, steps,
      different == 0 ? "both servers agree" : different + " seeds differ");
    System.exit(different == 0 ? 0 : 1);
  }

  private boolean seed(long seed, OptionSet options, int count, boolean shrink) throws IOException {
    Random random = new Random(seed);
    List<Long> steps = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      steps.add(random.nextLong());
    }
    Difference difference = run(options, steps, false);
    if (difference == null) {
      System.out.printf("seed %d, option set %s: the same%n", seed, options);
      return true;
    }
    System.out.printf("seed %d, option set %s: after %d of %d steps%n", seed, options, difference.steps, count);
    List<Long> prefix = new ArrayList<>(steps.subList(0, difference.steps));
    // An answer may tell late what was wrong before.
    Difference early = run(options, prefix, true);
    if (early != null) {
      prefix = new ArrayList<>(prefix.subList(0, early.steps));
      difference = early;
    }
    if (shrink) {
      for (int piece = Math.max(1, prefix.size() / 2); piece >= 1; piece /= 2) {
        for (int at = prefix.size() - piece; at >= 0; at -= piece) {
          List<Long> shorter = new ArrayList<>(prefix);
          shorter.subList(at, Math.min(at + piece, shorter.size())).clear();
          Difference still = run(options, shorter, true);
          if (still != null) {
            prefix = new ArrayList<>(shorter.subList(0, still.steps));
            difference = still;
            at = Math.min(at, prefix.size());
          }
        }
      }
    }
    for (long step : prefix) {
      System.out.println("  " + new Step(step, options, hourAgo).describe());
    }
    System.out.println("  left:  " + but(difference.left, difference.right) + "\n  right: " + but(difference.right, difference.left));
    return false;
  }

  /** A short answer whole; of a long one the cells that the other has not. */
  private static String but(String answer, String other) {
    if (answer.length() < 500) {
      return answer;
    }
    List<String> rest = new ArrayList<>(List.of(answer.split(" ")));
    List.of(other.split(" ")).forEach(rest::remove);
    return rest + " of " + answer.length() + " bytes";
  }

  /** The steps on new tables. With {@code look} all cells are compared after each step, else at the end. */
  private Difference run(OptionSet options, List<Long> steps, boolean look) throws IOException {
    String table = "model_" + Long.toString(hourAgo, 36) + "_" + tables++;
    left.create(table, options);
    right.create(table, options);
    try {
      for (int i = 0; i < steps.size(); i++) {
        Step one = new Step(steps.get(i), options, hourAgo);
        String a = one.run(left);
        String b = new Step(steps.get(i), options, hourAgo).run(right);
        if (!a.equals(b)) {
          return new Difference(i + 1, a, b);
        }
        if (look || i + 1 == steps.size()) {
          for (boolean raw : new boolean[] { false, true }) {
            a = left.everything(raw, hourAgo);
            b = right.everything(raw, hourAgo);
            if (!a.equals(b)) {
              return new Difference(i + 1, (raw ? "raw: " : "all: ") + a, (raw ? "raw: " : "all: ") + b);
            }
          }
        }
      }
      return null;
    } finally {
      left.drop();
      right.drop();
    }
  }
}
