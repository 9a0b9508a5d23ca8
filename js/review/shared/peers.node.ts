/**
 * The processes that share a page. Each serves its own page on loopback. One that joins asks the server of the shared
 * page for a stream, which lasts as long as both want; that server follows the events of the process as a page does, and
 * passes requests on to it. Both prove that they have the key of the owner.
 */
import { setTimeout as delay } from "node:timers/promises";
import { VERSION } from "../../engine/generated/version.ts";
import { integer, optionReader, options, required, text } from "../../schema/option.ts";
import type { ReviewLogin } from "../login.ts";
import { authorityOf, ownerKeyFor } from "../proof/keys.ts";
import { NAME_HEADER, ROLE_HEADER } from "../proof/mac.ts";
import { makeProver, type Prover, type ProverRequest } from "../proof/prover.ts";
import type { ReviewSnapshot } from "../protocol.ts";
import { bodyOf, json, refusal } from "../routes/route.ts";
import { sentEvents } from "../sent-events.ts";
import { eventsOfSnapshot, type SharedReview, type ShownSource } from "./shared.ts";

/** The number of processes that may join. */
const MAX_PEERS = 200;
/** The time in milliseconds in which a process must begin to answer a request. */
const ANSWER_MS = 60_000;
/** The time in milliseconds after which a stream of events that has ended is asked for again. */
const RETRY_MS = 200;
/** The interval of the comments that show both sides whether the other one is there. */
const COMMENT_INTERVAL_MS = 15_000;
/** The headers of a request that its process needs, and those of an answer that reach the page. */
const REQUEST_HEADERS: readonly string[] = ["if-none-match", "range"];
const ANSWER_HEADERS: readonly string[] = [
  "cache-control",
  "content-disposition",
  "content-type",
  "etag",
  "retry-after",
];

/** The body of `POST /review/peers`. */
interface JoinBody {
  /** The version of the package of the process. Only equal ones understand each other's events. */
  readonly version: string;
  /** The port of its own page. */
  readonly port: number;
}

const readJoin = optionReader(
  options<JoinBody>("JoinBody", { version: required(text()), port: required(integer(1, 65_535)) }),
);

/** Connects to the page at a port of this machine as its owner. */
export function ownerProver(owner: Promise<CryptoKey>, port: number): Prover {
  const base = new URL(`http://127.0.0.1:${port}/review`);
  const authority = authorityOf(base);
  return makeProver(base.href, async () => ({
    kind: "owner",
    id: authority,
    key: await ownerKeyFor(await owner, authority),
  }));
}

/** Returns the answer to processes that join a page. */
export function acceptPeers(
  shared: SharedReview,
  owner: Promise<CryptoKey>,
): (request: Request) => Promise<Response> {
  let count = 0;
  return async (request) => {
    const joining = readJoin(await bodyOf(request));
    if (joining === undefined) return refusal(400, "a process has a version and a port");
    if (joining.version !== VERSION) return refusal(409, `the page is of version ${VERSION}`);
    if (count >= MAX_PEERS) return refusal(409, `the page has ${MAX_PEERS} processes`);
    count += 1;
    const peer = new AbortController();
    peer.signal.addEventListener("abort", () => {
      count -= 1;
    });
    request.signal.addEventListener("abort", () => peer.abort());
    void showPeer(shared, ownerProver(owner, joining.port), peer.signal)
      .catch(() => {}) // It has ended, or has sent what is no event.
      .finally(() => peer.abort());
    return new Response(heldStream(peer), { headers: { "content-type": "text/event-stream" } });
  };
}

/** Returns a stream without events that lasts until `peer` is aborted, and aborts it when the other side leaves. */
function heldStream(peer: AbortController): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(controller) {
      const say = (): void => controller.enqueue(new TextEncoder().encode(":\n\n"));
      say();
      const timer = setInterval(say, COMMENT_INTERVAL_MS);
      timer.unref();
      peer.signal.addEventListener("abort", () => {
        clearInterval(timer);
        try {
          controller.close();
        } catch {
          // The other side has cancelled it.
        }
      });
    },
    cancel: () => peer.abort(),
  });
}

