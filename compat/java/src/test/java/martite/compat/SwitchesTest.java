package martite.compat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The cluster's switches, which are one for all; each is left as it was found. */
class SwitchesTest extends CompatTest {
  private interface Switch {
    boolean set(boolean on) throws Exception;
  }

  private interface State {
    boolean get() throws Exception;
  }

  private static void check(String name, Switch set, State get) throws Exception {
    boolean before = get.get();
    assertEquals(before, set.set(false), name + " answers what it was");
    assertFalse(get.get(), name);
    assertFalse(set.set(true), name);
    assertTrue(get.get(), name);
    set.set(before);
  }

  @Test
  void eachTellsItsOldState() throws Exception {
    check("balancer", on -> admin.balancerSwitch(on, true), admin::isBalancerEnabled);
    check("normalizer", admin::normalizerSwitch, admin::isNormalizerEnabled);
    check("catalog janitor", admin::catalogJanitorSwitch, admin::isCatalogJanitorEnabled);
    check("cleaner chore", admin::cleanerChoreSwitch, admin::isCleanerChoreEnabled);
  }

  @Test
  void choresRunWhenAsked() throws Exception {
    assertTrue(admin.runCatalogJanitor() >= 0);
    admin.runCleanerChore();
    admin.normalize();
    admin.balance();
    assertNotNull(admin.getClusterMetrics().getMasterName());
  }
}
