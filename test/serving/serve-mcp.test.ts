/** `serveMcp` as programs use it: workspaces that tokens name, opened, shared, closed, refused. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { FilewrightError } from "../../js/engine/errors.ts";
import { memoryStorage, type Storage } from "../../js/storage/index.ts";
import { openWorkspace, type Workspace } from "../../js/workspace/index.node.ts";
import { type ServeMcpOptions, serveMcp, type WorkspaceFacts } from "../../js/mcp/index.node.ts";
import { afterThisTest } from "../support/cleanups.ts";
import { type Issuer, RESOURCE, startIssuer } from "./issuer.mjs";
import { call, TOKEN } from "./server.ts";

const CLAIMS = { tenant: "org", workspace: "repo" } as const;
type Facts = WorkspaceFacts<typeof CLAIMS>;

let issuer: Issuer;
beforeAll(async () => {
  issuer = await startIssuer();
  return () => issuer.close();
});

/** Storages of tenants, and what was opened and closed. */
function world() {
  const storages = new Map<string, Storage>();
  const log: string[] = [];
  const open = async ({ tenant, workspace }: Facts): Promise<Workspace> => {
    const name = `${tenant}/${workspace}`;
    const storage = storages.get(name) ?? memoryStorage();
    storages.set(name, storage);
    log.push(`open ${name}`);
    const observer = { end: () => {}, close: () => void log.push(`close ${name}`) };
    return openWorkspace({ storage, root: "/", tenant, observers: [observer] });
  };
  return { log, open };
}

async function start(options: Partial<ServeMcpOptions<typeof CLAIMS>>): Promise<string> {
  const server = await serveMcp({
    open: world().open,
    claims: CLAIMS,
    oauth: { issuer: issuer.url, resource: RESOURCE },
    structured: "full",
    graceMs: 1000,
    onError: () => {},
    ...options,
  });
  afterThisTest(() => server.drain());
  return server.url;
}

const tokenOf = (org: unknown, repo: unknown = "repo"): string => issuer.token({ org, repo });
const codeOf = (body: string): unknown =>
  (JSON.parse(body) as { readonly error: { readonly data?: { readonly code?: unknown } } }).error.data?.code;

