/** Which login may send which request: one table of every request that the page answers. */
import { expect, it } from "vitest";
import { ROUTES } from "../../js/review/http.ts";
import type { ReviewRoute } from "../../js/review/routes/route.ts";
import type { ReviewRole } from "../../js/review/protocol.ts";
import { logIn, openPlace } from "./place.ts";

/** Every request with the least role that may send it. A request that changes something for later needs `manage`. */
const TABLE: readonly (readonly [method: ReviewRoute["method"], path: string, role: ReviewRole])[] = [
  ["GET", "state", "watch"],
  ["GET", "events", "watch"],
  ["GET", "approvals/x/changes/0", "watch"],
  ["GET", "approvals/x/changes/0/content", "answer"],
  ["GET", "approvals/x/changes/0/image/before", "watch"],
  // The whole question, with what looks like a secret in it: `filewright approve` shows it at a terminal.
  ["GET", "approvals/x", "answer"],
  ["GET", "approvals/x/changes/0/details", "answer"],
  ["POST", "approvals/x", "answer"],
  ["POST", "scopes", "answer"],
  ["POST", "search", "watch"],
  ["GET", "files", "watch"],
  ["GET", "files/blame", "watch"],
  ["GET", "files/compare", "watch"],
  ["GET", "policy", "watch"],
  ["GET", "why", "watch"],
  ["POST", "grants", "manage"],
  ["POST", "grants/revoke", "manage"],
  ["POST", "policy/approvals/revoke", "manage"],
  ["POST", "policy/approvals/restore", "manage"],
  ["GET", "activity", "watch"],
  ["GET", "activity.csv", "watch"],
  ["GET", "activity.jsonl", "watch"],
  ["GET", "audit", "watch"],
  ["GET", "audit.jsonl", "manage"],
  ["GET", "history", "watch"],
  ["GET", "history/counts", "watch"],
  ["GET", "history/unreviewed", "watch"],
  ["GET", "history/x/rows", "watch"],
  // To keep a call says that a person has seen it, as an answer does, and changes no file.
  ["POST", "history/keep", "answer"],
  ["POST", "history/x/undo", "manage"],
  ["POST", "marks", "manage"],
  ["POST", "rewind", "manage"],
  ["GET", "previews/rows", "manage"],
];

/** The requests that a login may send though they are no reads and it may not manage. */
const OPEN_POSTS = ["approvals/x", "scopes", "search", "history/keep"];

const ROLES: readonly ReviewRole[] = ["watch", "answer", "manage"];

const routeOf = (method: string, path: string): ReviewRoute | undefined =>
  ROUTES.find((route) => route.method === method && route.path.test(path));

it("has a row for every request that the page answers, with its role", () => {
  const routes = TABLE.map(([method, path]) => routeOf(method, path));
  const missing = ROUTES.filter((route) => !routes.includes(route));
  expect(missing.map(({ method, path }) => `${method} ${path.source}`)).toEqual([]);
  expect(routes.map((route) => route?.role)).toEqual(TABLE.map(([, , role]) => role));
  expect(new Set(routes).size).toBe(TABLE.length);
});

it("lets nobody but a login that may manage change what is not one of the named requests", () => {
  const open = TABLE.filter(([method, , role]) => method === "POST" && role !== "manage");
  expect(open.map(([, path]) => path).toSorted()).toEqual(OPEN_POSTS.toSorted());
});

it.each(ROLES)(
  "a login with the role %s may send what the table says, and gets 403 for the rest",
  async (role) => {
    const { page } = await openPlace({ "a.txt": "one\n" });
    const client = await logIn(page, role, "ana");
    const refused: string[] = [];
    for (const [method, path] of TABLE) {
      const response = await (method === "GET" ? client.get(path) : client.post(path, {}));
      if (response.status === 403) refused.push(`${method} ${path}`);
      // No such request may end in an error of the server.
      expect(response.status, path).toBeLessThan(500);
      await response.body?.cancel();
    }
    const needed = TABLE.filter(([, , least]) => ROLES.indexOf(least) > ROLES.indexOf(role));
    expect(refused).toEqual(needed.map(([method, path]) => `${method} ${path}`));
  },
);
