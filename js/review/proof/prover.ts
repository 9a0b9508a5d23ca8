/**
 * The side of a client: sends nothing of worth before the server has proven that it knows the key, proves each request
 * by a code, and believes an answer only with a code of the server. The key is never sent, so a program that merely
 * listens at the port of a server that has ended learns nothing and can answer nothing.
 */
import { bytesOfHex, randomHex } from "../../engine/hex.ts";
import {
  answerProof,
  digestOf,
  type Hello,
  type HelloAnswer,
  helloProof,
  hideKey,
  isStream,
  PROOF_HEADER,
  type ProofKey,
  requestProof,
  REVIEW_HEADER,
} from "./mac.ts";

/** The key that a client names, and shares with the server. */
export interface Credential extends Pick<Hello, "kind" | "id"> {
  readonly key: ProofKey;
}

/** Thrown when a server has not proven itself. `status`: 401 where it knows no such key, otherwise what it answered. */
export class UnprovenError extends Error {
  override name = "UnprovenError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The status of {@link UnprovenError} for an answer of a program that is not the server. */
export const FOREIGN = 0;

/** A request of a client. */
export interface ProverRequest {
  /** JSON that is posted; undefined to read. */
  readonly body?: Uint8Array<ArrayBuffer> | string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** True when the body of the answer may come in parts, as events and files do: it is proven by its head alone. */
  readonly mayStream?: boolean | undefined;
}

/** A client of a server. */
export interface Prover {
  /** Sends a request for a path below the address of the server. @throws UnprovenError */
  send(path: string, request?: ProverRequest): Promise<Response>;
  /** Has the server prove itself before the next request: a connection has broken, so another one may have its port. */
  renew(): void;
}

/** The time in milliseconds within which a server must prove itself. */
const HELLO_MS = 5000;

/** The state that a client and a server share. */
interface Session {
  readonly name: string;
  readonly key: ProofKey;
  count: number;
}

/**
 * Creates a client of the server at `base`, such as `http://127.0.0.1:4748/review`. Nothing is sent before the first
 * request. `credential` may become another one: a ticket becomes the login that it opens.
 */
export function makeProver(base: string, credential: () => Promise<Credential>): Prover {
  let known: Promise<Credential> | undefined;
  let session: Promise<Session> | undefined;

  const open = async (): Promise<Session> => {
    known ??= credential();
    const given = await known;
    const { opened, becomes } = await sayHello(base, given);
    known = Promise.resolve(becomes);
    return opened;
  };
  const drop = (old: Promise<Session>): void => {
    if (session === old) session = undefined;
  };

  const attempt = async (path: string, request: ProverRequest): Promise<Response | undefined> => {
    session ??= open();
    const used = session;
    const opened = await used.catch((error: unknown) => {
      drop(used);
      throw error;
    });
    const { url, init, proven } = await provenRequest(opened, base, path, request);
    const response = await fetch(url, init).catch((error: unknown) => {
      drop(used);
      throw error;
    });
    if (await isProven(response, opened.key, proven, request.mayStream === true)) return response;
    drop(used);
    await response.body?.cancel();
    // A server that was started again knows no session, and proves itself once more.
    if (response.status === UNAUTHORIZED) return undefined;
    throw new UnprovenError(response.status, `the server answered ${response.status} without its proof`);
  };

  return {
    async send(path, request = {}) {
      const response = (await attempt(path, request)) ?? (await attempt(path, request));
      if (response !== undefined) return response;
      throw new UnprovenError(UNAUTHORIZED, "the server does not accept the key of this page");
    },
    renew() {
      session = undefined;
    },
  };
}

const UNAUTHORIZED = 401;

/** Has the server prove itself. Returns the session, and the credential for the next one. */
async function sayHello(
  base: string,
  given: Credential,
): Promise<{ readonly opened: Session; readonly becomes: Credential }> {
  const { kind, id, key } = given;
  const hello: Hello = { nonce: randomHex(32), kind, id };
  const answer = await answerTo(`${base}/hello`, hello);
  const { session: name = "", claim = "", key: hidden = "", proof } = { ...answer };
  const right = await helloProof(key, hello, { session: name, claim, key: hidden });
  if (proof !== right)
    throw new UnprovenError(FOREIGN, "another program answers at this address, and cannot prove itself");
  if (kind !== "ticket") return { opened: { name, key, count: 0 }, becomes: given };
  const login = await hideKey(key, hello, name, bytesOfHex(hidden));
  return { opened: { name, key: login, count: 0 }, becomes: { kind: "login", id: claim, key: login } };
}

/** Sends a hello. @throws UnprovenError for an answer that is none */
async function answerTo(url: string, hello: Hello): Promise<Partial<HelloAnswer> | undefined> {
  // `AbortSignal.timeout` is not kept by a request, and may be collected before its time.
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), HELLO_MS);
  try {
    const response = await fetch(url, {
      method: "POST",
      credentials: "omit",
      redirect: "error",
      headers: { "content-type": "application/json", [REVIEW_HEADER]: "1" },
      body: JSON.stringify(hello),
      signal: late.signal,
    });
    const { ok, status } = response;
    const answer = (await response.json().catch(() => undefined)) as Partial<HelloAnswer> | undefined;
    if (ok) return answer;
    throw new UnprovenError(status, `the server knows no such key (${status})`);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns a request with its code. */
async function provenRequest(session: Session, base: string, path: string, request: ProverRequest) {
  session.count += 1;
  const number = session.count;
  const { body = "", signal = null } = request;
  const method = request.body === undefined ? "GET" : "POST";
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const headers = new Headers(request.headers);
  if (method === "POST") headers.set("content-type", "application/json");
  headers.set(REVIEW_HEADER, "1");
  const url = `${base}/${path}`;
  const target = targetOf(url, base);
  const proven = { session: session.name, number, method, target, headers, body: bytes };
  const code = await requestProof(session.key, proven);
  headers.set(PROOF_HEADER, `${session.name} ${number} ${code}`);
  const init: RequestInit = {
    ...{ method, headers, signal, credentials: "omit", redirect: "error" },
    // A browser would answer from its cache with the code of another request.
    cache: "no-store",
    body: method === "POST" ? bytes : null,
  };
  return { url, init, proven };
}

/** Returns the path below `base` with its query, as the server sees it. */
function targetOf(url: string, base: string): string {
  // An address of a page is relative to the page, which has an origin; that of a program is absolute.
  const origin = "http://server";
  const { pathname, search } = new URL(url, origin);
  return pathname.slice(new URL(`${base}/`, origin).pathname.length) + search;
}

/** Returns true when an answer has the code of the server. The body stays to be read. */
async function isProven(
  response: Response,
  key: ProofKey,
  asked: { readonly session: string; readonly number: number },
  mayStream: boolean,
): Promise<boolean> {
  const { status, headers } = response;
  const code = headers.get(PROOF_HEADER);
  if (code === null) return false;
  const digest =
    mayStream && isStream(headers)
      ? ""
      : await digestOf(key, new Uint8Array(await response.clone().arrayBuffer()));
  return code === (await answerProof(key, asked, status, digest));
}
