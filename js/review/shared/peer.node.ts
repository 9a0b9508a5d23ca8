/** The side of a process whose questions another process shows on its page. */
import { createConnection } from "node:net";
import { VERSION } from "../../engine/generated/version.ts";
import type { ReviewResponder } from "../http.ts";
import type { StoredLogin } from "../login.ts";
import type { ReviewQuestion, UnnumberedEvent } from "../protocol.ts";
import { refusal } from "../routes/route.ts";
import { connectLink, type LinkConnection } from "./connection.node.ts";
import { FrameError, MAX_BODY_BYTES } from "./frames.ts";
import { readHostMessage, type RequestMessage } from "./messages.ts";

/** The time in milliseconds in which a page must answer to a new process. */
const WELCOME_MS = 3000;
/** The headers of a response that reach the page. */
const PASSED_HEADERS: readonly string[] = [
  "cache-control",
  "content-disposition",
  "content-type",
  "etag",
  "retry-after",
];

/** The data with which a process joins a page. */
export interface PeerOptions {
  /** Answers the requests of the page. */
  readonly responder: ReviewResponder;
  /** Calls `tell` with each event of the hub until now and each later one. Returns a function that ends it. */
  readonly followHub: (tell: (event: UnnumberedEvent) => void) => () => void;
  /** Called with each login of the page. */
  readonly onLogin: (login: StoredLogin) => void;
}

/** The end of an attempt to join. `refused` says why the page does not take this process. */
export type JoinAttempt =
  | { readonly result: "absent" }
  | { readonly result: "refused"; readonly why: string }
  | { readonly result: "joined"; readonly page: JoinedPage };

/** A page of another process. */
interface JoinedPage {
  /** The address of the page. */
  readonly url: string;
  /** Settled when the connection has ended. */
  readonly ended: Promise<void>;
  /** Ends the connection. */
  leave(): void;
}

/** Joins the page whose process listens at a socket. Resolves with `absent` when there is none. */
export function joinPage(path: string, { responder, followHub, onLogin }: PeerOptions): Promise<JoinAttempt> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    const deadline = setTimeout(() => socket.destroy(), WELCOME_MS);
    let stopEvents = (): void => {};
    let settleEnded = (): void => {};
    const ended = new Promise<void>((settle) => {
      settleEnded = settle;
    });
    let isJoined = false;
    const link = connectLink(socket, {
      onFrame({ header, body }) {
        const message = readHostMessage(header);
        switch (message?.type) {
          case undefined:
            return false;
          case "refused":
            resolve({ result: "refused", why: message.why });
            return false;
          case "welcome":
            if (isJoined) return false;
            isJoined = true;
            clearTimeout(deadline);
            resolve({
              result: "joined",
              page: { url: message.url, ended, leave: () => socket.destroy() },
            });
            stopEvents = followHub((event) => sendEvent(link, event));
            return true;
          case "login": {
            const { type: _, ...login } = message;
            if (isJoined) onLogin(login);
            return isJoined;
          }
          case "request":
            if (isJoined) void respond(link, responder, message, body);
            return isJoined;
        }
      },
      onClose() {
        clearTimeout(deadline);
        stopEvents();
        settleEnded();
        resolve({ result: "absent" });
      },
    });
    socket.once("connect", () => link.send({ type: "hello", version: VERSION }));
  });
}

/** Sends an event. One that names too many paths is sent without them: its question can only be refused there. */
function sendEvent(link: LinkConnection, event: UnnumberedEvent): void {
  try {
    link.send({ type: "event", event });
  } catch (error) {
    if (!(error instanceof FrameError)) throw error;
    if (event.type === "asked") {
      const incomplete = "it names too many paths for the page of another process";
      sendEvent(link, {
        type: "asked",
        question: { ...event.question, changes: [], incomplete } as ReviewQuestion,
      });
    } else if (event.type === "call.end")
      sendEvent(link, { type: "call.end", call: { ...event.call, paths: [] } });
    else throw error;
  }
}

/** Answers a request of the page. */
async function respond(
  link: LinkConnection,
  responder: ReviewResponder,
  { id, method, target: address, headers, role, by }: RequestMessage,
  body: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const url = new URL(`/review${address}`, "http://server");
  const path = url.pathname.slice("/review/".length);
  const response = await Promise.resolve()
    .then(() => {
      const request = new Request(url, { method, headers, ...(method === "GET" ? {} : { body }) });
      return responder.answer(request, path, { role, by });
    })
    .catch(() => refusal(500, "the server failed; its log says why"));
  const sent = new Uint8Array(await response.arrayBuffer());
  const passed = Object.fromEntries([...response.headers].filter(([name]) => PASSED_HEADERS.includes(name)));
  if (sent.length <= MAX_BODY_BYTES)
    return link.send({ type: "response", id, status: response.status, headers: passed }, sent);
  const { status, headers: plain } = refusal(413, "the answer is too large for the page of another process");
  link.send({ type: "response", id, status, headers: Object.fromEntries(plain) });
}
