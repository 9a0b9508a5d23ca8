/**
 * OpenTelemetry spans, one for each call and for each call of a storage, through the host's tracer. The API package
 * is an optional peer: without it `openTelemetry` throws, and `spans` with a given tracer works without it.
 */
import {
  callback,
  flag,
  optionChecker,
  instance,
  type Options,
  options,
  required,
} from "../schema/option.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { importRequired } from "../schema/optional-packages.ts";
import type { StorageObserver, StorageTrip, StorageTripEnd } from "../storage/observe.ts";
import type { CallBegin, CallEnd, Observer } from "./observer.ts";

/** The members of an OpenTelemetry span that are used. */
export interface SpanLike {
  setAttributes(attributes: Record<string, string | number | boolean>): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  end(): void;
}

/** The members of an OpenTelemetry tracer that are used. */
export interface TracerLike {
  startSpan(name: string, options?: { attributes?: Record<string, string | number | boolean> }): SpanLike;
  /**
   * Runs a function while the new span is the active one. A tracer without it makes spans of storage calls that are
   * not below those of their calls.
   */
  startActiveSpan?<T>(
    name: string,
    options: { attributes?: Record<string, string | number | boolean> },
    run: (span: SpanLike) => T,
  ): T;
}

/** Spans of calls, and of the calls of a storage that `observeStorage` is given. */
export interface SpanObserver extends Observer, StorageObserver {}

/** Optional attributes of spans. */
export interface SpanOptions {
  /** Add the paths of each call, which may be private. Default false. */
  readonly paths?: boolean;
}

/** The options of {@link spans} and {@link openTelemetry}. */
export const SPAN_OPTIONS: Options<SpanOptions> = options("SpanOptions", { paths: flag() });

const checkOptions = optionChecker("spans", SPAN_OPTIONS);
const checkOpenTelemetryOptions = optionChecker("openTelemetry", SPAN_OPTIONS);
const checkTracer = optionChecker(
  "spans",
  instance<TracerLike>("TracerLike", "a tracer", { startSpan: required(callback()) }),
);

/** The value of `SpanStatusCode.ERROR` in the API of OpenTelemetry. */
const SPAN_STATUS_ERROR = 2;

/**
 * Creates one span for each call, as child of the span that is active when the call begins. Paths
 * are included only with `paths`, because they may be private. Given to `observeStorage` as well, it creates one span
 * for each call of the storage, below that of the call, with its operation, number of paths and bytes.
 *
 * @example
 * const ws = await openWorkspace({ root: "/repo", observers: [spans(trace.getTracer("agent"))] });
 */
export function spans(tracer: TracerLike, given: SpanOptions = {}): SpanObserver {
  checkTracer(tracer);
  const { paths = false } = checkOptions(given);
  const running = new Map<string, SpanLike>();
  return Object.freeze({
    within(call: CallBegin, run: () => void): void {
      const name = `execute_tool ${call.called_as ?? call.tool}`;
      const attributes = withoutUndefined({
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.called_as ?? call.tool,
        "gen_ai.tool.call.id": call.id,
        "filewright.tool": call.tool,
        "gen_ai.agent.id": call.agent,
      });
      if (tracer.startActiveSpan === undefined) {
        running.set(call.id, tracer.startSpan(name, { attributes }));
        run();
        return;
      }
      tracer.startActiveSpan(name, { attributes }, (span) => {
        running.set(call.id, span);
        run();
      });
    },
    end(end: CallEnd): void {
      const span = running.get(end.id);
      if (span === undefined) return;
      running.delete(end.id);
      span.setAttributes(
        withoutUndefined({
          "filewright.ok": end.ok,
          "filewright.text_chars": end.text_chars,
          "filewright.truncated": end.truncated,
          "error.type": end.code,
          "filewright.approval": end.approval?.outcome,
          "filewright.paths": paths ? end.paths.join("\n") : undefined,
        }),
      );
      if (!end.ok) span.setStatus({ code: SPAN_STATUS_ERROR, message: end.code ?? "failed" });
      span.end();
    },
    trip({ operation, paths: count, sent_bytes: sent }: StorageTrip): (end: StorageTripEnd) => void {
      const span = tracer.startSpan(`storage ${operation}`, {
        attributes: {
          "db.operation.name": operation,
          "filewright.paths.count": count,
          "filewright.sent_bytes": sent,
        },
      });
      return ({ ok, code, received_bytes: received }) => {
        span.setAttributes(withoutUndefined({ "filewright.received_bytes": received, "error.type": code }));
        if (!ok) span.setStatus({ code: SPAN_STATUS_ERROR, message: code ?? "failed" });
        span.end();
      };
    },
  });
}

/** The name of the optional package. It is a variable so that no bundler includes the package. */
const OPEN_TELEMETRY_PACKAGE = "@opentelemetry/api";

/**
 * {@link spans} through the globally registered tracer of `@opentelemetry/api`.
 *
 * @throws FilewrightError UNSUPPORTED_OPERATION when the package is not installed
 */
export async function openTelemetry(given: SpanOptions = {}): Promise<SpanObserver> {
  const options = checkOpenTelemetryOptions(given);
  type TraceApi = { readonly trace: { getTracer(name: string): TracerLike } };
  const load = (): Promise<TraceApi> =>
    import(/* @vite-ignore */ OPEN_TELEMETRY_PACKAGE) as Promise<TraceApi>;
  const { trace } = await importRequired("@opentelemetry/api", load);
  return spans(trace.getTracer("filewright"), options);
}
