/**
 * Traces of a server, through the tracer that the process has registered with OpenTelemetry, for example by
 * `node --import`. The span of a request's `traceparent` is the parent of the spans of its calls.
 */
import { importRequired } from "../../schema/optional-packages.ts";
import { type SpanObserver, type TracerLike, spans } from "../../hooks/telemetry.ts";

/** The traces of a server. */
export interface ServerTraces {
  /** Makes a span for each call and for each call of the storage. */
  readonly spans: SpanObserver;
  /** Answers a request in the context of its `traceparent`. */
  within<T>(request: Request, run: () => T): T;
}

/** The parts of the package `@opentelemetry/api` that are used. */
interface TraceApi {
  readonly context: {
    active(): object;
    with<T>(context: object, run: () => T): T;
  };
  readonly trace: {
    getTracer(name: string): TracerLike;
    getSpan(context: object): object | undefined;
    setSpanContext(
      context: object,
      span: {
        readonly traceId: string;
        readonly spanId: string;
        readonly traceFlags: number;
        readonly isRemote: boolean;
      },
    ): object;
  };
}

/** The name of the optional package. It is a variable so that no bundler includes the package. */
const OPEN_TELEMETRY_PACKAGE = "@opentelemetry/api";

/** Creates the traces. @throws FilewrightError UNSUPPORTED_OPERATION without the package */
export async function serverTraces(): Promise<ServerTraces> {
  const { context, trace } = await loadTraceApi();
  return {
    spans: spans(trace.getTracer("filewright")),
    within(request, run) {
      const active = context.active();
      // An instrumentation of HTTP in this process has made a span below the client's.
      if (trace.getSpan(active) !== undefined) return run();
      const parent = parseTraceparent(request.headers.get("traceparent"));
      return parent === undefined ? run() : context.with(trace.setSpanContext(active, parent), run);
    },
  };
}

/** Returns the span of a `traceparent` header (W3C Trace Context); undefined without a valid one. */
export function parseTraceparent(
  header: string | null,
): Parameters<TraceApi["trace"]["setSpanContext"]>[1] | undefined {
  const [, version = "", traceId = "", spanId = "", flags = "", rest] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/u.exec(header?.trim() ?? "") ?? [];
  if (version === "" || version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/u.test(traceId) || /^0+$/u.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

async function loadTraceApi(): Promise<TraceApi> {
  const load = (): Promise<TraceApi> =>
    import(/* @vite-ignore */ OPEN_TELEMETRY_PACKAGE) as Promise<TraceApi>;
  return importRequired("@opentelemetry/api", load);
}
