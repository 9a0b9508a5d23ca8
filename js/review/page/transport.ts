/** The requests of the page to its server, and the stream of events. */
import type { ChangeRows, ReviewEvent, ReviewQuestion } from "../protocol.ts";
import type { LoadedRows } from "./store.ts";

/** The path below which the server answers. */
const BASE = "/review";

/** A response that is not a success. */
export class ResponseError extends Error {
  override name = "ResponseError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The connection of a page to its server. */
export interface ReviewTransport {
  /** Logs in with the ticket in the address, if there is one, and removes it from the address. */
  logIn(): Promise<void>;
  /**
   * Sends a request for a path below `/review`, with data or without, and returns the data of the answer.
   * @throws ResponseError with the status 401 without a login
   */
  request(path: string, body?: object): Promise<unknown>;
  /** Listens to the events after the one with the number `seq`. Returns a function that ends it. */
  listen(run: string, seq: number, listener: StreamListener): () => void;
}

/** Reads the rows of all changes of a question, and passes on what has arrived after each page. */
export async function readRows(
  transport: ReviewTransport,
  question: ReviewQuestion & { readonly kind: "change" },
  onRows: (rows: LoadedRows) => void,
): Promise<void> {
  const pages: ChangeRows[] = [];
  try {
    for (let change = 0; change < question.changes.length; change++) {
      for (let from: number | undefined = 0; from !== undefined; ) {
        const path = `approvals/${encodeURIComponent(question.id)}/changes/${change}?from=${from}`;
        const page = (await transport.request(path)) as ChangeRows;
        pages.push(page);
        from = page.next;
        const isComplete = from === undefined && change === question.changes.length - 1;
        onRows({ pages: [...pages], isComplete });
      }
    }
  } catch (error) {
    onRows({ pages, isComplete: false, failure: error instanceof Error ? error.message : String(error) });
  }
}

/** The reactions of a page to its stream of events. */
export interface StreamListener {
  event(event: ReviewEvent): void;
  /** The stream cannot continue: the page must read the state again. */
  reset(): void;
  /** The connection is lost. The browser tries again by itself unless `isEnded`. */
  lost(isEnded: boolean): void;
  /** The connection is there again. */
  back(): void;
}

/** Connects the page to the server that it came from. */
export function serverTransport(): ReviewTransport {
  return { logIn, request, listen };
}

async function logIn(): Promise<void> {
  const [, ticket] = /^#t=([0-9a-f]+)$/u.exec(location.hash) ?? [];
  if (ticket === undefined) return;
  history.replaceState(null, "", location.pathname);
  await request("login", { ticket });
}

function listen(run: string, seq: number, listener: StreamListener): () => void {
  const source = new EventSource(`${BASE}/events?after=${encodeURIComponent(`${run}:${seq}`)}`);
  source.onopen = () => listener.back();
  source.onerror = () => listener.lost(source.readyState === EventSource.CLOSED);
  source.onmessage = ({ data }) => {
    const event = JSON.parse(String(data)) as ReviewEvent | { readonly type: "reset" };
    if (event.type !== "reset") return listener.event(event);
    source.close();
    listener.reset();
  };
  return () => source.close();
}

async function request(path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${BASE}/${path}`, {
    credentials: "same-origin",
    redirect: "error",
    ...(body === undefined
      ? {}
      : {
          method: "POST",
          headers: { "content-type": "application/json", "x-filewright-review": "1" },
          body: JSON.stringify(body),
        }),
  });
  if (response.ok) return response.json();
  const text = await response.text();
  throw new ResponseError(response.status, messageOf(text) ?? `the server answered ${response.status}`);
}

function messageOf(text: string): string | undefined {
  try {
    const { error, by } = JSON.parse(text) as { readonly error?: string; readonly by?: string };
    return by === undefined ? error : `${error} (answered by ${by})`;
  } catch {
    return undefined;
  }
}
