/**
 * The review page of all processes of a person. Each process serves its own page on loopback; the one that has the
 * shared port shows the questions of the others, too, and passes requests on to them. When it ends, another one takes
 * the port, so a browser stays where it is.
 *
 * The port decides who serves the shared page: the operating system gives it to one process, and frees it however that
 * one ends. Who has the port is no proof of anything: processes, pages and programs prove themselves by keys.
 */
import { setTimeout as delay } from "node:timers/promises";
import {
  hubResponder,
  makeResponderHandler,
  type PageIdentity,
  type ReviewResponder,
  REVIEW_PATH,
} from "../http.ts";
import type { ReviewHub } from "../hub.ts";
import { makeLogins } from "../login.ts";
import { pageFile } from "../page-files.node.ts";
import { importKey } from "../proof/mac.ts";
import { pageKeyFor } from "../proof/keys.ts";
import type { ReviewRole } from "../protocol.ts";
import { startPageServer } from "../serve.node.ts";
import { notePagePort, ownerKeyIfAny } from "./owner-key.node.ts";
import { acceptPeers, joinPage, ownerProver } from "./peers.node.ts";
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

/** A page that this process serves. */
interface ServedPage {
  readonly port: number;
  readonly url: string;
  link(role?: ReviewRole, by?: string): string;
  /** Makes the page known to the command line. The own page of a process that has joined another one stays unknown. */
  announce(): void;
  close(): Promise<void>;
}

/** Shows the questions of a hub on the page of all processes, and serves the page when no other process does. */
export function openSharedPage(hub: ReviewHub, options: SharedPageOptions): SharedPage {
  const closing = new AbortController();
  const opened: ServedPage[] = [];
  const placed = findPlace(hub, options, closing.signal, opened).catch(options.onFailure);
  return {
    async close() {
      closing.abort();
      await Promise.all(opened.map((page) => page.close()));
      await placed;
    },
  };
}

/** Finds the place of a process, again each time that the page of another one has ended. */
async function findPlace(
  hub: ReviewHub,
  { port, token, onPlace }: SharedPageOptions,
  closing: AbortSignal,
  opened: ServedPage[],
): Promise<void> {
  const shared = ownerKeyIfAny();
  const owner = shared ?? importKey(crypto.getRandomValues(new Uint8Array(32)));
  const fault = shared === undefined ? NO_KEY : undefined;
  const serve = async (at: number, isShared: boolean): Promise<ServedPage> => {
    const page = await servePage(hub, { at, isShared, token, owner });
    opened.push(page);
    if (closing.aborted) await page.close();
    return page;
  };
  const show = ({ url, port: at, link, announce }: ServedPage, alone?: string): void => {
    if (closing.aborted) return;
    announce();
    onPlace({ kind: "served", url, port: at, alone, link });
  };
  if (port === 0) return show(await serve(0, false));
  /** The page of this process alone, which the process that serves the shared page asks. */
  let own: ServedPage | undefined;
  const prover = ownerProver(owner, port);
  for (let start = performance.now(); !closing.aborted; await delay(RETRY_MS)) {
    const served = await serve(port, true).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE") throw error;
      return undefined;
    });
    if (served !== undefined) return show(served, fault);
    own ??= await serve(0, false);
    const attempt = await joinPage(prover, own.port, closing);
    if (attempt.result === "refused") return show(own, attempt.why);
    if (attempt.result === "joined") {
      if (!closing.aborted) onPlace({ kind: "joined", url: `http://${HOST}:${port}${REVIEW_PATH}` });
      await attempt.ended;
      start = performance.now();
    } else if (performance.now() - start > MAX_PORT_WAIT_MS)
      return show(own, fault ?? `another program uses port ${port}`);
  }
}

/** The reason why no other process can share a page. */
const NO_KEY = "the state directory takes no key that only its owner can read";

/** The settings of a page. */
interface PageSettings {
  /** The port; 0 for any free one. */
  readonly at: number;
  /** True to show other processes, too. */
  readonly isShared: boolean;
  readonly token: string;
  readonly owner: Promise<CryptoKey>;
}

/** Serves a page. Rejects when the port is not available. */
async function servePage(hub: ReviewHub, settings: PageSettings): Promise<ServedPage> {
  const { at, isShared, token, owner } = settings;
  let port = at;
  const { responder, programRoutes, end } = isShared
    ? showTogether(hub, token, owner)
    : { responder: { ...hubResponder(hub), token }, programRoutes: {}, end: () => {} };
  const { handle, ticket } = makeResponderHandler(
    responder,
    { file: pageFile },
    {
      logins: makeLogins(async () => pageKeyFor(await owner, port)),
      owner,
      authority: () => `${HOST}:${port}`,
      programRoutes,
    },
  );
  const server = await startPageServer(handle, { host: HOST, port: at }).catch((error: unknown) => {
    end();
    throw error;
  });
  ({ port } = server);
  let forgetPort = (): void => {};
  const url = `${server.url}${REVIEW_PATH}`;
  return {
    port,
    url,
    link: (role, by) => `${url}${ticket(role, by)}`,
    announce() {
      forgetPort = notePagePort(port);
    },
    async close() {
      end();
      forgetPort();
      await server.close();
    },
  };
}

/** The responder to the requests of a page, and the function that ends it. */
interface Shown extends Required<Pick<PageIdentity, "programRoutes">> {
  readonly responder: ReviewResponder;
  end(): void;
}

/** Shows a hub together with those of the processes that join. */
function showTogether(hub: ReviewHub, token: string, owner: Promise<CryptoKey>): Shown {
  const shared = makeSharedReview(token);
  const source = shared.add(hubResponder(hub));
  for (const event of eventsOfSnapshot(hub.snapshot({ role: "watch", by: "" }))) source.tell(event);
  const stopEvents = hub.watch((event) => void source.tell(event));
  return {
    responder: shared,
    programRoutes: { peers: acceptPeers(shared, owner) },
    end() {
      stopEvents();
      shared.close();
    },
  };
}
