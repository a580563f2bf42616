package martite.compat;

import static martite.compat.Text.put;
import static martite.compat.Text.rows;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.NamespaceExistException;
import org.apache.hadoop.hbase.NamespaceNotFoundException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Scan;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Namespaces and the tables in them. */
class NamespaceTest extends CompatTest {
  private final String name = "ns_" + Long.toString(System.nanoTime(), 36);

  /** Before the tables are dropped by the class above, so it drops those of the namespace itself. */
  @AfterEach
  void dropNamespace() throws Exception {
    for (NamespaceDescriptor namespace : admin.listNamespaceDescriptors()) {
      if (namespace.getName().equals(name)) {
        for (TableName table : admin.listTableNamesByNamespace(name)) {
          if (admin.isTableEnabled(table)) {
            admin.disableTable(table);
          }
          admin.deleteTable(table);
        }
        admin.deleteNamespace(name);
      }
    }
  }

  private List<String> names() throws Exception {
    return Arrays.stream(admin.listNamespaceDescriptors()).map(NamespaceDescriptor::getName).collect(Collectors.toList());
  }

  @Test
  void createdDescribedModifiedAndDeleted() throws Exception {
    assertTrue(names().containsAll(List.of("default", "hbase")));
    admin.createNamespace(NamespaceDescriptor.create(name).addConfiguration("owner", "someone").build());
    assertTrue(names().contains(name));
    assertEquals("someone", admin.getNamespaceDescriptor(name).getConfigurationValue("owner"));
    admin.modifyNamespace(NamespaceDescriptor.create(name).addConfiguration("purpose", "test").build());
    assertEquals("test", admin.getNamespaceDescriptor(name).getConfigurationValue("purpose"));
    assertNull(admin.getNamespaceDescriptor(name).getConfigurationValue("owner"));
    admin.deleteNamespace(name);
    assertFalse(names().contains(name));
    assertFails(NamespaceNotFoundException.class, () -> admin.getNamespaceDescriptor(name));
  }

  @Test
  void tablesInTwoNamespacesMayHaveTheSameName() throws Exception {
    admin.createNamespace(NamespaceDescriptor.create(name).build());
    TableName inside = newName(name);
    TableName outside = TableName.valueOf(inside.getQualifierAsString());
    admin.createTable(descriptor(inside, "f").build());
    admin.createTable(descriptor(outside, "f").build());
    try {
      put(open(inside), "in f:a=1");
      put(open(outside), "out f:a=1");
      assertEquals("in", rows(open(inside), new Scan()));
      assertEquals("out", rows(open(outside), new Scan()));
      assertEquals(List.of(inside), List.of(admin.listTableNamesByNamespace(name)));
      assertEquals(inside, admin.listTableDescriptorsByNamespace(Text.b(name)).get(0).getTableName());
    } finally {
      admin.disableTable(outside);
      admin.deleteTable(outside);
    }
  }

  @Test
  void whatIsRefused() throws Exception {
    admin.createNamespace(NamespaceDescriptor.create(name).build());
    assertFails(NamespaceExistException.class, () -> admin.createNamespace(NamespaceDescriptor.create(name).build()));
    String missing = name + "_missing";
    assertFails(NamespaceNotFoundException.class, () -> admin.deleteNamespace(missing));
    assertFails(NamespaceNotFoundException.class,
        () -> admin.modifyNamespace(NamespaceDescriptor.create(missing).build()));
    admin.createTable(descriptor(newName(name), "f").build());
    // The client has no class for it, so it shows the name.
    assertFails(IOException.class, "ConstraintException", () -> admin.deleteNamespace(name));
    assertFails(IOException.class, "ConstraintException", () -> admin.deleteNamespace("default"));
    assertFails(IOException.class, "ConstraintException", () -> admin.deleteNamespace("hbase"));
  }
}
