package martite.compat;

import static martite.compat.Text.b;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.RetriesExhaustedException;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.ipc.RemoteException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** What every test has: the shared connection, tables of its own, and assertions on what the server throws. */
public abstract class CompatTest {
  private static final AtomicInteger COUNT = new AtomicInteger();
  private static final String RUN = Long.toString(System.currentTimeMillis(), 36);

  protected final Connection connection = Server.connection();
  protected Admin admin;
  private final List<TableName> tables = new ArrayList<>();
  private final List<AutoCloseable> open = new ArrayList<>();

  @BeforeEach
  void openAdmin() throws IOException {
    admin = connection.getAdmin();
  }

  @AfterEach
  void dropTables() throws Exception {
    for (AutoCloseable one : open) {
      one.close();
    }
    for (TableName name : tables) {
      if (admin.tableExists(name)) {
        if (admin.isTableEnabled(name)) {
          admin.disableTable(name);
        }
        admin.deleteTable(name);
      }
    }
    admin.close();
  }

  /** A name that no other test has; the table is dropped after the test. */
  protected TableName newName() {
    return newName("");
  }

  protected TableName newName(String namespace) {
    String name = getClass().getSimpleName() + "_" + RUN + "_" + COUNT.incrementAndGet();
    TableName table = namespace.isEmpty() ? TableName.valueOf(name) : TableName.valueOf(namespace, name);
    tables.add(table);
    return table;
  }

  protected static ColumnFamilyDescriptor family(String name) {
    return ColumnFamilyDescriptorBuilder.of(name);
  }

  /** A builder of a family; the test sets what it is about. */
  protected static ColumnFamilyDescriptorBuilder familyBuilder(String name) {
    return ColumnFamilyDescriptorBuilder.newBuilder(b(name));
  }

  protected static TableDescriptorBuilder descriptor(TableName name, String... families) {
    TableDescriptorBuilder builder = TableDescriptorBuilder.newBuilder(name);
    for (String family : families) {
      builder.setColumnFamily(family(family));
    }
    return builder;
  }

  /** A new table with these families, one region. */
  protected Table newTable(String... families) throws IOException {
    TableName name = newName();
    admin.createTable(descriptor(name, families).build());
    return open(name);
  }

  protected Table newTable(ColumnFamilyDescriptor... families) throws IOException {
    TableDescriptorBuilder builder = TableDescriptorBuilder.newBuilder(newName());
    for (ColumnFamilyDescriptor family : families) {
      builder.setColumnFamily(family);
    }
    admin.createTable(builder.build());
    return open(builder.build().getTableName());
  }

  /** A new table with family {@code f}, split at these keys. */
  protected Table newSplitTable(String... splits) throws IOException {
    TableName name = newName();
    byte[][] keys = new byte[splits.length][];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = b(splits[i]);
    }
    admin.createTable(descriptor(name, "f").build(), keys);
    return open(name);
  }

  protected Table open(TableName name) throws IOException {
    Table table = connection.getTable(name);
    open.add(table);
    return table;
  }

  protected interface Action {
    void run() throws Exception;
  }

  /** The action fails with this exception, alone or inside of what the client wraps around it. */
  protected static <T extends Throwable> T assertFails(Class<T> wanted, Action action) {
    try {
      action.run();
    } catch (Throwable thrown) {
      T found = find(wanted, thrown);
      if (found != null) {
        return found;
      }
      throw new AssertionError("expected " + wanted.getName() + ", got " + thrown, thrown);
    }
    return fail("expected " + wanted.getName() + ", nothing was thrown");
  }

  protected static <T extends Throwable> T assertFails(Class<T> wanted, String inMessage, Action action) {
    T found = assertFails(wanted, action);
    assertTrue(found.getMessage().contains(inMessage), () -> "no \"" + inMessage + "\" in: " + found.getMessage());
    return found;
  }

  private static <T extends Throwable> T find(Class<T> wanted, Throwable thrown) {
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      if (t instanceof RemoteException) {
        t = ((RemoteException) t).unwrapRemoteException();
      }
      if (wanted.isInstance(t)) {
        return wanted.cast(t);
      }
      if (t instanceof org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException) {
        for (Throwable cause : ((org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException) t).getCauses()) {
          T found = cause == t ? null : find(wanted, cause);
          if (found != null) {
            return found;
          }
        }
      } else if (t instanceof RetriesExhaustedException && t.getCause() == null) {
        return null;
      }
    }
    return null;
  }

  /** Waits for what the server does on its own; fails after 60 s. */
  protected static void eventually(String what, java.util.concurrent.Callable<Boolean> condition) throws Exception {
    long until = System.nanoTime() + 60_000_000_000L;
    while (!condition.call()) {
      assertTrue(System.nanoTime() < until, () -> "did not happen within 60 s: " + what);
      Thread.sleep(50);
    }
  }
}
