/**
 * The answers to probes: `/health` while the process answers at all, and `/ready` while it takes calls. Probes send no
 * token, and their answers say nothing else.
 */
import { fulfilledWithin } from "../../http/limits.ts";

/** The path that tells whether the process answers. */
const HEALTH_PATH = "/health";
/** The path that tells whether the server takes calls. */
const READY_PATH = "/ready";

/** The paths of probes, which are answered under any host name and beyond the limits of requests. */
export const PROBE_PATHS: readonly string[] = [HEALTH_PATH, READY_PATH];

/** The time in milliseconds in which an engine has to answer. */
const MAX_TRIP_MS = 2000;
/** The time in milliseconds for which an answer of the engine is repeated, so that probes cannot load it. */
const REPEATED_MS = 500;

/** The state of a server, as probes need it. */
export interface ProbedServer {
  isDraining(): boolean;
  /** Makes one round trip to the engine; undefined where there is none. Rejects when it does not answer. */
  ping?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

/** Answers a request for one of {@link PROBE_PATHS}; undefined for another path. */
export type AnswerProbe = (request: Request) => Promise<Response> | undefined;

/** Creates the function that answers probes. */
export function makeProbeAnswers({ isDraining, ping }: ProbedServer): AnswerProbe {
  let last: { readonly until: number; readonly answers: Promise<boolean> } | undefined;
  const engineAnswers = (): Promise<boolean> => {
    const now = performance.now();
    if (last !== undefined && now < last.until) return last.answers;
    const answers = ping === undefined ? Promise.resolve(true) : answersInTime(ping);
    last = { until: Number.POSITIVE_INFINITY, answers };
    // Probes that arrive while one waits share its answer.
    void answers.then(() => {
      last = { until: performance.now() + REPEATED_MS, answers };
    });
    return answers;
  };
  const isReady = async (): Promise<boolean> => !isDraining() && (await engineAnswers()) && !isDraining();
  return (request) => {
    const { pathname } = new URL(request.url);
    if (!PROBE_PATHS.includes(pathname)) return undefined;
    if (request.method !== "GET" && request.method !== "HEAD")
      return Promise.resolve(answer(405, "GET only"));
    if (pathname === HEALTH_PATH) return Promise.resolve(answer(200, "ok"));
    return isReady().then((ready) => (ready ? answer(200, "ready") : answer(503, "not ready")));
  };
}

async function answersInTime(ping: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
  const late = new AbortController();
  try {
    return await fulfilledWithin(ping(late.signal), MAX_TRIP_MS);
  } catch {
    return false;
  } finally {
    late.abort();
  }
}

function answer(status: number, text: string): Response {
  return new Response(`${text}\n`, { status, headers: { "cache-control": "no-store" } });
}
