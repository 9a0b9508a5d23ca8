/** The connections of a page to its hub: to a server, over HTTP. `hub-transport.ts` has the one without a server. */
import type { ReviewEvent } from "./protocol.ts";
import { bytesOfHex } from "../engine/hex.ts";
import { TICKET_ID_LENGTH } from "./proof/mac.ts";
import { makeProver, type Prover, type ProverRequest, UnprovenError } from "./proof/prover.ts";
import { sentEvents } from "./sent-events.ts";
import { shareStream, type StreamListener } from "./shared-stream.ts";

/** An answer that is not a success. */
export class ResponseError extends Error {
  override name = "ResponseError";
  /** The HTTP status of the answer, such as 401 without a login. */
  readonly status: number;
  /** The data of the answer; undefined when it is no JSON. */
  readonly data: unknown;

  constructor(status: number, message: string, data?: unknown) {
    super(message);
    this.status = status;
    this.data = data;
  }
}

/** The lowest status with which a server, or a proxy before it, says that it has failed. */
const SERVER_ERROR = 500;

/** Returns true for an error after which it is not known whether the server has done what was asked. */
export function isUnanswered(error: unknown): boolean {
  return !(error instanceof ResponseError) || error.status >= SERVER_ERROR;
}

/** Returns the HTTP status of an answer that is no success; undefined for an error without an answer. */
export function statusOf(error: unknown): number | undefined {
  return error instanceof Error ? (error as Partial<ResponseError>).status : undefined;
}

/** The connection of a page to its hub. `filewright/review` has one to a hub in the same program, `hubTransport`. */
export interface ReviewTransport {
  /** Logs in where a ticket has been given, and forgets the ticket. */
  logIn(): Promise<void>;
  /**
   * Sends a request for a path below `/review`, with data or without, and returns the data of the answer.
   * @throws Error with the member `status` 401 without a login
   */
  request(path: string, body?: object): Promise<unknown>;
  /** Returns the address of a script below `/review`, such as the editor; absent without a server. */
  script?(path: string): string;
  /** Returns a file below `/review`, such as a picture; absent without a server. */
  file?(path: string): Promise<File>;
  /** Listens to the events after the one with the number `seq`. Returns a function that ends it. */
  listen(run: string, seq: number, listener: StreamListener): () => void;
}

/** The address of a review page, such as `/review`, with or without a ticket. */
interface ReviewAddress {
  /** The path below which the server answers. */
  readonly base: string;
  readonly ticket: string | undefined;
}

/** Returns the parts of the address of a review page. `#t=…` at its end is a ticket. */
function addressOf(address: string): ReviewAddress {
  const [before = "", fragment = ""] = address.split("#", 2);
  const [, ticket] = /^t=([0-9a-f]{64})$/u.exec(fragment) ?? [];
  return { base: before.replace(/\/+$/u, ""), ticket };
}

/**
 * The connections of this tab by the paths of their servers: each has the key of a login, which is nowhere else. So the
 * parts of a page need one ticket together, and a tab that is loaded again needs a new one.
 */
const proverByBase = new Map<string, Prover>();

/** Returns the prover of a ticket. */
function proverOf(base: string, ticket: string): Prover {
  return makeProver(base, async () => ({
    kind: "ticket",
    id: ticket.slice(0, TICKET_ID_LENGTH),
    key: bytesOfHex(ticket.slice(TICKET_ID_LENGTH)),
  }));
}

/**
 * Connects a page to a server of the same origin.
 *
 * @param address the address of the review page, with a ticket or without, as `link()` and `ticket()` return it
 */
export function serverTransport(address: string): ReviewTransport {
  const { base, ticket } = addressOf(address);
  let unused = ticket;
  const send = (path: string, request?: ProverRequest): Promise<Response> => {
    const prover = proverByBase.get(base);
    if (prover === undefined)
      throw new ResponseError(UNAUTHORIZED, "this page has no login: filewright review prints a link");
    return prover.send(path, request);
  };
  const sendToServer = (path: string, request?: ProverRequest): Promise<Response> =>
    Promise.resolve()
      .then(() => send(path, request))
      .catch((cause: unknown) => {
        if (cause instanceof UnprovenError || cause instanceof ResponseError) throw cause;
        // The words of browsers for this differ, and say nothing to a person.
        throw new Error("the server does not answer", { cause });
      });
  return {
    async logIn(): Promise<void> {
      const given = unused;
      unused = undefined;
      if (given !== undefined) proverByBase.set(base, proverOf(base, given));
    },
    request: async (path, body) =>
      dataOf(await sendToServer(path, { body: body === undefined ? undefined : JSON.stringify(body) })),
    script: (path) => `${base}/${path}`,
    async file(path) {
      const response = await sendToServer(path, { mayStream: true });
      if (!response.ok) await dataOf(response);
      const [, name = ""] =
        /filename="([^"]+)"/u.exec(response.headers.get("content-disposition") ?? "") ?? [];
      const blob = await response.blob();
      return new File([blob], name, { type: blob.type });
    },
    listen: shareStream(`filewright-review ${base}`, (run, seq, listener) =>
      readStream(
        { send: sendToServer, renew: () => proverByBase.get(base)?.renew() },
        { run, seq },
        listener,
      ),
    ),
  };
}

/** The time in milliseconds after which a stream that has ended is asked for again. */
const RETRY_MS = 1000;
const UNAUTHORIZED = 401;

/** Reads the events of a server until it is ended by the function that it returns. It connects again by itself. */
function readStream(
  { send, renew }: Prover,
  from: { readonly run: string; readonly seq: number },
  listener: StreamListener,
): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  let { seq } = from;
  /** Reads one connection. Returns true when another one may go on after it. */
  const readOnce = async (): Promise<boolean> => {
    const path = `events?after=${encodeURIComponent(`${from.run}:${seq}`)}`;
    const response = await send(path, { signal, mayStream: true });
    if (!response.ok || response.body === null) return response.status >= SERVER_ERROR;
    listener.back();
    for await (const { data } of sentEvents(response.body, signal)) {
      const event = data as ReviewEvent | { readonly type: "reset" };
      if (event.type === "reset") {
        listener.reset();
        return false;
      }
      ({ seq } = event);
      listener.event(event);
    }
    return true;
  };
  const readAll = async (): Promise<void> => {
    for (let isGoingOn = true; isGoingOn && !signal.aborted; ) {
      isGoingOn = await readOnce().catch((error: unknown) => statusOf(error) === undefined);
      if (signal.aborted) return;
      renew();
      listener.lost(!isGoingOn);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  };
  void readAll();
  return () => ending.abort();
}

/** Returns the data of an answer. @throws ResponseError for one that is not a success */
export async function dataOf(response: Response): Promise<unknown> {
  if (response.ok) return response.json();
  const data: unknown = await response.json().catch(() => undefined);
  const message = messageOf(data) ?? `the server answered ${response.status}`;
  throw new ResponseError(response.status, message, data);
}

function messageOf(data: unknown): string | undefined {
  const { error, by } = { ...(data as { readonly error?: string; readonly by?: string } | undefined) };
  return by === undefined ? error : `${error} (answered by ${by})`;
}
