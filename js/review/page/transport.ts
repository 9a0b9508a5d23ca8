/** The requests of the page to its server, and the stream of events. */
import type { ChangeRows, ReviewAnswer, ReviewEvent, ReviewQuestion, ReviewSnapshot } from "../protocol.ts";
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

/** Logs in with the ticket in the address, if there is one, and removes it from the address. */
export async function logIn(): Promise<void> {
  const [, ticket] = /^#t=([0-9a-f]+)$/u.exec(location.hash) ?? [];
  if (ticket === undefined) return;
  history.replaceState(null, "", location.pathname);
  await post("login", { ticket });
}

/** Reads the state. @throws ResponseError with the status 401 without a login */
export function readSnapshot(): Promise<ReviewSnapshot> {
  return request("state") as Promise<ReviewSnapshot>;
}

/** Sends the answer to a question. @throws ResponseError */
export async function sendAnswer(id: string, answer: ReviewAnswer): Promise<void> {
  await post(`approvals/${encodeURIComponent(id)}`, answer);
}

/** Reads the rows of all changes of a question, and passes on what has arrived after each page. */
export async function readRows(
  question: ReviewQuestion & { readonly kind: "change" },
  onRows: (rows: LoadedRows) => void,
): Promise<void> {
  const pages: ChangeRows[] = [];
  try {
    for (let change = 0; change < question.changes.length; change++) {
      for (let from: number | undefined = 0; from !== undefined; ) {
        const path = `approvals/${encodeURIComponent(question.id)}/changes/${change}?from=${from}`;
        const page = (await request(path)) as ChangeRows;
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

/** Listens to the events after the one with the number `seq`. Returns a function that ends it. */
export function listen(run: string, seq: number, listener: StreamListener): () => void {
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

function post(path: string, body: unknown): Promise<unknown> {
  return request(path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-filewright-review": "1" },
    body: JSON.stringify(body),
  });
}

async function request(path: string, init: RequestInit = {}): Promise<unknown> {
  const response = await fetch(`${BASE}/${path}`, { ...init, credentials: "same-origin", redirect: "error" });
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
