/** The connections of a page to its hub: to a server, over HTTP. `hub-transport.ts` has the one without a server. */
import type { ReviewEvent } from "./protocol.ts";
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
  /** Returns the address of a file below `/review`, for pictures and for the editor; absent without a server. */
  address?(path: string): string;
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
  const [, ticket] = /^t=([0-9a-f]+)$/u.exec(fragment) ?? [];
  return { base: before.replace(/\/+$/u, ""), ticket };
}

/**
 * Connects a page to a server of the same origin.
 *
 * @param address the address of the review page, with a ticket or without, as `link()` and `ticket()` return it
 */
export function serverTransport(address: string): ReviewTransport {
  const { base, ticket } = addressOf(address);
  let unused = ticket;
  const request = (path: string, body?: object): Promise<unknown> => requestJson(`${base}/${path}`, body);
  return {
    request,
    address: (path) => `${base}/${path}`,
    async logIn(): Promise<void> {
      const given = unused;
      unused = undefined;
      if (given !== undefined) await request("login", { ticket: given });
    },
    listen: shareStream(`filewright-review ${base}`, (run, seq, listener) => {
      const source = new EventSource(`${base}/events?after=${encodeURIComponent(`${run}:${seq}`)}`);
      source.onopen = () => listener.back();
      source.onerror = () => listener.lost(source.readyState === EventSource.CLOSED);
      source.onmessage = ({ data }) => {
        const event = JSON.parse(String(data)) as ReviewEvent | { readonly type: "reset" };
        if (event.type !== "reset") return listener.event(event);
        source.close();
        listener.reset();
      };
      return () => source.close();
    }),
  };
}

async function requestJson(address: string, body: object | undefined): Promise<unknown> {
  const response = await fetch(address, {
    credentials: "same-origin",
    redirect: "error",
    ...(body === undefined
      ? {}
      : {
          method: "POST",
          headers: { "content-type": "application/json", "x-filewright-review": "1" },
          body: JSON.stringify(body),
        }),
  }).catch((cause: unknown) => {
    // The words of browsers for this differ, and say nothing to a person.
    throw new Error("the server does not answer", { cause });
  });
  return dataOf(response);
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
