/** Metrics and spans of calls and of the storage, through the real SDKs of OpenTelemetry and of Prometheus. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import prometheus from "prom-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { meters, openWorkspace, spans } from "../../js/index.node.ts";
import { parseMetricsPlace, promMeter } from "../../js/mcp/monitoring/metrics.ts";
import { parseTraceparent } from "../../js/mcp/monitoring/tracing.ts";
import {
  memoryStorage,
  mirrorUse,
  observeStorage,
  type Op,
  type Storage,
} from "../../js/storage/index.node.ts";
import { postgresStorage } from "@filewright/storage/postgres";
import { missingServer, startPostgres, type TestServer } from "../storage/postgres/server.mjs";
import { afterThisTest } from "../support/cleanups.ts";
import { call, postgresUrl, startServing, TOKEN } from "./server.ts";

const put = (path: string, text: string): Op => ({ op: "put", path, body: new TextEncoder().encode(text) });

/** The real SDK of metrics, read at once. */
function metricsSdk() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const provider = new MeterProvider({ readers: [reader] });
  afterThisTest(() => provider.shutdown());
  const read = async (): Promise<Record<string, Record<string, number>>> => {
    await reader.forceFlush();
    const found: Record<string, Record<string, number>> = {};
    for (const { descriptor, dataPoints } of exporter.getMetrics().at(-1)?.scopeMetrics[0]?.metrics ?? []) {
      const values = dataPoints.map(({ attributes, value }) => [
        Object.values(attributes).join(" "),
        typeof value === "number" ? value : (value as { readonly count: number }).count,
      ]);
      found[descriptor.name] = Object.fromEntries(values) as Record<string, number>;
    }
    return found;
  };
  return { meter: provider.getMeter("test"), read };
}

/** The real SDK of traces, with the context that follows promises. */
function tracesSdk(): { readonly exporter: InMemorySpanExporter; readonly provider: BasicTracerProvider } {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  afterThisTest(() => context.disable());
  return { exporter, provider };
}

const parentOf = (span: ReadableSpan | undefined): string | undefined => span?.parentSpanId;

describe("meters", () => {
  test("count calls by tool and code, their times, trips, conflicts and waits for locks; no label is a path", async () => {
    const { meter, read } = metricsSdk();
    const metrics = meters(meter);
    const storage = observeStorage(memoryStorage(), metrics);
    const ws = await openWorkspace({
      storage,
      root: "/secret-folder",
      observers: [metrics],
      agent: "secret-agent",
    });
    await ws.call("write_file", { path: "a.txt", content: "1\n" });
    await ws.call("read_file", { path: "a.txt" });
    await ws.call("read_file", { path: "gone.txt" });
    await storage
      .commit([put("/b", "1")], { expect: [{ path: "/b", version: "99" }] })
      .catch(() => undefined);
    metrics.gauge("mirror_bytes", () => 1);
    metrics.gauge("mirror_bytes", () => 4096);
    const found = await read();
    expect(found["filewright_calls_total"]).toEqual({
      "write_file OK": 1,
      "read_file OK": 1,
      "read_file NOT_FOUND": 1,
    });
    expect(found["filewright_call_seconds"]).toEqual({ write_file: 1, read_file: 2 });
    expect(found["filewright_conflicts_total"]).toEqual({ "": 1 });
    expect(found["filewright_lock_wait_seconds"]).toEqual({ "": 1 });
    expect(found["filewright_mirror_bytes"]).toEqual({ "": 4096 });
    const trips = found["filewright_storage_trips_total"] ?? {};
    expect(trips["commit CONFLICT"]).toBe(1);
    expect(trips["commit OK"]).toBeGreaterThan(0);
    expect(trips["readMany OK"]).toBeGreaterThan(0);
    expect(JSON.stringify(found)).not.toMatch(/secret|\.txt/u);
    await ws.close();
  });

  test("a meter that lacks an instrument is refused, and one that throws harms no call", async () => {
    expect(() => meters({} as never)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    const broken = () => {
      throw new Error("broken");
    };
    const metrics = meters({
      createCounter: () => ({ add: broken }),
      createHistogram: () => ({ record: broken }),
      createObservableGauge: () => ({ addCallback: broken }),
    });
    const storage = observeStorage(memoryStorage(), metrics);
    const ws = await openWorkspace({ storage, root: "/", observers: [metrics] });
    expect((await ws.call("write_file", { path: "a", content: "1" })).ok).toBe(true);
    await ws.close();
  });
});

describe("observeStorage", () => {
  test("keeps the methods that a storage has, forks are observed, and a fork is merged", async () => {
    const seen: string[] = [];
    const observer = {
      trip:
        ({ operation, paths, sent_bytes: sent }: { operation: string; paths: number; sent_bytes: number }) =>
        ({ ok, received_bytes: received }: { ok: boolean; received_bytes: number }): void =>
          void seen.push(`${operation} ${paths} ${sent} ${received} ${ok}`),
    };
    const inner = memoryStorage();
    const storage: Storage = observeStorage(inner, observer);
    const names = (one: object): string[] =>
      ["statMany", "lockAll", "snapshot", "fork", "drop", "merge", "history", "search", "records"].filter(
        (name) => (one as Record<string, unknown>)[name] !== undefined,
      );
    expect(names(storage)).toEqual(names(inner));
    await storage.commit([put("/a", "12345")]);
    await storage.readMany(["/a", "/gone"]);
    const fork = await storage.fork?.("fork");
    await fork?.commit([put("/b", "1")]);
    await storage.merge?.(fork as Storage);
    await storage.records?.add("n", "1", 1);
    expect(seen).toEqual([
      "commit 1 5 0 true",
      "readMany 2 0 5 true",
      "fork 0 0 0 true",
      "commit 1 1 0 true",
      "merge 0 0 0 true",
      "records.add 0 0 0 true",
    ]);
    expect(observeStorage(inner)).toBe(inner);
    expect(() => observeStorage(inner, {} as never)).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT" }),
    );
  });
});

