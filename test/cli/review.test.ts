/**
 * `filewright serve --review` and `filewright review`: a change of a client waits, and the page of a link answers it;
 * directories are shown without a server.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ChangeRows, ReviewSnapshot } from "../../js/review/protocol.ts";
import { openDesk, watcherOf } from "../review/reviewing.ts";
import { openTab } from "../support/proving.mjs";
import { type CliFixture, place } from "./running.ts";

const main = fileURLToPath(new URL("../../dist/bin/filewright.js", import.meta.url));
const token = "a-token-of-this-test-alone";
const env = { FILEWRIGHT_TOKEN: token, FILEWRIGHT_APPROVE_TOKEN: `${token}-of-the-approver` };
let at: CliFixture;
let desk: Awaited<ReturnType<typeof openDesk>>;
let server: ChildProcess;
let url: URL;
/** Standard error of the server. */
let said = "";

beforeAll(async () => {
  at = await place({ "a.txt": "one\n" });
  desk = await openDesk();
  server = spawn(process.execPath, [main, "serve", at.root, `--review=${desk.port}`, "--port", "0"], {
    env: { ...process.env, ...env, ...desk.env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  url = await new Promise<URL>((resolve) =>
    server.stderr?.on("data", (chunk) => {
      said += chunk;
      const [, found] = /(http:\S+)\/review; its link/u.exec(said) ?? [];
      if (found !== undefined) resolve(new URL(found));
    }),
  );
});

afterAll(async () => {
  server.kill();
  await desk[Symbol.asyncDispose]();
  await at.remove();
});

/** Sends JSON as the page does. */
const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(new URL(path, url), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-filewright-review": "1",
      origin: url.origin,
      ...headers,
    },
    body: JSON.stringify(body),
  });

test("a link opens the page once, and its answer lets the change be made", async () => {
  const { out } = await at.run(["review", "--url", url.href], "", env);
  expect(out).toMatch(/\/review#t=[0-9a-f]{64}\n$/u);
  const tab = await openTab(out.trim());
  await expect(openTab(out.trim())).rejects.toThrow("login: 401");
  expect(await (await fetch(new URL("/review", url))).text()).toContain("review.js");
  // The token of MCP clients opens nothing here, and a login of the page calls no tool.
  const state = new URL("/review/state", url);
  expect((await fetch(state, { headers: { authorization: `Bearer ${token}` } })).status).toBe(401);
  expect((await post("/mcp", {}, tab.sign("POST", "mcp", "{}"))).status).toBe(401);

  const params = { name: "write_file", arguments: { path: "a.txt", content: "two\n", whole_file: true } };
  const call = post(
    "/mcp",
    { jsonrpc: "2.0", id: 1, method: "tools/call", params },
    { authorization: `Bearer ${token}`, accept: "application/json, text/event-stream" },
  );
  let waiting: ReviewSnapshot["state"]["waiting"] = [];
  while (waiting.length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    const snapshot = (await (await tab.get("state")).json()) as ReviewSnapshot;
    expect(snapshot.subject).toBe(at.root);
    waiting = snapshot.state.waiting;
  }
  const path = `approvals/${waiting[0]?.id}`;
  const rows = (await (await tab.get(`${path}/changes/0`)).json()) as ChangeRows;
  expect(rows.hunks[0]?.lines).toBe("-one\n+two");
  expect((await tab.post(path, { outcome: "allow", digest: rows.digest })).status).toBe(200);
  expect((await call).status).toBe(200);
  expect(await readFile(join(at.root, "a.txt"), "utf8")).toBe("two\n");
});

test("a server over HTTP is on the page of all servers too, beside filewright mcp --review", async () => {
  const agent = await desk.agent("repo");
  const { out } = await at.run(["review", "--url", `http://127.0.0.1:${desk.port}`, "--by", "ana"], "", env);
  const page = await watcherOf(out.trim());
  const both = await page.until(({ workspaces, by }) =>
    workspaces.length === 2 ? [...workspaces, by] : undefined,
  );
  expect(both.toSorted()).toEqual([at.root, agent.root, "ana"].toSorted());
  // The page on the server's own port shows nothing of the others.
  const own = await at.run(["review", "--url", url.href], "", env);
  const snapshot = await (await watcherOf(own.out.trim())).until((one) => one);
  expect([snapshot.workspaces, snapshot.by]).toEqual([[at.root], "reviewer"]);
});

test("directories are shown without a server, and the command ends when it is interrupted", async () => {
  const looking = spawn(
    process.execPath,
    [main, "review", ".", "--port", String(desk.port), "--role", "watch"],
    {
      cwd: at.root,
      env: { ...process.env, ...env, ...desk.env },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const ended = new Promise((resolve) => looking.once("exit", (status, signal) => resolve(status ?? signal)));
  const link = await new Promise<string>((resolve) => {
    let out = "";
    looking.stdout.on("data", (chunk) => {
      out += chunk;
      const [, found] = /^(http:\S+#t=[0-9a-f]{64})\n/u.exec(out) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  // The server of this test serves the page, so the command joins it.
  expect(new URL(link).port).toBe(String(desk.port));
  const page = await watcherOf(link);
  const name = `${at.root} (2)`;
  const role = await page.until((one) => (one.workspaces.includes(name) ? one.role : undefined));
  expect(role).toBe("watch");
  const file = `files?path=${encodeURIComponent(join(at.root, "a.txt"))}&workspace=${encodeURIComponent(name)}`;
  expect(JSON.stringify(await (await page.get(file)).json())).toContain("two");
  looking.kill("SIGINT");
  expect(await ended).toBe(0);
  await page.until((one) => (one.workspaces.includes(name) ? undefined : one));
});

test.each([
  [["review", "--role", "anwser"], /--role takes one of watch, answer, manage; did you mean answer\?/u],
  [["review", "--by", "  "], /--by must have 1 to 100 characters/u],
  [["review", "--by", "a\nb"], /--by must not have control characters/u],
  [["review", "--port", "5000"], /--port goes with directories; use --url/u],
  [["review", ".", "--url", "http://127.0.0.1:5000"], /--url does not go with directories/u],
  [["review", ".", "--port", "70000"], /--port must be from 0 to 65535/u],
  [["review", "/"], /--yes/u],
  [["mcp", ".", "--review", "--ask"], /--ask and --review exclude each other/u],
  [["mcp", ".", "--review=70000"], /--review takes a port from 0 to 65535, not 70000/u],
  [["mcp", ".", "--review=x"], /--review must be a whole number/u],
])("filewright %s is refused", async (argv, message) => {
  const { status, err } = await at.run(argv);
  expect([status, err]).toEqual([expect.any(Number), expect.stringMatching(message)]);
  expect(status).not.toBe(0);
});

test("filewright review without a page says how to get one", async () => {
  const { status, err } = await at.run(["review"]);
  expect([status, err]).toEqual([2, expect.stringContaining("filewright review DIR")]);
});

test("a server without a page, or with another token, gives no link", async () => {
  const wrong = { FILEWRIGHT_APPROVE_TOKEN: "another-token-of-no-use" };
  const refused = await at.run(["review", "--url", url.href], "", wrong);
  expect([refused.status, refused.err]).toEqual([2, expect.stringContaining("token")]);
  const unreachable = await at.run(["review", "--url", "http://127.0.0.1:9"], "", env);
  expect(unreachable.err).toContain("Cannot reach http://127.0.0.1:9");
});

test.each([
  [["--review", "--ask"], /--ask and --review exclude each other/u],
  [["--review", "--no-token"], /--review needs a token/u],
])("serve refuses %s", async (flags, message) => {
  const { status, err } = await at.run(["serve", at.root, ...flags]);
  expect([status, err]).toEqual([expect.any(Number), expect.stringMatching(message)]);
  expect(status).not.toBe(0);
});

test.each(["review", "approve"])(
  "%s sends nothing of worth to a program that merely listens",
  async (command) => {
    const got: string[] = [];
    let real: string | undefined;
    /** Answers what a server would, or passes everything on to one that has the same token. */
    const listener = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
      });
      request.on("end", () => {
        const { method = "GET", url: path = "/", rawHeaders } = request;
        got.push(JSON.stringify([path, rawHeaders, body]));
        if (real === undefined) {
          response.writeHead(200, { "content-type": "application/json" });
          return void response.end(
            JSON.stringify({ session: "0".repeat(64), proof: "0".repeat(64), fragment: "#t=1" }),
          );
        }
        const { "content-type": type = "", "x-filewright-review": own = "" } = request.headers as Record<
          string,
          string
        >;
        const headers = { "content-type": type, "x-filewright-review": own };
        void fetch(new URL(path, real), { method, headers, ...(method === "POST" ? { body } : {}) }).then(
          async (answer) => {
            response.writeHead(answer.status, { "content-type": "application/json" });
            response.end(await answer.text());
          },
        );
      });
    });
    await new Promise<void>((resolve) => void listener.listen(0, "127.0.0.1", resolve));
    const { port } = listener.address() as AddressInfo;
    const keyFile = join(desk.env["XDG_STATE_HOME"] ?? "", "filewright", "review", "key");
    const secrets = [env.FILEWRIGHT_APPROVE_TOKEN, token, (await readFile(keyFile)).toString("hex")];
    for (const upstream of [undefined, url.origin]) {
      real = upstream;
      for (const more of [env, { ...desk.env, FILEWRIGHT_APPROVE_TOKEN: "" }]) {
        const run = await at.run([command, "--url", `http://127.0.0.1:${port}`], "", more);
        expect(run.status, run.err).toBe(2);
        expect(run.out).toBe("");
        expect(run.err).toContain("cannot prove");
      }
    }
    listener.close();
    expect(got.length).toBeGreaterThanOrEqual(4);
    for (const text of got) {
      expect(text).toMatch(/^\["\/(?:review|approvals)\/hello"/u);
      expect(text).not.toMatch(/authorization|cookie|Bearer/iu);
      for (const secret of secrets) expect(text).not.toContain(secret);
    }
  },
);