/** Shows the questions and calls of a process until it leaves, or until `signal` is aborted. */
async function showPeer(shared: SharedReview, prover: Prover, signal: AbortSignal): Promise<void> {
  const state = await prover.send("state", { signal });
  if (!state.ok || signal.aborted) return;
  const snapshot = (await state.json()) as ReviewSnapshot;
  const source = shared.add({
    answer: (request, path, login) => askPeer(prover, signal, passedOn(request, path, login)),
  });
  try {
    for (const event of eventsOfSnapshot(snapshot)) if (!source.tell(event)) return;
    await followPeer(source, prover, { last: `${snapshot.run}:${snapshot.state.seq}`, signal });
  } finally {
    source.leave();
  }
}

/** Shows the events of a process after the one with the id `last`. Returns when it has sent something else. */
async function followPeer(
  source: ShownSource,
  prover: Prover,
  { last, signal }: { readonly last: string; readonly signal: AbortSignal },
): Promise<void> {
  for (let after = last; ; await delay(RETRY_MS, undefined, { signal })) {
    const path = `events?after=${encodeURIComponent(after)}`;
    prover.renew();
    const { ok, body } = await prover.send(path, { signal, mayStream: true });
    if (!ok || body === null) return;
    for await (const { id, data } of sentEvents(body, signal)) {
      if (!source.tell(data)) return;
      after = id ?? after;
    }
  }
}

/** A request as it is passed on: its path with its query, and what the process needs of it. */
interface PassedOn extends Pick<ProverRequest, "headers"> {
  readonly target: string;
  /** Undefined for a read. */
  readonly body: Promise<ArrayBuffer> | undefined;
}

function passedOn(request: Request, path: string, { role, by }: ReviewLogin): PassedOn {
  const passed = [...request.headers].filter(([name]) => REQUEST_HEADERS.includes(name));
  return {
    target: path + new URL(request.url).search,
    body: request.method === "POST" ? request.arrayBuffer() : undefined,
    headers: {
      ...Object.fromEntries(passed),
      [ROLE_HEADER]: role,
      [NAME_HEADER]: encodeURIComponent(by.toWellFormed()),
    },
  };
}

/** Passes a request on to the process that it is about. */
async function askPeer(
  prover: Prover,
  ended: AbortSignal,
  { target, body: given, headers: passed }: PassedOn,
): Promise<Response> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ANSWER_MS);
  try {
    const { status, headers, body } = await prover.send(target, {
      body: given === undefined ? undefined : new Uint8Array(await given),
      headers: passed,
      signal: AbortSignal.any([ended, late.signal]),
      mayStream: true,
    });
    const answered = [...headers].filter(([name]) => ANSWER_HEADERS.includes(name));
    return new Response(body, { status, headers: Object.fromEntries(answered) });
  } catch {
    return late.signal.aborted
      ? refusal(504, "its process does not answer")
      : json(410, { error: "its process has ended", reason: "withdrawn" });
  } finally {
    clearTimeout(timer);
  }
}

/** The end of an attempt to join. `refused` says why the page does not take this process. */
export type JoinAttempt =
  | { readonly result: "absent" }
  | { readonly result: "refused"; readonly why: string }
  | { readonly result: "joined"; readonly ended: Promise<void> };

/** Joins the page at `port`; `own` is the port of the page of this process. It leaves when `signal` is aborted. */
export async function joinPage(prover: Prover, own: number, signal: AbortSignal): Promise<JoinAttempt> {
  const request = { body: JSON.stringify({ version: VERSION, port: own } satisfies JoinBody), signal };
  prover.renew();
  const answer = await prover.send("peers", { ...request, mayStream: true }).catch(() => undefined);
  if (answer?.ok !== true || answer.body === null) {
    const { error } = {
      ...((await answer?.json().catch(() => undefined)) as { error?: string } | undefined),
    };
    return error === undefined ? { result: "absent" } : { result: "refused", why: error };
  }
  const { body } = answer;
  return { result: "joined", ended: untilEnd(body, signal) };
}

async function untilEnd(body: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<void> {
  const reader = body.getReader();
  // The signal of a request does not reliably end its body once the response is there.
  signal.addEventListener("abort", () => void reader.cancel().catch(() => {}), { once: true });
  try {
    while (!(await reader.read()).done);
  } catch {
    // The process that served the page was killed.
  }
}