describe("spans", () => {
  test("a call's trips are below its span, and calls at once do not mix", async () => {
    const { exporter, provider } = tracesSdk();
    const observer = spans(provider.getTracer("test"));
    const storage = observeStorage(memoryStorage(), observer);
    const ws = await openWorkspace({ storage, root: "/", observers: [observer] });
    await ws.call("write_file", { path: "a.txt", content: "1\n" });
    exporter.reset();
    await Promise.all([
      ws.call("read_file", { path: "a.txt" }),
      ws.call("write_file", { path: "b.txt", content: "12\n" }),
    ]);
    const all = exporter.getFinishedSpans();
    const idOf = (name: string): string | undefined =>
      all.find((span) => span.name === name)?.spanContext().spanId;
    const read = all.filter((span) => parentOf(span) === idOf("execute_tool read_file"));
    const written = all.filter((span) => parentOf(span) === idOf("execute_tool write_file"));
    expect(read.length).toBeGreaterThan(0);
    expect(read.map(({ name }) => name)).toContain("storage readMany");
    const commit = written.find(({ name }) => name === "storage commit");
    expect(commit?.attributes).toMatchObject({
      "db.operation.name": "commit",
      "filewright.sent_bytes": 3,
    });
    expect(read.length + written.length + 2).toBe(all.length);
    expect(JSON.stringify(all.map(({ attributes }) => attributes))).not.toContain(".txt");
    await ws.close();
  });
});