describe("serveMcp", () => {
  test("opens the workspace that a token names once, and no request reaches another one", async () => {
    const { log, open } = world();
    const url = await start({ open });
    const write = { path: "/a.txt", content: "of ann\n" };
    expect((await call(url, "write_file", write, { token: tokenOf("ann") })).isError).toBe(false);
    const reads = [tokenOf("ann"), tokenOf("ann", "other"), tokenOf("bob")];
    const texts = await Promise.all(
      reads.map(async (token) => (await call(url, "read_file", { path: "/a.txt" }, { token })).text),
    );
    expect(texts.map((text) => text.includes("of ann"))).toEqual([true, false, false]);
    expect(log.toSorted()).toEqual(["open ann/other", "open ann/repo", "open bob/repo"]);
  });

  test("the facts are the claims alone, checked; a token without them is refused before anything is opened", async () => {
    const seen: Facts[] = [];
    const { open } = world();
    const url = await start({
      open(facts) {
        seen.push(facts);
        return open(facts);
      },
    });
    const bad = [
      {},
      { org: "a" },
      { org: "", repo: "r" },
      { org: ["a"], repo: "r" },
      { org: "a\n", repo: "r" },
    ];
    for (const claims of bad) {
      const { status } = await call(url, "stat", { path: "/" }, { token: issuer.token(claims) });
      expect([JSON.stringify(claims), status]).toEqual([JSON.stringify(claims), 403]);
    }
    expect((await call(url, "stat", { path: "/" }, { token: TOKEN })).status).toBe(401);
    expect(seen).toEqual([]);
    await call(url, "stat", { path: "/" }, { token: issuer.token({ org: "a", repo: "r", role: "root" }) });
    expect(seen).toEqual([{ tenant: "a", workspace: "r" }]);
    expect(Object.isFrozen(seen[0])).toBe(true);
  });

  test("closes the workspace that was idle for longest, and one without requests after a while", async () => {
    const bounded = world();
    const url = await start({ open: bounded.open, maxWorkspaces: 2 });
    for (const org of ["a", "b", "c"]) await call(url, "stat", { path: "/" }, { token: tokenOf(org) });
    await expect.poll(() => bounded.log).toContain("close a/repo");
    expect(bounded.log).not.toContain("close b/repo");
    const idle = world();
    const other = await start({ open: idle.open, idleMs: 50 });
    const { text } = await call(other, "write_file", { path: "/a", content: "1\n" }, { token: tokenOf("a") });
    expect(text).toContain("/a");
    await expect.poll(() => idle.log).toEqual(["open a/repo", "close a/repo"]);
    expect((await call(other, "read_file", { path: "/a" }, { token: tokenOf("a") })).text).toContain("1");
  });

  test("an `open` that throws refuses the request: 403 where there is no such workspace, 503 otherwise", async () => {
    const errors: unknown[] = [];
    let error: Error = new FilewrightError("NOT_FOUND", "secret-of-the-server");
    const url = await start({
      open: () => {
        throw error;
      },
      onError: (one) => void errors.push(one),
    });
    const answer = async () => call(url, "stat", { path: "/" }, { token: tokenOf("a") });
    for (const [code, status] of [
      ["NOT_FOUND", 403],
      ["PERMISSION_DENIED", 403],
      ["IO_ERROR", 503],
      ["INVALID_ARGUMENT", 503],
    ] as const) {
      error = new FilewrightError(code, "secret-of-the-server");
      const { body, ...found } = await answer();
      expect([found.status, codeOf(body)]).toEqual([status, code]);
      expect(found.headers.get("retry-after")).toBe(status === 503 ? "1" : null);
      expect(body).not.toContain("secret");
    }
    error = new TypeError("secret-of-the-server");
    const { status, body } = await answer();
    expect([status, codeOf(body)]).toEqual([503, "INTERNAL"]);
    expect(errors).toHaveLength(5);
    expect(errors.at(-1)).toBe(error);
  });

  test("an `open` that takes too long refuses with TIMEOUT; the next request opens again, and the late one is closed", async () => {
    const { log, open } = world();
    let late: (() => void) | undefined;
    let signal: AbortSignal | undefined;
    const url = await start({
      openMs: 2000,
      async open(facts, context) {
        if (late === undefined) {
          signal = context.signal;
          await new Promise<void>((resolve) => {
            late = resolve;
          });
        }
        return open(facts);
      },
    });
    const slow = await call(url, "stat", { path: "/" }, { token: tokenOf("a") });
    expect([slow.status, codeOf(slow.body), slow.headers.get("retry-after")]).toEqual([503, "TIMEOUT", "1"]);
    expect(signal?.aborted).toBe(true);
    const again = await call(url, "write_file", { path: "/a", content: "1\n" }, { token: tokenOf("a") });
    expect([again.status, again.isError]).toEqual([200, false]);
    late?.();
    await expect.poll(() => log).toEqual(["open a/repo", "open a/repo", "close a/repo"]);
    expect((await call(url, "read_file", { path: "/a" }, { token: tokenOf("a") })).text).toContain("1");
  });

  test("`open` must return a workspace", async () => {
    const errors: FilewrightError[] = [];
    const onError = (one: unknown): void => void errors.push(one as FilewrightError);
    const url = await start({ open: () => ({}) as Workspace, onError });
    expect((await call(url, "stat", { path: "/" }, { token: tokenOf("a") })).status).toBe(503);
    expect(errors.map(({ code }) => code)).toEqual(["INVALID_ARGUMENT"]);
  });

  test("with one token for all there is one workspace, and its calls end before it is closed", async () => {
    const { log, open } = world();
    const server = await serveMcp({
      token: TOKEN,
      preset: "canonical",
      open: () => open({ tenant: "all", workspace: "one" }),
      ping: async () => {},
    });
    expect((await fetch(new URL("/ready", server.url))).status).toBe(200);
    const calls = Array.from({ length: 5 }, (_, index) =>
      call(server.url, "write_file", { path: `/f${index}`, content: "1\n" }),
    );
    await sleep(20);
    const ended = server.drain();
    expect((await fetch(new URL("/ready", server.url))).status).toBe(503);
    expect((await Promise.all(calls)).filter(({ isError, status }) => isError || status !== 200)).toEqual([]);
    await Promise.all([ended, server.drain()]);
    expect(log).toEqual(["open all/one", "close all/one"]);
    await expect(fetch(server.url)).rejects.toThrow();
  });

  const open = (): never => {
    throw new Error("not called");
  };
  test.each<[string, object, RegExp]>([
    ["no way to know clients", { open }, /needs oauth or a token/u],
    ["both ways", { open, token: TOKEN, oauth: { issuer: "https://a", resource: "https://b" } }, /give one/u],
    ["claims of a fixed token", { open, token: TOKEN, claims: { a: "b" } }, /need oauth/u],
    ["a short token", { open, token: "short" }, /at least 16/u],
    ["no open", { token: TOKEN }, /'open'/u],
    ["a misspelt option", { open, token: TOKEN, idleMS: 1 }, /idleMs/u],
    ["a misspelt preset", { open, token: TOKEN, preset: "leen" }, /lean/u],
    ["an issuer without TLS", { open, oauth: { issuer: "http://a.example", resource: "https://b" } }, /./u],
  ])("is refused with %s", async (_, options, says) => {
    await expect(serveMcp(options as never)).rejects.toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT", message: expect.stringMatching(says) }),
    );
  });

  test("is shown in the guide by at most 15 lines", () => {
    const guide = readFileSync(new URL("../../docs/guides/scale.md", import.meta.url), "utf8");
    const block = [...guide.matchAll(/^```js(?: node=\w+)?\n(.*?)^```$/gmsu)]
      .map(([, text = ""]) => text)
      .find((text) => text.includes("serveMcp("));
    expect(block?.trimEnd().split("\n").length).toBeLessThanOrEqual(15);
  });
});
