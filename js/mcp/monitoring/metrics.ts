/**
 * Metrics for Prometheus, by the optional package `prom-client`: its registry in the shape of an OpenTelemetry meter,
 * and the place where they are read.
 */
import { importRequired } from "../../schema/optional-packages.ts";
import { type MeterLike, type Meters, METRICS, meters, SECONDS_BOUNDS } from "../../hooks/meters.ts";
import { type HttpServer, startHttpServer } from "../../http/server.node.ts";
import { UsageError } from "../../schema/command-line.node.ts";

/** Where metrics are read: at a path of the server itself, or at an address of their own. */
export type MetricsPlace = { readonly path: string } | { readonly host: string; readonly port: number };

/** The path of metrics at an address of their own. */
const METRICS_PATH = "/metrics";

/** Parses the value of `--metrics`. @throws UsageError */
export function parseMetricsPlace(given: string): MetricsPlace {
  if (/^\/[\w/-]{1,100}$/u.test(given)) {
    if (["/mcp", "/approvals", "/health", "/ready"].includes(given))
      throw new UsageError(`--metrics: ${given} is a path of the server itself; take /metrics`);
    return { path: given };
  }
  const [, host = "", port = ""] = /^(\[[0-9a-f:.]+\]|[^:/\s]+):(\d{1,5})$/iu.exec(given) ?? [];
  if (host === "" || Number(port) > 65_535)
    throw new UsageError("--metrics takes HOST:PORT, such as 127.0.0.1:9464, or a path, such as /metrics");
  return { host: host.replace(/^\[(.*)\]$/u, "$1"), port: Number(port) };
}

/** The metrics of a server. */
export interface ServerMetrics {
  readonly meters: Meters;
  /** Returns the answer to a request that reads them. */
  answer(): Promise<Response>;
}

/** The parts of the package `prom-client` that are used. */
interface PromClient {
  readonly Registry: new () => Registry;
  readonly Counter: new (options: InstrumentConfig) => { inc(labels: object, value: number): void };
  readonly Histogram: new (
    options: InstrumentConfig & { readonly buckets: number[] },
  ) => { observe(labels: object, value: number): void };
  readonly Gauge: new (
    options: InstrumentConfig & { collect(this: { set(value: number): void }): void },
  ) => unknown;
}

interface Registry {
  readonly contentType: string;
  metrics(): Promise<string>;
}

interface InstrumentConfig {
  readonly name: string;
  readonly help: string;
  readonly labelNames: string[];
  readonly registers: Registry[];
}

/** The name of the optional package. It is a variable so that no bundler includes the package. */
const PROM_CLIENT_PACKAGE = "prom-client";

/** Creates the metrics. @throws FilewrightError UNSUPPORTED_OPERATION without the package */
export async function prometheusMetrics(): Promise<ServerMetrics> {
  const client = await loadPromClient();
  const registry = new client.Registry();
  const made = meters(promMeter(client, registry));
  return {
    meters: made,
    answer: async () =>
      new Response(await registry.metrics(), {
        headers: { "content-type": registry.contentType, "cache-control": "no-store" },
      }),
  };
}

/** Serves metrics at an address of their own, without a token. */
export function listenForMetrics(
  { host, port }: { readonly host: string; readonly port: number },
  metrics: ServerMetrics,
): Promise<HttpServer> {
  const answer = async (request: Request): Promise<Response> =>
    new URL(request.url).pathname === METRICS_PATH && request.method === "GET"
      ? metrics.answer()
      : new Response(`the metrics are at ${METRICS_PATH}\n`, { status: 404 });
  return startHttpServer(answer, { host, port, unguarded: [METRICS_PATH] });
}

/** Returns a registry of Prometheus in the shape of a meter. */
export function promMeter(client: PromClient, registry: Registry): MeterLike {
  const config = (name: string): InstrumentConfig => {
    const known = Object.values(METRICS).find((one) => one.name === name);
    return {
      name,
      help: known?.description ?? name,
      labelNames: [...(known?.labels ?? [])],
      registers: [registry],
    };
  };
  return {
    createCounter(name) {
      const counter = new client.Counter(config(name));
      return { add: (value, labels = {}) => counter.inc(labels, value) };
    },
    createHistogram(name) {
      const histogram = new client.Histogram({ ...config(name), buckets: [...SECONDS_BOUNDS] });
      return { record: (value, labels = {}) => histogram.observe(labels, value) };
    },
    createObservableGauge(name) {
      const reads: ((result: { observe(value: number): void }) => void)[] = [];
      new client.Gauge({
        ...config(name),
        collect() {
          for (const read of reads) read({ observe: (value) => this.set(value) });
        },
      });
      return { addCallback: (read) => void reads.push(read) };
    },
  };
}

async function loadPromClient(): Promise<PromClient> {
  type Loaded = PromClient & { readonly default?: PromClient };
  const load = (): Promise<Loaded> => import(/* @vite-ignore */ PROM_CLIENT_PACKAGE) as Promise<Loaded>;
  const loaded = await importRequired("prom-client", load);
  return loaded.default ?? loaded;
}