describe("a registry of Prometheus", () => {
  test("has every metric with its labels and bounds, in the form that Prometheus reads", async () => {
    const registry = new prometheus.Registry();
    const metrics = meters(promMeter(prometheus as never, registry));
    metrics.end?.({
      ...{ id: "1", tool: "read_file", at: 0, ok: true, duration_ms: 7, paths: ["/a"], changes: false },
      ...{ text_chars: 0, truncated: false, lock_wait_ms: 30 },
    });
    metrics.gauge("mirror_lag_versions", () => 3);
    const text = await registry.metrics();
    expect(text).toContain('filewright_call_seconds_bucket{le="0.005",tool="read_file"} 0');
    expect(text).toContain('filewright_call_seconds_bucket{le="0.01",tool="read_file"} 1');
    expect(text).toContain('filewright_lock_wait_seconds_bucket{le="0.05"} 1');
    expect(text).toMatch(/^filewright_mirror_lag_versions 3$/mu);
    expect(text).toMatch(/^# HELP filewright_conflicts_total \S/mu);
  });
});

describe("a traceparent", () => {
  const [id, parent] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
  test.each([
    [`00-${id}-${parent}-01`, { traceId: id, spanId: parent, traceFlags: 1, isRemote: true }],
    [`00-${id}-${parent}-02`, { traceId: id, spanId: parent, traceFlags: 0, isRemote: true }],
    [`01-${id}-${parent}-01-later`, { traceId: id, spanId: parent, traceFlags: 1, isRemote: true }],
    [`00-${id}-${parent}-01-later`, undefined],
    [`ff-${id}-${parent}-01`, undefined],
    [`00-${"0".repeat(32)}-${parent}-01`, undefined],
    [`00-${id}-${"0".repeat(16)}-01`, undefined],
    [`00-${id.toUpperCase()}-${parent}-01`, undefined],
    ["", undefined],
    [null, undefined],
  ])("%s is read as the standard says", (header, expected) => {
    expect(parseTraceparent(header)).toEqual(expected);
  });
});

describe("the place of metrics", () => {
  test.each([
    ["127.0.0.1:9464", { host: "127.0.0.1", port: 9464 }],
    ["[::1]:9464", { host: "::1", port: 9464 }],
    ["/metrics", { path: "/metrics" }],
  ])("%s", (given, place) => {
    expect(parseMetricsPlace(given)).toEqual(place);
  });

  test.each(["9464", "/mcp", "/ready", "/", "host:99999", "host:", "http://host:1/", "/a b"])(
    "%s is refused",
    (given) => {
      expect(() => parseMetricsPlace(given)).toThrow(/--metrics/u);
    },
  );
});

describe.skipIf(missingServer() !== undefined)("a server over Postgres", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  test("shows Prometheus its calls and trips, and 1 for draining from the first moment of its end", async () => {
    const served = await startServing(postgresUrl(server.host), { metrics: { host: "127.0.0.1", port: 0 } });
    const at = /Metrics are at (\S+)/u.exec(served.lines.join("\n"))?.[1] as string;
    await call(served.url, "write_file", { path: "/a.txt", content: "1\n" });
    await call(served.url, "read_file", { path: "/a.txt" });
    await call(served.url, "read_file", { path: "/gone.txt" });
    const scrape = async (): Promise<string> => (await fetch(at)).text();
    const text = await scrape();
    expect(text).toContain('filewright_calls_total{tool="read_file",code="OK"} 1');
    expect(text).toContain('filewright_calls_total{tool="read_file",code="NOT_FOUND"} 1');
    expect(text).toContain('filewright_call_seconds_count{tool="write_file"} 1');
    expect(text).toMatch(/filewright_storage_trips_total\{operation="commit",code="OK"\} \d/u);
    expect(text).toContain("filewright_lock_wait_seconds_count 1");
    expect(text).toMatch(/^filewright_conflicts_total 0$/mu);
    expect(text).toMatch(/^filewright_draining 0$/mu);
    expect(text).not.toContain(".txt");
    const ended = served.drain();
    expect(await scrape()).toMatch(/^filewright_draining 1$/mu);
    await ended;
    await expect(scrape()).rejects.toThrow();
  });

  test("shows the size of the copy for searches, and how far it is behind", async () => {
    const stateDir = mkdtempSync(join(tmpdir(), "fw-metrics-"));
    afterThisTest(() => rmSync(stateDir, { recursive: true, force: true }));
    const choice = { workspace: "mirrored" };
    const direct = await postgresStorage({ client: server.pool(), ...choice });
    await direct.commit([put("/a.txt", "needle\n".repeat(100)), put("/b.txt", "1\n")]);
    const metrics = { host: "127.0.0.1", port: 0 };
    const served = await startServing(postgresUrl(server.host), { choice, metrics, workspace: { stateDir } });
    const at = /Metrics are at (\S+)/u.exec(served.lines.join("\n"))?.[1] as string;
    const gauges = async (): Promise<readonly number[]> => {
      const text = await (await fetch(at)).text();
      return ["mirror_bytes", "mirror_lag_versions"].map((name) =>
        Number(new RegExp(`^filewright_${name} (\\d+)$`, "mu").exec(text)?.[1]),
      );
    };
    expect(await gauges()).toEqual([0, 0]);
    const grep = async (pattern: string): Promise<string> =>
      (await call(served.url, "grep", { pattern, path: "/" })).text;
    expect(await grep("needle")).toContain("a.txt");
    await expect.poll(gauges).toEqual([702, 0]);
    await direct.commit([put("/b.txt", "12345\n")]);
    await direct.commit([put("/c.txt", "6\n")]);
    // A listing sees the new versions and does not read contents, so the copy stays behind until the next search.
    expect((await call(served.url, "glob", { pattern: "c.*" })).text).toContain("c.txt");
    expect(await gauges()).toEqual([702, 2]);
    expect(await grep("12345")).toContain("b.txt");
    await expect.poll(gauges).toEqual([708, 0]);
    await served.drain();
    expect(mirrorUse()).toEqual({ bytes: 0, lagVersions: 0 });
  });

  test("shows metrics at a path of its own only with the token", async () => {
    const served = await startServing(postgresUrl(server.host), { metrics: { path: "/metrics" } });
    const at = new URL("/metrics", served.url).href;
    expect((await fetch(at)).status).toBe(401);
    const shown = await fetch(at, { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(await shown.text()).toContain("filewright_draining 0");
  });

  test("makes the span of a request's traceparent the parent of its calls", async () => {
    const { exporter, provider } = tracesSdk();
    trace.setGlobalTracerProvider(provider);
    afterThisTest(() => trace.disable());
    const served = await startServing(postgresUrl(server.host), { traces: true });
    exporter.reset();
    const [id, parent] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
    await call(
      served.url,
      "write_file",
      { path: "/a.txt", content: "2\n" },
      { headers: { traceparent: `00-${id}-${parent}-01` } },
    );
    const all = exporter.getFinishedSpans();
    const tool = all.find(({ name }) => name === "execute_tool write_file");
    expect(parentOf(tool)).toBe(parent);
    expect(tool?.spanContext().traceId).toBe(id);
    const commit = all.find(({ name }) => name === "storage commit");
    expect(parentOf(commit)).toBe(tool?.spanContext().spanId);
    expect(commit?.attributes["filewright.sent_bytes"]).toBe(2);
  });
});
