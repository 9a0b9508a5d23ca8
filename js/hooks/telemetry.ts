/**
 * OpenTelemetry spans, one for each call, through the host's tracer. The API package is an
 * optional peer: without it `openTelemetry` throws, and `spans` with a given tracer works without
 * it.
 */
import { FilewrightError } from "../engine/errors.ts";
import {
  callback,
  flag,
  optionChecker,
  instance,
  type Options,
  options,
  required,
} from "../schema/option.ts";
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
}

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
 * are included only with `paths`, because they may be private.
 *
 * @example
 * const ws = await openWorkspace({ root: "/repo", observers: [spans(trace.getTracer("agent"))] });
 */
export function spans(tracer: TracerLike, given: SpanOptions = {}): Observer {
  checkTracer(tracer);
  const { paths = false } = checkOptions(given);
  return Object.freeze({
    begin(call: CallBegin): (end: CallEnd) => void {
      const span = tracer.startSpan(`execute_tool ${call.called_as ?? call.tool}`, {
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": call.called_as ?? call.tool,
          "gen_ai.tool.call.id": call.id,
          "filewright.tool": call.tool,
          ...(call.agent === undefined ? {} : { "gen_ai.agent.id": call.agent }),
        },
      });
      return (end) => {
        span.setAttributes({
          "filewright.ok": end.ok,
          "filewright.text_chars": end.text_chars,
          "filewright.truncated": end.truncated,
          ...(end.code === undefined ? {} : { "error.type": end.code }),
          ...(end.approval === undefined ? {} : { "filewright.approval": end.approval.outcome }),
          ...(paths ? { "filewright.paths": end.paths.join("\n") } : {}),
        });
        if (!end.ok) span.setStatus({ code: SPAN_STATUS_ERROR, message: end.code ?? "failed" });
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
export async function openTelemetry(given: SpanOptions = {}): Promise<Observer> {
  const options = checkOpenTelemetryOptions(given);
  try {
    const { trace } = (await import(/* @vite-ignore */ OPEN_TELEMETRY_PACKAGE)) as {
      readonly trace: { getTracer(name: string): TracerLike };
    };
    return spans(trace.getTracer("filewright"), options);
  } catch (cause) {
    throw new FilewrightError("UNSUPPORTED_OPERATION", `${OPEN_TELEMETRY_PACKAGE} is not installed`, {
      hint: `npm install ${OPEN_TELEMETRY_PACKAGE}`,
      cause,
    });
  }
}
