package kit;

import java.util.regex.Pattern;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.launcher.PostDiscoveryFilter;

/** Leaves out test methods: those that kit.skip matches, and those outside the part kit.part (such as 0/4). */
public class Pick implements PostDiscoveryFilter {
  private final Pattern skip = Pattern.compile(System.getProperty("kit.skip", "(?!)"));
  private final Pattern only = Pattern.compile(System.getProperty("kit.only", ""));
  private final String[] part = System.getProperty("kit.part", "0/1").split("/");

  @Override
  public FilterResult apply(TestDescriptor test) {
    String id = test.getUniqueId().toString();
    int at = Math.max(id.indexOf("[method:"), id.indexOf("[test-template:"));
    if (at < 0) return FilterResult.included("not a method");
    String name = id.substring(id.indexOf(':', at) + 1).replaceAll("\\(.*", "");
    int share = Math.floorMod(name.hashCode(), Integer.parseInt(part[1]));
    boolean in = share == Integer.parseInt(part[0]) && only.matcher(name).find() && !skip.matcher(name).find();
    return FilterResult.includedIf(in);
  }
}
