package martite.model;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** One random operation; its seed says all about it. */
final class Step {
  static final String[] FAMILIES = { "f", "g" };
  static final String SPLIT = "bb";

  /** What is done with a server, and the answer as text. */
  interface Call {
    String on(Side side) throws IOException;
  }

  record Action(String text, boolean isWrite, Call call) {}

  private final Action action;

  Step(long seed, OptionSet options, long hourAgo) {
    Draw draw = new Draw(seed, options, hourAgo);
    int kind = draw.below(100);
    if (kind < 50) {
      action = new Writes(draw).any();
    } else if (kind < 92) {
      action = new Reads(draw).any();
    } else if (kind < 97) {
      action = new Action("flush", true, side -> {
        side.flush();
        return "flushed";
      });
    } else {
      boolean flush = draw.oneIn(2);
      action = new Action((flush ? "flush and " : "") + "major compact", true, side -> {
        if (flush) {
          side.flush();
        }
        side.compact();
        return "compacted";
      });
    }
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  String describe() {
    return action.text;
  }

  String run(Side side) {
    if (action.isWrite) {
      side.tick();
    }
    try {
      return action.call.on(side);
    } catch (IOException | RuntimeException e) {
      return Show.thrown(e);
    }
  }
}
