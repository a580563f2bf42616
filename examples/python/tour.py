"""A table from its creation to its end, with happybase through HBase's Thrift gateway: tour.py [THRIFT_PORT]"""

import sys

import happybase

connection = happybase.Connection("localhost", port=int(sys.argv[1]) if len(sys.argv) > 1 else 9090)
connection.create_table("tour_python", {"f": {}})
table = connection.table("tour_python")
with table.batch() as batch:
    for city in ("Kiruna", "Lima", "Luanda"):
        batch.put(city.encode(), {b"f:letters": str(len(city)).encode()})
print("get  ", table.row(b"Lima"))
print("count", table.counter_inc(b"Lima", b"f:visits", 2))
for row, cells in table.scan(row_prefix=b"L"):
    print("scan ", row, cells)
for row, cells in table.scan(filter="ValueFilter(=, 'binary:6')"):
    print("six  ", row, cells)
connection.delete_table("tour_python", disable=True)
print("end  ", connection.tables())
