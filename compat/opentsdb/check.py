#!/usr/bin/env python3
"""OpenTSDB on Martite, end to end.

    compat/opentsdb/check.py BINARY [PORT] [--points N] [--keep]

Starts the server BINARY (Martite) and a TSD in temporary folders on free ports
(PORT, if given, is the TSD's), creates OpenTSDB's tables, writes points over
HTTP and telnet, compares queries with a model of its own, kills and restarts
the server under load, splits and compacts the table under load, and says what
it checked. Needs Java and Maven (pom.xml beside this file) and Python 3.
"""
import argparse
import concurrent.futures as futures
import http.client
import json
import math
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DAY = 1793491200  # 2026-11-01 00:00 UTC
DAY -= DAY % 86400
TABLES = """
create '{p}tsdb-uid', {{NAME => 'id', {o}}}, {{NAME => 'name', {o}}}
create '{p}tsdb', {{NAME => 't', VERSIONS => 1, TTL => 'FOREVER', {o}}}
create '{p}tsdb-tree', {{NAME => 't', VERSIONS => 1, {o}}}
create '{p}tsdb-meta', {{NAME => 'name', {o}}}
"""
SETTINGS = {
    "tsd.core.auto_create_metrics": "true",
    "tsd.http.request.enable_chunked": "true",
    "tsd.http.request.max_chunk": str(64 << 20),
    "tsd.http.query.allow_delete": "true",
    "tsd.storage.fix_duplicates": "true",
}


class Failed(Exception):
    pass


def need(condition, *what):
    if not condition:
        raise Failed(" ".join(str(w) for w in what))


def until(seconds, what, probe, pause=0.05):
    """Polls `probe` until it gives something true."""
    end = time.monotonic() + seconds
    last = None
    while time.monotonic() < end:
        try:
            got = probe()
            if got:
                return got
        except (OSError, http.client.HTTPException, Failed) as e:
            last = e
        time.sleep(pause)
    raise Failed(f"not within {seconds} s: {what} ({last})")


def free_ports(n):
    held = [socket.socket() for _ in range(n)]
    for s in held:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


def close(a, b):
    if isinstance(b, float) and math.isnan(b):
        return isinstance(a, str) or a is None or math.isnan(a)
    return abs(a - b) <= 1e-6 * max(1.0, abs(a), abs(b))


