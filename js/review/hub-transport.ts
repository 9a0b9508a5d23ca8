/** Connects a page to a hub in the same program, without a server: for a workspace in the tab of a browser. */
import type { ReviewHub } from "./hub.ts";
import { ROUTES } from "./http.ts";
import type { ReviewLogin } from "./login.ts";
import { ReviewedWorkspaces } from "./past/reviewed.ts";
import { refusal, runRoute } from "./routes/route.ts";
import { dataOf, type ReviewTransport } from "./transport.ts";

/** The origin of requests that reach no network. */
const ORIGIN = "http://localhost";
/** The login of a page without a server: the person at the tab owns the workspace. */
const OWNER: ReviewLogin = { role: "manage", by: "reviewer" };

/**
 * Connects a page to a hub of the same program: the property `transport` of the elements. Everybody who has the
 * transport acts in the name of `login`, so it belongs to the page of one person. No request over HTTP can reach it;
 * for pages that come from a server use `makeReviewHandler`.
 *
 * @param login the role of the person at the page and the name for their answers; default `manage` and `reviewer`
 *
 * @example
 * const hub = reviewHub();
 * const ws = await openWorkspace({ backend, root: "/", confirm: hub.confirm, observers: [hub.observer] });
 * document.querySelector("filewright-review").transport = hubTransport(hub);
 */
export function hubTransport(hub: ReviewHub, login: ReviewLogin = OWNER): ReviewTransport {
  const workspaces = new ReviewedWorkspaces(hub);
  return {
    logIn: () => Promise.resolve(),
    async request(path, body) {
      const url = new URL(`${ORIGIN}/review/${path}`);
      const request = new Request(
        url,
        body === undefined ? {} : { method: "POST", body: JSON.stringify(body) },
      );
      const name = url.pathname.slice("/review/".length);
      const answer = await runRoute(ROUTES, name, { hub, workspaces, login, request, url });
      return dataOf(answer ?? refusal(404, "there is nothing here"));
    },
    listen(run, seq, listener) {
      const missed = run === hub.run ? hub.eventsAfter(seq) : undefined;
      if (missed === undefined) {
        queueMicrotask(() => listener.reset());
        return () => {};
      }
      // A listener that throws is dropped by the hub, and an error of one page must not end the others.
      const stop = hub.watch((event) => listener.event(event));
      for (const event of missed) listener.event(event);
      return stop;
    },
  };
}
