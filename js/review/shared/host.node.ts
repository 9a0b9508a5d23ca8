/**
 * The side of the process that serves a shared page: other processes connect to a socket in a directory that only its
 * owner can use, and their questions and workspaces appear on the page.
 */
import { chmodSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { VERSION } from "../../engine/generated/version.ts";
import type { ReviewLogin, StoredLogin } from "../login.ts";
import { json, refusal } from "../routes/route.ts";
import { connectLink, type LinkConnection } from "./connection.node.ts";
import { MAX_BODY_BYTES } from "./frames.ts";
import { readPeerMessage, type ResponseMessage } from "./messages.ts";
import type { SharedReview, ShownSource } from "./shared.ts";

/** The number of processes that may join. */
const MAX_PEERS = 200;
/** The time in milliseconds in which a process must say who it is after it has connected. */
const HELLO_MS = 10_000;
/** The time in milliseconds in which a process must answer a request. */
const ANSWER_MS = 60_000;
/** The headers of a request that its process needs. Cookies and tokens stay here. */
const PASSED_HEADERS: readonly string[] = ["content-type", "if-none-match", "range"];

/** The socket of a shared page. */
export interface PeerSocket {
  /** Tells all processes of a login, so that it lasts when one of them serves the page next. */
  passOn(login: StoredLogin): void;
  /** Ends all connections and removes the socket. */
  close(): Promise<void>;
}

/**
 * Accepts processes at a socket. A socket that exists is replaced, so the caller must know that no process serves it.
 * Rejects when the socket cannot be made.
 */
export async function acceptPeers(
  path: string,
  shared: SharedReview,
  { url, logins }: { readonly url: string; readonly logins: () => readonly StoredLogin[] },
): Promise<PeerSocket> {
  const peers = new Set<Peer>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    if (sockets.size >= MAX_PEERS) return void socket.destroy();
    sockets.add(socket);
    const peer = acceptPeer(socket, shared, {
      onHello() {
        peers.add(peer);
        peer.send({ type: "welcome", url });
        for (const login of logins()) peer.send({ type: "login", ...login });
      },
      onClose() {
        peers.delete(peer);
        sockets.delete(socket);
      },
    });
  });
  rmSync(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  chmodSync(path, 0o600);
  return {
    passOn(login) {
      for (const peer of peers) peer.send({ type: "login", ...login });
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

type Peer = Pick<LinkConnection, "send">;

/** Serves one connection: the first message is a `hello`, events and responses follow. */
function acceptPeer(
  socket: Socket,
  shared: SharedReview,
  { onHello, onClose }: { readonly onHello: () => void; readonly onClose: () => void },
): Peer {
  /** Settles the requests that this connection has not answered yet, by their ids. */
  const settleById = new Map<number, (response: Response) => void>();
  let lastRequest = 0;
  let source: ShownSource | undefined;
  const deadline = setTimeout(() => socket.destroy(), HELLO_MS);

  const answer = async (request: Request, path: string, { role, by }: ReviewLogin): Promise<Response> => {
    const body = new Uint8Array(await request.arrayBuffer());
    if (body.length > MAX_BODY_BYTES) return refusal(413, "the request is too large");
    const { search } = new URL(request.url);
    const headers = Object.fromEntries(
      [...request.headers].filter(([name]) => PASSED_HEADERS.includes(name)),
    );
    const method = request.method === "HEAD" ? "GET" : request.method;
    lastRequest += 1;
    const id = lastRequest;
    return new Promise<Response>((resolve) => {
      const timer = setTimeout(() => settle(refusal(504, "its process does not answer")), ANSWER_MS);
      const settle = (response: Response): void => {
        clearTimeout(timer);
        settleById.delete(id);
        resolve(response);
      };
      settleById.set(id, settle);
      if (socket.destroyed) settle(endedResponse());
      else link.send({ type: "request", id, method, target: `/${path}${search}`, headers, role, by }, body);
    });
  };

  const link = connectLink(socket, {
    onFrame({ header, body }) {
      const message = readPeerMessage(header);
      if (message === undefined) return false;
      switch (message.type) {
        case "hello": {
          if (source !== undefined) return false;
          clearTimeout(deadline);
          if (message.version !== VERSION) {
            link.send({ type: "refused", why: `the page is of version ${VERSION}` });
            link.end();
            return true;
          }
          source = shared.add({ answer });
          onHello();
          return true;
        }
        case "event":
          return source?.tell(message.event) === true;
        case "response": {
          const settle = settleById.get(message.id);
          settle?.(responseOf(message, body));
          return settle !== undefined || message.id <= lastRequest;
        }
      }
    },
    onClose() {
      clearTimeout(deadline);
      source?.leave();
      for (const settle of [...settleById.values()]) settle(endedResponse());
      onClose();
    },
  });
  return link;
}

function endedResponse(): Response {
  return json(410, { error: "its process has ended", reason: "withdrawn" });
}

/** Returns the response of a process. Its headers cannot replace those that protect the page, which are set later. */
function responseOf({ status, headers }: ResponseMessage, body: Uint8Array<ArrayBuffer>): Response {
  try {
    return new Response(body.length === 0 ? null : body, { status, headers });
  } catch {
    return refusal(502, "its process gave no answer");
  }
}
