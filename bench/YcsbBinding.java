import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.FilterList;
import org.apache.hadoop.hbase.filter.PageFilter;
import org.apache.hadoop.hbase.util.Bytes;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.measurements.Measurements;

/**
 * Stock YCSB's way to HBase's own client, for Maven Central has YCSB's core but not its bindings. It asks what YCSB's binding hbase2 asks by
 * default: a row a record, a column a field, each Put sent at once, scans with a PageFilter; one connection for all threads.
 */
public class YcsbBinding extends DB {
  private static Connection connection;
  private static int users;

  private Table table;
  private byte[] family;
  private Durability durability;

  @Override
  public void init() throws DBException {
    String name = getProperties().getProperty("columnfamily");
    if (name == null) {
      throw new DBException("the property columnfamily is missing");
    }
    family = Bytes.toBytes(name);
    durability = Durability.valueOf(getProperties().getProperty("durability", "USE_DEFAULT"));
    try {
      synchronized (YcsbBinding.class) {
        if (users++ == 0) {
          connection = ConnectionFactory.createConnection(HBaseConfiguration.create());
        }
        table = connection.getTable(TableName.valueOf(getProperties().getProperty("table", "usertable")));
      }
    } catch (IOException e) {
      throw new DBException(e);
    }
  }

  /** Measured, as YCSB's binding does beside YCSB itself. */
  @Override
  public void cleanup() throws DBException {
    try {
      long began = System.nanoTime();
      table.close();
      Measurements.getMeasurements().measure("CLEANUP", (int) ((System.nanoTime() - began) / 1000));
      synchronized (YcsbBinding.class) {
        if (--users == 0) {
          connection.close();
        }
      }
    } catch (IOException e) {
      throw new DBException(e);
    }
  }

  private static void values(Result row, Map<String, ByteIterator> into) {
    for (Cell cell : row.rawCells()) {
      into.put(Bytes.toString(CellUtil.cloneQualifier(cell)), new ByteArrayByteIterator(CellUtil.cloneValue(cell)));
    }
  }

  private static Status failed(IOException e) {
    System.err.println(e);
    return Status.ERROR;
  }

  @Override
  public Status read(String name, String key, Set<String> fields, Map<String, ByteIterator> result) {
    Get get = new Get(Bytes.toBytes(key));
    if (fields == null) {
      get.addFamily(family);
    } else {
      fields.forEach(field -> get.addColumn(family, Bytes.toBytes(field)));
    }
    try {
      Result row = table.get(get);
      values(row, result);
      return row.isEmpty() ? Status.NOT_FOUND : Status.OK;
    } catch (IOException e) {
      return failed(e);
    }
  }

  @Override
  public Status scan(String name, String key, int records, Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    Scan scan = new Scan().withStartRow(Bytes.toBytes(key)).setCaching(records);
    scan.setFilter(new FilterList(new PageFilter(records)));
    if (fields == null) {
      scan.addFamily(family);
    } else {
      fields.forEach(field -> scan.addColumn(family, Bytes.toBytes(field)));
    }
    try (var scanner = table.getScanner(scan)) {
      // A PageFilter counts for each region anew.
      for (Result row = scanner.next(); row != null; row = scanner.next()) {
        var record = new HashMap<String, ByteIterator>();
        values(row, record);
        result.add(record);
        if (result.size() >= records) {
          break;
        }
      }
      return Status.OK;
    } catch (IOException e) {
      return failed(e);
    }
  }

  @Override
  public Status update(String name, String key, Map<String, ByteIterator> values) {
    Put put = new Put(Bytes.toBytes(key)).setDurability(durability);
    values.forEach((field, value) -> put.addColumn(family, Bytes.toBytes(field), value.toArray()));
    try {
      table.put(put);
      return Status.OK;
    } catch (IOException e) {
      return failed(e);
    }
  }

  @Override
  public Status insert(String name, String key, Map<String, ByteIterator> values) {
    return update(name, key, values);
  }

  @Override
  public Status delete(String name, String key) {
    return Status.NOT_IMPLEMENTED;
  }
}
