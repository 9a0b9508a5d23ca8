/**
 * Metrics of calls and of the storage, through the host's meter of OpenTelemetry or one in its shape. No label holds a
 * path, a name of an agent or of a tenant: their values are bounded by the lists of tools, codes and operations.
 */
import { callback, instance, optionChecker, required } from "../schema/option.ts";
import type { StorageObserver, StorageTrip, StorageTripEnd } from "../storage/observe.ts";
import type { CallEnd, Observer } from "./observer.ts";

/** The labels of a value. */
export type MetricAttributes = Readonly<Record<string, string>>;

/** The description of an instrument. */
export interface InstrumentOptions {
  readonly description?: string;
  readonly unit?: string;
}

/** The members of an OpenTelemetry meter that are used. */
export interface MeterLike {
  createCounter(
    name: string,
    options?: InstrumentOptions,
  ): { add(value: number, attributes?: MetricAttributes): void };
  createHistogram(
    name: string,
    options?: InstrumentOptions & { readonly advice?: { readonly explicitBucketBoundaries?: number[] } },
  ): { record(value: number, attributes?: MetricAttributes): void };
  createObservableGauge(
    name: string,
    options?: InstrumentOptions,
  ): { addCallback(callback: (result: { observe(value: number): void }) => void): void };
}

/** The metrics: an observer of workspaces and of storages, which share them. */
export interface Meters extends Observer, StorageObserver {
  /**
   * Registers a value that is read whenever the metrics are: `draining` (1 while a server ends), `mirror_lag_versions`
   * and `mirror_bytes` (those of `mirrorUse()` of `filewright/storage`). A second function for the same value replaces the first.
   */
  gauge(name: GaugeName, read: () => number): void;
}

/** The values that are read whenever the metrics are. */
export type GaugeName = "draining" | "mirror_lag_versions" | "mirror_bytes";

/** The name, the labels and the description of a metric. */
interface Metric {
  readonly name: string;
  readonly labels: readonly string[];
  readonly description: string;
}

/** All metrics, for exporters that need names and labels in advance. */
export const METRICS: Readonly<
  Record<"calls" | "seconds" | "trips" | "conflicts" | "lockWait" | GaugeName, Metric>
> = {
  calls: {
    name: "filewright_calls_total",
    labels: ["tool", "code"],
    description: "Calls by tool; code is OK or the error code of a failure",
  },
  seconds: { name: "filewright_call_seconds", labels: ["tool"], description: "Time of a call" },
  trips: {
    name: "filewright_storage_trips_total",
    labels: ["operation", "code"],
    description: "Calls of the storage by operation; code is OK or the error code of a failure",
  },
  conflicts: {
    name: "filewright_conflicts_total",
    labels: [],
    description:
      "Commits that another writer's commit had overtaken; each is planned again or answered as CONFLICT",
  },
  lockWait: {
    name: "filewright_lock_wait_seconds",
    labels: [],
    description: "Time for which a change waited for the locks of its paths",
  },
  draining: { name: "filewright_draining", labels: [], description: "1 while the server ends, else 0" },
  mirror_lag_versions: {
    name: "filewright_mirror_lag_versions",
    labels: [],
    description: "Versions by which the copy for searches is behind the newest one that a search has seen",
  },
  mirror_bytes: {
    name: "filewright_mirror_bytes",
    labels: [],
    description: "Size of the copies for searches on this machine",
  },
};

/** The bounds of histograms in seconds: from a read on this machine to a call that waits for a person. */
export const SECONDS_BOUNDS: readonly number[] = [
  ...[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
];

const checkMeter = optionChecker(
  "meters",
  instance<MeterLike>("MeterLike", "a meter", {
    createCounter: required(callback()),
    createHistogram: required(callback()),
    createObservableGauge: required(callback()),
  }),
);

/**
 * Counts calls, their times, waits for locks, and calls of the storage.
 *
 * @example
 * const metrics = meters(provider.getMeter("agent"));
 * const ws = await openWorkspace({ storage: observeStorage(storage, metrics), root: "/", observers: [metrics] });
 */
export function meters(meter: MeterLike): Meters {
  checkMeter(meter);
  const counter = ({ name, description }: Metric): ReturnType<MeterLike["createCounter"]> =>
    meter.createCounter(name, { description });
  const histogram = ({ name, description }: Metric): ReturnType<MeterLike["createHistogram"]> =>
    meter.createHistogram(name, {
      description,
      unit: "s",
      advice: { explicitBucketBoundaries: [...SECONDS_BOUNDS] },
    });
  const calls = counter(METRICS.calls);
  const seconds = histogram(METRICS.seconds);
  const trips = counter(METRICS.trips);
  const conflicts = counter(METRICS.conflicts);
  const lockWait = histogram(METRICS.lockWait);
  const gauges = new Map<GaugeName, () => number>();
  return Object.freeze({
    end({ tool, ok, code, duration_ms: ms, lock_wait_ms: waited }: CallEnd): void {
      calls.add(1, { tool, code: ok ? "OK" : (code ?? "INTERNAL") });
      seconds.record(ms / 1000, { tool });
      if (waited !== undefined) lockWait.record(waited / 1000);
    },
    trip:
      ({ operation }: StorageTrip) =>
      ({ ok, code }: StorageTripEnd): void => {
        trips.add(1, { operation, code: ok ? "OK" : (code ?? "INTERNAL") });
        if (operation === "commit" && code === "CONFLICT") conflicts.add(1);
      },
    gauge(name: GaugeName, read: () => number): void {
      const isNew = !gauges.has(name);
      gauges.set(name, read);
      if (!isNew) return;
      const { name: full, description } = METRICS[name];
      meter
        .createObservableGauge(full, { description })
        .addCallback((result) => result.observe(gauges.get(name)?.() ?? 0));
    },
  });
}
