/** A workspace in memory whose changes wait at a hub, and the requests of a logged-in page. */
import { afterAll } from "vitest";
import { MemoryBackend, openWorkspace, type Workspace, type WorkspaceOptions } from "../../js/index.node.ts";
import { hubResponder, makeResponderHandler } from "../../js/review/http.ts";
import { makeLogins } from "../../js/review/login.ts";
import { pageFile } from "../../js/review/page-files.node.ts";
import { startPageServer } from "../../js/review/serve.node.ts";
import { type ReviewHub, reviewHub, type ReviewPage, serveReviewPage } from "../../js/review/index.node.ts";
import type { ReviewRole } from "../../js/review/protocol.ts";
import { openTab, type Tab } from "../support/proving.mjs";

/** A place with a workspace, a hub and a served page. */
export interface Place {
  readonly backend: MemoryBackend;
  readonly ws: Workspace;
  readonly hub: ReviewHub;
  readonly page: ReviewPage;
}

const places: Place[] = [];
afterAll(async () => {
  for (const { ws, hub, page } of places.splice(0)) {
    hub.close();
    await page.close();
    await ws.close();
  }
});

/**
 * Opens a workspace at `/w` with these files, whose changes wait at a page. `options` are further ones of it; `pageKey`
 * is the key of the logins of the page, by default a new one.
 */
export async function openPlace(
  files: Readonly<Record<string, string>> = {},
  options: Partial<WorkspaceOptions> = {},
  pageKey?: () => Promise<CryptoKey>,
): Promise<Place> {
  const hub = reviewHub({ subject: "/w" });
  const backend = new MemoryBackend(
    Object.fromEntries(
      Object.entries({ keep: "", ...files }).map(([path, content]) => [`/w/${path}`, content]),
    ),
  );
  const ws = await openWorkspace({
    backend,
    root: "/w",
    guard: "off",
    confirm: hub.confirm,
    observers: [hub.observer],
    ...options,
  });
  hub.attach(ws);
  const page = await (pageKey === undefined ? serveReviewPage(hub) : servePage(hub, pageKey));
  const place = { backend, ws, hub, page };
  places.push(place);
  return place;
}

async function servePage(hub: ReviewHub, pageKey: () => Promise<CryptoKey>): Promise<ReviewPage> {
  const logins = makeLogins(pageKey);
  const { handle, ticket } = makeResponderHandler(hubResponder(hub), { file: pageFile }, { logins });
  const { url: origin, close } = await startPageServer(handle, { host: "127.0.0.1", port: 0 });
  const url = `${origin}/review`;
  return { url, link: (role, by) => `${url}${ticket(role, by)}`, close };
}

/** Resolves with the first value that is not undefined; asks again after each event of the hub. */
export function untilHub<T>(hub: ReviewHub, value: () => T | undefined): Promise<T> {
  return new Promise((resolve) => {
    let stop = (): void => {};
    const look = (): boolean => {
      const found = value();
      if (found === undefined) return false;
      stop();
      resolve(found);
      return true;
    };
    if (!look()) stop = hub.watch(() => void look());
  });
}

/** Resolves with the id of the first question that waits. */
export function firstQuestion(hub: ReviewHub): Promise<string> {
  return untilHub(hub, () => hub.queue.pending()[0]?.id);
}

/** The requests of a page. */
export type Client = Tab;

/** Logs in with a fresh link. */
export const logIn = (page: ReviewPage, role?: ReviewRole, by?: string): Promise<Client> =>
  openTab(page.link(role, by));

/** Sends a request as the page sends it, without a login. */
export function postTo(
  page: ReviewPage,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${page.url}/${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-filewright-review": "1",
      origin: new URL(page.url).origin,
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}