class Server:
    """Martite as a child process."""

    def __init__(self, binary, folder, memory="512m", extra=()):
        self.binary, self.folder = binary, folder
        self.zk, self.master, self.rs = free_ports(3)
        self.memory, self.extra, self.process = memory, list(extra), None
        self.log = os.path.join(folder, "server.log")

    def start(self):
        out = os.path.join(self.folder, "server.out")
        open(out, "w").close()
        self.process = subprocess.Popen(
            [self.binary, "start", "--data", os.path.join(self.folder, "data"), "--zookeeper-port", str(self.zk),
             "--master-port", str(self.master), "--regionserver-port", str(self.rs), "--memory", self.memory] + self.extra,
            stdout=open(out, "w"), stderr=open(self.log, "a"), stdin=subprocess.DEVNULL)

        def ready():
            need(self.process.poll() is None, "the server ended", self.process.returncode)
            return open(out).read().startswith("ready")
        started = time.monotonic()
        until(30, "the server's ready line", ready)
        return time.monotonic() - started

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        need(self.process.wait(timeout=60) == 0, "an orderly stop ended with", self.process.returncode)

    def shell(self, script):
        p = subprocess.run([self.binary, "shell", "--zk", f"localhost:{self.zk}", "-n"], input=script, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        need(p.returncode == 0 and "ERROR" not in p.stdout, "the shell said:", p.stdout)
        return p.stdout

    def memory_mb(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            for line in f:
                if line.startswith("VmHWM"):
                    return int(line.split()[1]) // 1024


class Tsd:
    """One TSD: a JVM, its HTTP and telnet port."""

    def __init__(self, jars, zk, folder, name, prefix="", port=None, settings=(), heap="768m"):
        self.name, self.port = name, port or free_ports(1)[0]
        self.home = os.path.join(folder, "tsd-" + name)
        self.log = os.path.join(self.home, "log")
        for sub in ("static", "cache"):
            os.makedirs(os.path.join(self.home, sub), exist_ok=True)
        self.quorum = f"localhost:{zk}"
        conf = dict(SETTINGS)
        for kind in ("data", "uid", "tree", "meta"):
            table = "tsdb" if kind == "data" else "tsdb-" + kind
            conf[f"tsd.storage.hbase.{kind}_table"] = prefix + table
        conf["tsd.storage.hbase.zk_quorum"] = self.quorum
        conf.update(settings)
        self.conf = os.path.join(self.home, "opentsdb.conf")
        with open(self.conf, "w") as f:
            f.writelines(f"{k} = {v}\n" for k, v in sorted(conf.items()))
        with open(os.path.join(self.home, "logback.xml"), "w") as f:
            f.write("<configuration><appender name='S' class='ch.qos.logback.core.ConsoleAppender'><encoder><pattern>"
                    "%d %-5level [%thread] %logger{0}: %msg%n</pattern></encoder></appender>"
                    "<logger name='net.opentsdb.tsd.HttpQuery' level='WARN'/><logger name='net.opentsdb.tsd.ConnectionManager' level='WARN'/><logger name='QueryLog' level='OFF'/><root level='info'><appender-ref ref='S'/></root></configuration>")
        # Assertions are on as in OpenTSDB's own script.
        self.java = ["java", "-Xmx" + heap, "-enableassertions", "-enablesystemassertions", "-cp", self.home + ":" + jars]
        self.process = None
        self.local = threading.local()

    def start(self):
        self.process = subprocess.Popen(
            self.java + ["net.opentsdb.tools.TSDMain", "--config=" + self.conf, "--zkquorum=" + self.quorum,
                         "--port=" + str(self.port), "--staticroot=" + os.path.join(self.home, "static"),
                         "--cachedir=" + os.path.join(self.home, "cache"), "--auto-metric"],
            stdout=open(self.log, "a"), stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)

        def up():
            need(self.process.poll() is None, "the TSD ended", self.process.returncode, "see", self.log)
            return "timestamp" in self.get("/api/version")
        until(60, "the TSD's version", up, 0.2)

    def stop(self, seconds=60):
        self.process.terminate()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failed(f"TSD {self.name} did not end within {seconds} s of SIGTERM")

    def tool(self, tool, *args, ok=True, seconds=200):
        p = subprocess.run(self.java + ["net.opentsdb.tools." + tool, *args], text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=seconds)
        need(not ok or p.returncode == 0, tool, *args, "gave", p.returncode, p.stdout[-3000:])
        return p.stdout

    def request(self, method, path, body=None, timeout=20):
        connection = getattr(self.local, "http", None)
        if connection is None:
            connection = self.local.http = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            data = None if body is None else json.dumps(body).encode()
            connection.request(method, path, data, {"Content-Type": "application/json"} if data else {})
            answer = connection.getresponse()
            raw = answer.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            self.local.http = None
            raise
        return answer.status, (json.loads(raw) if raw[:1] in (b"{", b"[") else raw.decode())

    def get(self, path):
        status, body = self.request("GET", path)
        need(status == 200, "GET", path, status, str(body)[:1500])
        return body

    def post(self, path, body, want=(200, 204)):
        status, answer = self.request("POST", path, body)
        need(status in want, "POST", path, json.dumps(body)[:600], "gave", status, str(answer)[:1500])
        return answer

    def put(self, points, how="sync&details"):
        got = self.post("/api/put?" + how, points)
        if "details" in how:
            need(got["success"] == len(points) and got["failed"] == 0, "put:", str(got)[:1500])

    def query(self, start, end, *subs, ms=False, want=(200,), **more):
        return self.post("/api/query", dict({"start": start, "end": end, "queries": list(subs), "msResolution": ms}, **more), want)


def point(metric, tags, ts, value):
    return {"metric": metric, "timestamp": ts, "value": value, "tags": dict(tags)}


class Model:
    """What was written: series -> timestamp -> value."""

    def __init__(self):
        self.series = {}

    def put(self, points):
        for p in points:
            key = (p["metric"], tuple(sorted(p["tags"].items())))
            self.series.setdefault(key, {})[p["timestamp"]] = p["value"]

    AGG = {
        "sum": sum, "zimsum": sum, "min": min, "mimmin": min, "max": max, "mimmax": max, "count": len,
        "avg": lambda v: sum(v) / len(v),
        "dev": lambda v: math.sqrt(sum((x - sum(v) / len(v)) ** 2 for x in v) / len(v)) if len(v) > 1 else 0.0,
        "first": lambda v: v[0], "last": lambda v: v[-1], "median": lambda v: sorted(v)[len(v) // 2],
        "squareSum": lambda v: sum(x * x for x in v), "multiply": math.prod, "diff": lambda v: v[-1] - v[0] if len(v) > 1 else 0,
    }
    LERP = {"sum", "avg", "min", "max", "dev", "median"}

    def answer(self, metric, start, end, agg, group=(), keep=lambda t: True, down=None, rate=False):
        groups = {}
        for (m, tags), points in self.series.items():
            t = dict(tags)
            if m != metric or not keep(t):
                continue
            at = sorted(x for x in points if start <= x <= end)
            values = [(x, points[x]) for x in at]
            if down:
                width, fn = down
                buckets = {}
                for x, v in values:
                    buckets.setdefault(x - x % width, []).append(v)
                values = [(x, self.AGG[fn](v)) for x, v in sorted(buckets.items())]
            if rate:
                values = [(b[0], (b[1] - a[1]) / (b[0] - a[0])) for a, b in zip(values, values[1:])]
            if values:
                groups.setdefault(tuple(t[g] for g in group), []).append(values)
        out = {}
        for name, many in groups.items():
            stamps = sorted({x for values in many for x, _ in values})
            maps = [dict(v) for v in many]
            result = {}
            for x in stamps:
                got = []
                for values, m in zip(many, maps):
                    if x in m:
                        got.append(m[x])
                    elif agg in self.LERP and values[0][0] < x < values[-1][0]:
                        i = next(i for i, (y, _) in enumerate(values) if y > x)
                        (x0, v0), (x1, v1) = values[i - 1], values[i]
                        got.append(v0 + (x - x0) * (v1 - v0) / (x1 - x0))
                result[x] = self.AGG[agg](got)
            out[name] = result
        return out


class Check:
    def __init__(self, tsd, model):
        self.tsd, self.model, self.count, self.points = tsd, model, 0, 0

    def same(self, metric, start, end, agg, filters=(), group=(), keep=lambda t: True, down=None, rate=False, explicit=False,
             ms=False, **more):
        sub = {"metric": metric, "aggregator": agg, "filters": list(filters), "explicitTags": explicit, "rate": rate}
        if down:
            sub["downsample"] = f"{down[0]}s-{down[1]}"
        got = self.tsd.query(start, end, sub, ms=ms, **more)
        want = self.model.answer(metric, start, end, agg, group, keep, down, rate)
        label = f"{agg} {metric} {list(filters)} {down or ''} {'rate' if rate else ''}"
        have = {tuple(g["tags"].get(k) for k in group): {int(k): v for k, v in g["dps"].items()} for g in got}
        need(set(have) == set(want), label, "groups", sorted(map(str, set(have) ^ set(want)))[:6], len(have), len(want))
        for name, dps in want.items():
            mine = have[name]
            if rate:  # the rate at a range's first stamp depends on what lies before it
                mine = {k: v for k, v in mine.items() if k in dps}
            missing, more_ = sorted(set(dps) - set(mine)), sorted(set(mine) - set(dps))
            need(not missing and not more_, label, name, f"{len(missing)} missing {missing[:5]}, {len(more_)} too many {more_[:5]}",
                 f"of {len(dps)}")
            bad = [(x, mine[x], dps[x]) for x in dps if not close(mine[x], dps[x])]
            need(not bad, label, name, f"{len(bad)} of {len(dps)} differ (stamp, got, want):", bad[:5])
            self.points += len(dps)
        self.count += 1

    def everything(self, metric, start, end):
        """Each series of a metric, point by point."""
        got = self.tsd.query(start, end, {"metric": metric, "aggregator": "none"})
        have = {tuple(sorted(g["tags"].items())): {int(k): v for k, v in g["dps"].items()} for g in got}
        for (m, tags), points in self.model.series.items():
            if m != metric:
                continue
            want = {x: v for x, v in points.items() if start <= x <= end}
            mine = have.pop(tags, {})
            missing, more = sorted(set(want) - set(mine)), sorted(set(mine) - set(want))
            need(not missing and not more, metric, tags, f"{len(missing)} missing {missing[:5]}, {len(more)} too many {more[:5]} of {len(want)}")
            bad = [(x, mine[x], want[x]) for x in want if not close(mine[x], want[x])]
            need(not bad, metric, tags, f"{len(bad)} of {len(want)} differ (stamp, got, want):", bad[:5])
            self.points += len(want)
        need(not have, metric, "series that were not written:", list(have)[:5])
        self.count += 1


def load(tsd, model, points, batch=500, threads=4, how="sync&details"):
    started = time.monotonic()
    with futures.ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(lambda i: tsd.put(points[i:i + batch], how), range(0, len(points), batch)):
            pass
    model.put(points)
    return len(points) / (time.monotonic() - started)


def telnet(port, lines):
    """Sends commands and gives what the TSD says until it has answered `version` behind them."""
    with socket.create_connection(("127.0.0.1", port), 60) as s:
        s.sendall(("\n".join(lines) + "\nversion\nexit\n").encode())
        got = b""
        while chunk := s.recv(65536):
            got += chunk
    text = got.decode()
    need("net.opentsdb" in text, "telnet answered", text[:500])
    return text.split("net.opentsdb")[0]


def dataset(hosts, per_series, step=10, seed=7):
    points = []
    for n, metric in enumerate(("sys.int", "sys.float", "sys.mixed")):
        for h in range(hosts):
            tags = {"host": f"web{h:02d}", "dc": ("lon", "par", "nyc", "tok")[h % 4]}
            if h % 5 == 0:
                tags["owner"] = f"team{h % 3}"
            for i in range(per_series):
                whole = (h * 1000 + i * 7 + n) % 60000
                value = whole if n == 0 or (n == 2 and i % 2) else whole + 0.25
                points.append(point(metric, tags, DAY + i * step, value))
    random.Random(seed).shuffle(points)  # out of order
    return points


def questions(check, start, end):
    """Aggregators, filters, groups, downsampling and rate."""
    def f(kind, tagk, text, group=False):
        return {"type": kind, "tagk": tagk, "filter": text, "groupBy": group}
    for metric in ("sys.int", "sys.float", "sys.mixed"):
        for agg in ("sum", "zimsum", "min", "max", "avg", "count", "mimmin", "mimmax", "dev"):
            if metric == "sys.float" or agg not in ("avg", "dev"):  # OpenTSDB divides whole numbers without a rest
                check.same(metric, start, end, agg)
        check.same(metric, start, end, "sum", [f("wildcard", "dc", "*", True)], ["dc"])
        check.same(metric, start, end, "sum", [f("wildcard", "host", "web0*", True)], ["host"], lambda t: t["host"].startswith("web0"))
        check.same(metric, start, end, "max", [f("literal_or", "host", "web01|web07", True)], ["host"], lambda t: t["host"] in ("web01", "web07"))
        check.same(metric, start, end, "max", [f("iliteral_or", "host", "WEB01|WeB07", True)], ["host"], lambda t: t["host"] in ("web01", "web07"))
        check.same(metric, start, end, "sum", [f("not_literal_or", "dc", "lon|tok", True)], ["dc"], lambda t: t["dc"] in ("par", "nyc"))
        check.same(metric, start, end, "sum", [f("regexp", "host", "web.*[13]$", True)], ["host"], lambda t: t["host"][-1] in "13")
        check.same(metric, start, end, "sum", [f("literal_or", "dc", "lon"), f("regexp", "host", "web[01].")], (), lambda t: t["dc"] == "lon" and t["host"][3] in "01")
        check.same(metric, start, end, "sum", [f("wildcard", "owner", "*", True)], ["owner"], lambda t: "owner" in t)
        check.same(metric, start, end, "sum", [f("wildcard", "dc", "*", True), f("wildcard", "host", "*")], ["dc"], lambda t: "owner" not in t, explicit=True)
        # OpenTSDB's own fuzzy scan loses series when several tags have lists (with real HBase as well): one list only.
        check.same(metric, start, end, "sum", [f("wildcard", "dc", "*", True), f("literal_or", "host", "web01|web04|web05|web08")], ["dc"],
                   lambda t: "owner" not in t and t["host"] in ("web01", "web04", "web08"), explicit=True)
        for fn in ("sum", "min", "max", "count", "first", "last"):
            check.same(metric, start, end, "sum", [f("wildcard", "dc", "*", True)], ["dc"], down=(600, fn))
        check.same(metric, start, end, "sum", rate=True)
        check.same(metric, start, end, "zimsum", [f("wildcard", "dc", "*", True)], ["dc"], down=(300, "max"), rate=True)


def jars():
    path = os.path.join(tempfile.gettempdir(), f"opentsdb-classpath-{os.getpid()}")
    p = subprocess.run(["mvn", "-q", "-B", "-f", os.path.join(HERE, "pom.xml"), "dependency:build-classpath", "-Dmdep.outputFile=" + path],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    need(p.returncode == 0, "mvn:", p.stdout[-2000:])
    with open(path) as f:
        got = f.read().strip()
    os.remove(path)
    return got


class Traffic:
    """Writers that go on through everything; what was acknowledged is remembered."""

    def __init__(self, tsd, model, writers=4, batch=100):
        self.tsd, self.model, self.batch = tsd, model, batch
        self.lock, self.over = threading.Lock(), threading.Event()
        self.acknowledged, self.refused, self.slowest = 0, 0, 0.0
        self.threads = [threading.Thread(target=self.write, args=(n,), daemon=True) for n in range(writers)]
        for t in self.threads:
            t.start()

    def write(self, n):
        i = 0
        while not self.over.is_set() and i < 86000:
            points = [point("sys.kept", {"writer": f"w{n}"}, DAY + i + j, (i + j) * (n + 1)) for j in range(self.batch)]
            i += self.batch
            began = time.monotonic()
            try:
                self.tsd.put(points)
            except (Failed, OSError, http.client.HTTPException):
                with self.lock:  # it may have been written or not
                    self.refused += 1
                continue
            with self.lock:
                self.slowest = max(self.slowest, time.monotonic() - began)
                self.acknowledged += 1
                self.model.put(points)

    def goes_on(self, batches, seconds, after):
        goal = self.acknowledged + batches
        began = time.monotonic()
        until(seconds, f"{batches} acknowledged batches after {after}", lambda: self.acknowledged >= goal)
        return time.monotonic() - began

    def end(self):
        self.over.set()
        for t in self.threads:
            t.join(120)
            need(not t.is_alive(), "a writer hangs")


def kept(tsd, model):
    """Whether each acknowledged point is there, with its value."""
    got = tsd.query(DAY, DAY + 86399, {"metric": "sys.kept", "aggregator": "none"})
    have = {tuple(sorted(g["tags"].items())): {int(k): v for k, v in g["dps"].items()} for g in got}
    n = 0
    for (metric, tags), points in model.series.items():
        if metric == "sys.kept":
            lost = [x for x, v in points.items() if have.get(tags, {}).get(x) != v]
            need(not lost, f"{len(lost)} of {len(points)} acknowledged points of {tags} are lost or wrong:", lost[:5])
            n += len(points)
    return n


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("binary")
    options.add_argument("port", nargs="?", type=int, help="the TSD's port")
    options.add_argument("--points", type=int, default=20000)
    options.add_argument("--keep", action="store_true", help="leave the folder behind")
    options = options.parse_args()
    folder = tempfile.mkdtemp(prefix="opentsdb-check-")
    started, failures, tsds, server = time.monotonic(), [], [], None

    def step(label, act):
        began = time.monotonic()
        try:
            said = act()
            print(f"ok    {label}{': ' + str(said) if said else ''} ({time.monotonic() - began:.1f} s)", flush=True)
            return True
        except (Failed, OSError, http.client.HTTPException, subprocess.SubprocessError, LookupError, TypeError, ValueError) as e:
            print(f"FAIL  {label}: {type(e).__name__}: {e} ({time.monotonic() - began:.1f} s)", flush=True)
            failures.append(label)
            return False

    try:
        classpath = jars()
        server = Server(os.path.abspath(options.binary), folder)
        server.start()
        plain = "COMPRESSION => 'NONE', BLOOMFILTER => 'ROW', DATA_BLOCK_ENCODING => 'DIFF'"
        packed = "COMPRESSION => 'SNAPPY', BLOOMFILTER => 'ROW', DATA_BLOCK_ENCODING => 'FAST_DIFF'"

        def tables():
            server.shell(TABLES.format(p="", o=plain) + TABLES.format(p="app-", o=packed))
            said = server.shell("describe 'tsdb'\n")
            need("DATA_BLOCK_ENCODING => 'DIFF'" in said and "TTL => 'FOREVER'" in said, said)
        step("the tables of create_table.sh", tables)

        model = Model()
        main_tsd = Tsd(classpath, server.zk, folder, "main", port=options.port, settings={
            "tsd.core.meta.enable_realtime_uid": "true", "tsd.core.meta.enable_realtime_ts": "true"})
        tsds.append(main_tsd)
        if not step("TSD starts", main_tsd.start):
            return 1
        check = Check(main_tsd, model)
        hosts, day = 20, (DAY, DAY + 86399)
        each = max(100, options.points // 60)
        step("HTTP put, out of order", lambda: f"{load(main_tsd, model, dataset(hosts, each), 1000, 8):.0f} points/s, {hosts * each * 3} points")

        def put_by_telnet():
            points = [point("sys.telnet", {"host": f"t{h}"}, DAY + i * 5, i * 3 if i % 2 else i + 0.5) for h in range(4) for i in range(500)]
            said = telnet(main_tsd.port, [f"put {p['metric']} {p['timestamp']} {p['value']} host={p['tags']['host']}" for p in points])
            need(not said.strip(), said[:300])
            model.put(points)
            until(20, "telnet's points", lambda: check.everything("sys.telnet", *day) or True, 0.2)
            return f"{len(points)} points"
        step("telnet put", put_by_telnet)

        def again():
            points = [point("sys.int", {"host": "web01", "dc": "par"}, DAY + i * 10, 900 + i) for i in range(0, each, 3)]
            main_tsd.put(points)
            main_tsd.put(points)
            late = [point("sys.telnet", {"host": "t0"}, DAY + i * 5 + 2, i) for i in range(500)]
            main_tsd.put(late)
            model.put(points + late)
        step("duplicate, changed and late points", again)

        def everything():
            for metric in ("sys.int", "sys.float", "sys.mixed", "sys.telnet"):
                check.everything(metric, *day)
            return f"{check.points} points"
        step("every point, read back", everything)

        def asks():
            before = check.count
            questions(check, *day)
            return f"{check.count - before} queries, {check.points} values"
        step("aggregators, filters, groups, downsampling, rates, explicit tags", asks)

        def names():
            need(len(main_tsd.get("/api/suggest?type=tagv&q=web0&max=50")) == 10, "suggest")
            main_tsd.post("/api/uid/assign", {"metric": ["new.one"], "tagk": ["k1"], "tagv": ["v1", "v2"]})
            last = main_tsd.get("/api/query/last?timeseries=sys.telnet%7Bhost=t1%7D&resolve=true&back_scan=2000")
            need(last[0]["value"] in ("1497", "1497.0"), last)
            main_tsd.post("/api/annotation", {"startTime": DAY + 60, "description": "note"})
            got = main_tsd.query(DAY, DAY + 3600, {"metric": "sys.int", "aggregator": "sum"}, globalAnnotations=True)
            need(len(got[0]["globalAnnotations"]) == 1, got[0].get("globalAnnotations"))
        step("suggest, assign, last, annotations", names)

        def delete():
            main_tsd.query(*day, {"metric": "sys.mixed", "aggregator": "sum"}, delete=True)
            until(15, "an empty answer", lambda: main_tsd.query(*day, {"metric": "sys.mixed", "aggregator": "sum"}) == [], 0.2)
            for key in [k for k in model.series if k[0] == "sys.mixed"]:
                del model.series[key]
            for metric in ("sys.int", "sys.float"):
                check.everything(metric, *day)
        step("delete by query", delete)

        def appends():
            other = Model()
            tsd = Tsd(classpath, server.zk, folder, "app", prefix="app-", heap="512m", settings={"tsd.storage.enable_appends": "true"})
            tsds.append(tsd)
            tsd.start()
            points = dataset(10, each)
            load(tsd, other, points, 1000, 8)
            own = Check(tsd, other)
            for metric in ("sys.int", "sys.float", "sys.mixed"):
                own.everything(metric, *day)
            server.shell("flush 'app-tsdb'\nmajor_compact 'app-tsdb'\n")
            own.everything("sys.float", *day)
            tsd.stop()
            tsds.remove(tsd)
            return f"{len(points)} points"
        step("appends", appends)

        traffic = Traffic(main_tsd, model)

        def kills():
            took = []
            traffic.goes_on(8, 60, "the start")
            for _ in range(2):
                server.kill()
                server.start()
                took.append(f"{traffic.goes_on(8, 60, 'kill -9'):.1f}")
            server.stop()
            server.start()
            took.append(f"{traffic.goes_on(8, 60, 'an orderly restart'):.1f}")
            return f"8 batches acknowledged after {', '.join(took)} s"
        step("kill -9 twice and a restart while points come", kills)

        def splits():
            for command in ("flush", "split", "major_compact", "flush", "compact"):
                server.shell(f"{command} 'tsdb'\n")
                traffic.goes_on(4, 60, command)
                check.everything("sys.int", *day)
            until(30, "two regions", lambda: "2 rows" in server.shell("list_regions 'tsdb'\n") or "3 rows" in server.shell("list_regions 'tsdb'\n"))
        step("flush, split, compactions while points come", splits)

        def all_there():
            traffic.end()
            n = kept(main_tsd, model)
            for metric in ("sys.int", "sys.float", "sys.telnet"):
                check.everything(metric, *day)
            return f"{n} acknowledged points, {traffic.refused} batches refused, slowest batch {traffic.slowest:.1f} s"
        step("no acknowledged point is missing", all_there)
        step("TSD stops", main_tsd.stop)

        def ends():
            peak = server.memory_mb()
            server.stop()
            return f"its memory was at most {peak} MB"
        step("the server stops", ends)

        def quiet():
            with open(server.log, errors="replace") as f:
                loud = [line.strip() for line in f if " ERROR " in line or " WARN " in line or "panick" in line]
            need(not loud, f"{len(loud)} lines, such as", loud[:3])
        step("nothing loud in the server's log", quiet)
        print(f"{'FAILED: ' + ', '.join(failures) if failures else 'all right'} after {time.monotonic() - started:.0f} s")
        return 1 if failures else 0
    finally:
        for tsd in tsds:
            if tsd.process and tsd.process.poll() is None:
                tsd.process.kill()
                tsd.process.wait()
        if server and server.process and server.process.poll() is None:
            server.process.kill()
            server.process.wait()
        if options.keep:
            print("kept:", folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as e:
        sys.exit(f"FAIL  {e}")
