/**
 * The review page of all processes of a person. The first process serves it and listens at a socket; the others join
 * it there. When the first one ends, another one serves the page at the same port, so a browser stays where it is.
 *
 * The port decides who serves: the operating system gives it to one process, and frees it however that one ends.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { makePrivateDirectory } from "../../backends/private-directory.node.ts";
import { defaultStateDir } from "../../backends/state-directory.node.ts";
import type { HttpServer } from "../../http/server.node.ts";
import { makeResponderHandler, REVIEW_PATH, hubResponder } from "../http.ts";
import type { ReviewHub } from "../hub.ts";
import { makeLogins, type StoredLogin } from "../login.ts";
import { pageFile } from "../page-files.node.ts";
import type { ReviewRole, UnnumberedEvent } from "../protocol.ts";
import { startPageServer } from "../serve.node.ts";
import { acceptPeers, type PeerSocket } from "./host.node.ts";
import { joinPage } from "./peer.node.ts";
import { eventsOfSnapshot, makeSharedReview } from "./shared.ts";

/** The page on which the questions of this process are shown now. */
export type PagePlace =
  /** On the page of another process. */
  | { readonly kind: "joined"; readonly url: string }
  /** On the page that this process serves. */
  | {
      readonly kind: "served";
      readonly url: string;
      readonly port: number;
      /** Why other processes do not share the page; undefined when they can. */
      readonly alone: string | undefined;
      /** Returns an address that opens the page once, within two minutes. */
      link(role?: ReviewRole, by?: string): string;
    };

/** The options of {@link openSharedPage}. */
export interface SharedPageOptions {
  /** The port; 0 for any free one and a page of this process alone. */
  readonly port: number;
  /** The token of programs that ask this page for links. */
  readonly token: string;
  /** Called when the questions are shown at a place, and again when they move to another one. */
  readonly onPlace: (place: PagePlace) => void;
  /** Called when no page can be served. The questions wait until they are refused. */
  readonly onFailure: (error: unknown) => void;
}

/** The part of a process in a page. */
export interface SharedPage {
  /** Leaves the page. If this process serves it, another one takes over. */
  close(): Promise<void>;
}

/** The time in milliseconds for which a process waits for the page of another process that uses the port. */
const MAX_PORT_WAIT_MS = 5000;
/** The interval of its attempts in milliseconds. */
const RETRY_MS = 50;
const HOST = "127.0.0.1";

/** Shows the questions of a hub on the page of all processes, and serves the page when no other process does. */
export function openSharedPage(
  hub: ReviewHub,
  { port, token, onPlace, onFailure }: SharedPageOptions,
): SharedPage {
  const responder = hubResponder(hub);
  const socketPath = port === 0 ? undefined : privateSocketPath(port);
  /** The logins of the page that another process serves, for when this one serves it next. */
  const knownLogins = new Map<string, StoredLogin>();
  const closing = new AbortController();
  let leave = async (): Promise<void> => {};

  const followHub = (tell: (event: UnnumberedEvent) => void): (() => void) => {
    for (const event of eventsOfSnapshot(hub.snapshot({ role: "watch", by: "" }))) tell(event);
    return hub.watch(tell);
  };

  /** Serves the page. `reason` says why other processes cannot join it. Rejects when the port is not available. */
  const serve = async (at: number, reason?: string): Promise<void> => {
    const shared = makeSharedReview(token);
    let peers: PeerSocket | undefined;
    const logins = makeLogins(Date.now, (login) => peers?.passOn(login));
    if (at === port) for (const login of knownLogins.values()) logins.adopt(login);
    const { handle, ticket } = makeResponderHandler(shared, { file: pageFile }, logins);
    const server = await startPageServer(handle, { host: HOST, port: at });
    const url = `${server.url}${REVIEW_PATH}`;
    const ownSource = shared.add(responder);
    const stopEvents = followHub((event) => void ownSource.tell(event));
    let alone = reason;
    if (socketPath !== undefined && reason === undefined) {
      try {
        peers = await acceptPeers(socketPath, shared, { url, logins: () => logins.all() });
      } catch {
        alone = "the state directory takes no socket";
      }
    }
    leave = () => stopServing({ stopEvents, shared, peers, server });
    if (closing.signal.aborted) return leave();
    onPlace({
      kind: "served",
      url,
      port: server.port,
      alone,
      link: (role, by) => `${url}${ticket(role, by)}`,
    });
  };

  const findPlace = async (): Promise<void> => {
    if (port === 0) return serve(0);
    if (socketPath === undefined) return serve(port, NO_SOCKET).catch(() => serve(0, NO_SOCKET));
    for (const start = performance.now(); !closing.signal.aborted; await delay(RETRY_MS)) {
      const attempt = await joinPage(socketPath, {
        responder,
        followHub,
        onLogin: (login) => void knownLogins.set(login.cookie, login),
      });
      if (attempt.result === "joined") {
        const { page } = attempt;
        leave = async () => page.leave();
        if (closing.signal.aborted) return page.leave();
        onPlace({ kind: "joined", url: page.url });
        void page.ended.then(() => {
          if (!closing.signal.aborted) findPlace().catch(onFailure);
        });
        return;
      }
      if (attempt.result === "refused") return serve(0, attempt.why);
      const isServing = await serve(port).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code !== "EADDRINUSE") throw error;
          return false;
        },
      );
      if (isServing) return;
      if (performance.now() - start > MAX_PORT_WAIT_MS) return serve(0, `another program uses port ${port}`);
    }
  };

  const placed = findPlace().catch(onFailure);
  return {
    async close() {
      closing.abort();
      await leave();
      await placed;
    },
  };
}

/** The reason why processes do not share a page: there is no socket that only its owner can use. */
const NO_SOCKET =
  process.platform === "win32"
    ? "on Windows each server has its own page"
    : "the state directory cannot be used for a socket";

/**
 * Ends the page. The socket is removed while this process still has the port: the process that gets the port next makes
 * its own at the same path.
 */
async function stopServing({
  stopEvents,
  shared,
  peers,
  server,
}: {
  readonly stopEvents: () => void;
  readonly shared: { close(): void };
  readonly peers: PeerSocket | undefined;
  readonly server: HttpServer;
}): Promise<void> {
  stopEvents();
  shared.close();
  await peers?.close();
  await server.close();
}

/** Returns the path of a socket in a directory that only this user can use; undefined where there cannot be one. */
function privateSocketPath(port: number): string | undefined {
  const uid = process.getuid?.();
  if (uid === undefined) return undefined;
  const directory = join(defaultStateDir(), "review");
  try {
    makePrivateDirectory(directory);
    const facts = lstatSync(directory);
    const isPrivate = facts.isDirectory() && facts.uid === uid && (facts.mode & 0o077) === 0;
    return isPrivate ? join(directory, `${port}.sock`) : undefined;
  } catch {
    return undefined;
  }
}
