package kit;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/** One line for each test at once, to the file kit.feed: outcome, milliseconds, name, and why it failed. */
public class Feed implements TestExecutionListener {
  private final Map<String, Long> started = new ConcurrentHashMap<>();
  private final PrintStream out;

  public Feed() throws IOException {
    String file = System.getProperty("kit.feed");
    out = file == null ? System.out : new PrintStream(new FileOutputStream(file), true);
  }

  @Override
  public void executionStarted(TestIdentifier id) {
    started.put(id.getUniqueId(), System.nanoTime());
    if (id.isTest()) out.println("START - " + name(id));
  }

  @Override
  public void executionSkipped(TestIdentifier id, String reason) {
    out.println("SKIP 0 " + name(id) + " " + line(reason));
  }

  @Override
  public void executionFinished(TestIdentifier id, TestExecutionResult result) {
    boolean pass = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
    if (!id.isTest() && pass) return;
    long ms = (System.nanoTime() - started.getOrDefault(id.getUniqueId(), System.nanoTime())) / 1_000_000;
    boolean abort = result.getStatus() == TestExecutionResult.Status.ABORTED;
    out.println((pass ? "PASS " : abort ? "SKIP " : "FAIL ") + ms + " " + name(id));
    result.getThrowable().ifPresent(t -> { if (!abort) t.printStackTrace(out); });
  }

  private static String name(TestIdentifier id) {
    String u = id.getUniqueId();
    int at = Math.max(u.lastIndexOf("[class:"), u.lastIndexOf("[runner:"));
    return line(at < 0 ? u : u.substring(at)) + " " + line(id.getDisplayName());
  }

  private static String line(String text) {
    return String.valueOf(text).replace('\n', ' ');
  }
}
