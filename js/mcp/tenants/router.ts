/**
 * Passes each request to the workspace that its token names. Every workspace has a handler of its own, so that nothing
 * of a client, such as a subscription, a log level or an approval, is shared with the clients of another workspace.
 */
import { type Code, FilewrightError } from "../../engine/errors.ts";
import { refusalResponse } from "../auth/gate.ts";
import type { TokenFacts } from "../auth/oauth.ts";
import type { McpHandler } from "../transport/handler.ts";
import type { CallQuota } from "./call-quota.ts";
import { type OpenWorkspaceLimits, OpenWorkspaces } from "./open-workspaces.ts";

/** The maximum number of open workspaces. A workspace that is closed is opened again by its next request. */
export const MAX_OPEN_WORKSPACES = 256;
/** The maximum number of requests at once in one workspace of several: half of those that a server answers at once. */
export const MAX_REQUESTS_OF_WORKSPACE = 128;
/** The maximum time in milliseconds to wait until a workspace is open. */
export const MAX_OPEN_MS = 30_000;
/** The time in milliseconds after which one of several workspaces is closed when it has had no request. */
export const MAX_IDLE_MS = 600_000;

/** A workspace that answers requests. */
export interface ServedTenant {
  readonly handler: McpHandler;
  /** Counts requests; undefined where their number is not limited. */
  readonly quota?: CallQuota | undefined;
  /** Refuses further calls. Resolves when no call is running. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** How requests find their workspace. */
export interface RouterOptions<N> {
  /** Returns the workspace of a request, or the answer to a request that has none. */
  name(facts: TokenFacts | undefined): N | Response;
  /** Returns a text that is the same for the same workspace alone. */
  key(name: N): string;
  /** Opens a workspace. The signal is aborted when no request waits for it any more. */
  open(name: N, signal: AbortSignal): Promise<ServedTenant>;
  /** The error codes of `open` for a workspace that does not exist. Further ones mean that it cannot be opened now. */
  readonly refusals: ReadonlySet<Code>;
  readonly limits: OpenWorkspaceLimits;
  /** Called with the error of a workspace that could not be opened. */
  onerror(error: unknown): void;
}

/** A handler for several workspaces. */
export interface WorkspaceRouter<N> extends McpHandler {
  /** Opens a workspace before its first request. Rejects when it cannot be opened. */
  warm(name: N): Promise<void>;
  /** Refuses further calls in all workspaces. Resolves when no call is running. */
  drainCalls(): Promise<void>;
}

/** Creates the handler. */
export function routeToWorkspaces<N>({
  name,
  key,
  open,
  refusals,
  limits,
  onerror,
}: RouterOptions<N>): WorkspaceRouter<N> {
  const workspaces = new OpenWorkspaces<ServedTenant>(limits);
  let isDraining = false;
  const lease = (named: N): ReturnType<typeof workspaces.lease> =>
    workspaces.lease(key(named), (signal) => open(named, signal));
  return {
    async warm(first) {
      const taken = await lease(first);
      if (isLease(taken)) taken.release();
    },
    async fetch(request, facts) {
      const named = name(facts);
      if (named instanceof Response) return named;
      if (isDraining) return unavailable("the server is shutting down");
      // A program may throw anything, also a text, so an error is kept apart from a refusal.
      const tried = await lease(named).then(
        (taken) => ({ taken }),
        (error: unknown) => ({ error }),
      );
      if ("error" in tried) {
        const { error } = tried;
        onerror(error);
        const { code } = error instanceof FilewrightError ? error : { code: "INTERNAL" as const };
        return refusals.has(code)
          ? refusalResponse(403, "the token names no workspace of this server", {}, code)
          : unavailable("the workspace cannot be opened now", code);
      }
      const { taken } = tried;
      if (!isLease(taken)) return unavailable(taken);
      const { opened, release } = taken;
      try {
        const counted = await takeFromQuota(request, opened.quota);
        const response = counted instanceof Response ? counted : await opened.handler.fetch(counted, facts);
        return releasedAtEnd(response, request.signal, release);
      } catch (error) {
        release();
        throw error;
      }
    },
    drain() {
      void workspaces.each(({ handler }) => handler.drain());
    },
    drainCalls() {
      isDraining = true;
      return workspaces.each((opened) => opened.drain());
    },
    async close() {
      await workspaces.each(({ handler }) => handler.close());
      await workspaces.close();
    },
  };
}

/**
 * Takes the messages of a request from a quota. Returns the request with its body unread, or the answer where the quota
 * does not suffice for all of them.
 */
async function takeFromQuota(request: Request, quota: CallQuota | undefined): Promise<Request | Response> {
  if (quota === undefined) return request;
  const { url, method, headers, signal } = request;
  const body = request.body === null ? undefined : await request.text();
  if (!(await quota.take(countMessages(body ?? ""), signal)))
    return refusalResponse(429, "this workspace has made its calls of this minute", { "retry-after": "10" });
  return body === undefined ? request : new Request(url, { method, headers, body, signal });
}

/** Returns the number of messages in a body: those of a batch, otherwise one. */
function countMessages(body: string): number {
  // Most bodies are one message, which is no reason to parse the text twice.
  if (!/^\s*\[/u.test(body)) return 1;
  try {
    const messages: unknown = JSON.parse(body);
    return Array.isArray(messages) ? Math.max(1, messages.length) : 1;
  } catch {
    return 1;
  }
}

interface TakenLease {
  readonly opened: ServedTenant;
  release(): void;
}

function isLease(value: unknown): value is TakenLease {
  return typeof (value as Partial<TakenLease> | null)?.release === "function";
}

function unavailable(why: string, code?: Code): Response {
  return refusalResponse(503, `${why}; try again in a second`, { "retry-after": "1" }, code);
}

/**
 * Releases a workspace at the end of an answer. A stream ends later than its response begins: with its last event, or
 * when its client disconnects.
 */
function releasedAtEnd(response: Response, signal: AbortSignal, release: () => void): Response {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (response.body === null || !isStream || signal.aborted) {
    release();
    return response;
  }
  signal.addEventListener("abort", release, { once: true });
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      flush: () => {
        signal.removeEventListener("abort", release);
        release();
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}
