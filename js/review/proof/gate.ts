/**
 * The side of the server: proves that it knows the key that a client names, before the client sends anything of worth,
 * and lets a request pass only with a code by that key. A request counts once: each has a number in its session.
 */
import { tokensAreEqual } from "../../http/access.ts";
import { choiceOf, type Options, optionReader, options, required, text } from "../../schema/option.ts";
import type { NamedKey, ReviewLogin } from "../login.ts";
import { bodyOf, json, refusal } from "../routes/route.ts";
import { hexOf, randomHex } from "../../engine/hex.ts";
import {
  answerProof,
  digestOf,
  type Hello,
  type HelloAnswer,
  helloProof,
  hideKey,
  importKey,
  isStream,
  PROOF_HEADER,
  type ProvenRequest,
  requestProof,
} from "./mac.ts";

/** Returns the key that a hello names; undefined for an unknown one. */
export type FindKey = (hello: Hello, request: Request) => Promise<NamedKey | undefined>;

/** A request with a valid code. */
export interface PassedRequest {
  /** The request with its body. */
  readonly request: Request;
  /** The person whose tab has sent it; undefined for a program. */
  readonly login: ReviewLogin | undefined;
  /** Returns the answer with its code. */
  seal(response: Response): Promise<Response>;
}

/** The gate of a server. */
export interface ProofGate {
  /** Answers the first message of a client. */
  hello(request: Request): Promise<Response>;
  /** Returns a request that has proven its key; undefined for another one. `target` is its path with its query. */
  pass(request: Request, target: string): Promise<PassedRequest | undefined>;
}

/** The form of a hello. */
const HELLO: Options<Hello> = options("Hello", {
  nonce: required(text({ pattern: "^[0-9a-f]{64}$" })),
  kind: required(choiceOf(["ticket", "login", "owner", "token"])),
  id: required(text()),
});
const readHello = optionReader(HELLO);

/** The maximum number of sessions that have proven their key, and of those that have not. With one more, the least recently used one ends. */
const MAX_SESSIONS = 500;
/** The width of the window below the highest number of a session. A number below the window counts as used. */
const NUMBER_WINDOW = 2000;

/** A session, and the numbers of its requests. */
interface Session extends Pick<NamedKey, "key" | "login" | "ends"> {
  readonly used: Set<number>;
  highest: number;
}

/** Creates the gate of a server. `now` returns milliseconds since 1970. */
export function makeProofGate(find: FindKey, now: () => number = Date.now): ProofGate {
  /** Sessions in which no request has come: nobody has proven the key. */
  const fresh = new Map<string, Session>();
  const proven = new Map<string, Session>();

  /** Takes the number of a request that has proven its key, and returns its session. */
  const admit = async (given: ProvenRequest, code: string): Promise<Session | undefined> => {
    const { session: name, number } = given;
    const session = proven.get(name) ?? fresh.get(name);
    if (session === undefined || isUsed(session, number)) return undefined;
    const right = await requestProof(session.key, given);
    // Another request with the same number may have come meanwhile.
    if (!tokensAreEqual(code, right) || isUsed(session, number)) return undefined;
    if (session.ends <= now()) return undefined;
    use(session, number);
    fresh.delete(name);
    proven.delete(name);
    add(proven, name, session);
    return session;
  };

  return {
    async hello(request) {
      const hello = readHello(await bodyOf(request));
      if (hello === undefined) return refusal(400, "a hello has a nonce, a kind and an id");
      const named = await find(hello, request);
      if (named === undefined) return refusal(401, "there is no such key here");
      const { key: proving, login, ends, becomes } = named;
      const session = randomHex(32);
      const about: Omit<HelloAnswer, "proof"> =
        becomes === undefined
          ? { session }
          : {
              session,
              claim: becomes.claim,
              key: hexOf(await hideKey(proving, hello, session, becomes.bytes)),
            };
      const key = becomes === undefined ? proving : await importKey(becomes.bytes);
      add(fresh, session, { key, login, ends, used: new Set(), highest: 0 });
      return json(200, { ...about, proof: await helloProof(proving, hello, about) } satisfies HelloAnswer);
    },
    async pass(request, target) {
      const [, name = "", digits = "", code = ""] =
        /^([0-9a-f]{64}) (\d{1,15}) ([0-9a-f]{64})$/u.exec(request.headers.get(PROOF_HEADER) ?? "") ?? [];
      if (!proven.has(name) && !fresh.has(name)) return undefined;
      const { method, headers, url, signal } = request;
      const body = new Uint8Array(await request.arrayBuffer());
      const number = Number(digits);
      const session = await admit({ session: name, number, method, target, headers, body }, code);
      if (session === undefined) return undefined;
      const hasBody = method !== "GET" && method !== "HEAD";
      return {
        request: new Request(url, { method, headers, signal, body: hasBody ? body : null }),
        login: session.login,
        seal: (response) => seal(session.key, { session: name, number }, response),
      };
    },
  };
}

/** Returns an answer with its code. A stream is proven by its head; its body is not known yet. */
async function seal(
  key: CryptoKey,
  asked: Pick<ProvenRequest, "session" | "number">,
  response: Response,
): Promise<Response> {
  const { status, headers } = response;
  const body = isStream(headers) ? undefined : new Uint8Array(await response.arrayBuffer());
  const digest = body === undefined ? "" : await digestOf(key, body);
  const sealed = new Response(body === undefined ? response.body : body.length === 0 ? null : body, {
    status,
    headers,
  });
  sealed.headers.set(PROOF_HEADER, await answerProof(key, asked, status, digest));
  return sealed;
}

function isUsed({ used, highest }: Session, number: number): boolean {
  return number <= highest - NUMBER_WINDOW || used.has(number);
}

function use(session: Session, number: number): void {
  session.used.add(number);
  session.highest = Math.max(session.highest, number);
  // The list is trimmed only when it is twice too long, so most requests do not walk it.
  if (session.used.size <= 2 * NUMBER_WINDOW) return;
  for (const old of session.used) if (old <= session.highest - NUMBER_WINDOW) session.used.delete(old);
}

function add(sessions: Map<string, Session>, name: string, session: Session): void {
  sessions.set(name, session);
  const [leastRecent] = sessions.keys();
  if (sessions.size > MAX_SESSIONS && leastRecent !== undefined) sessions.delete(leastRecent);
}
