/** `approve --watch`: questions of a server as they come, asked at a terminal and printed in a pipe. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startHttpServer } from "../../js/http/server.node.ts";
import { withProofs } from "../../js/mcp/auth/approvals-gate.ts";
import { hasTerminal, type CliFixture, place } from "./running.ts";

const main = fileURLToPath(new URL("../../dist/bin/filewright.js", import.meta.url));
const token = "a-token-of-this-test-alone";
const env = { FILEWRIGHT_TOKEN: token, FILEWRIGHT_APPROVE_TOKEN: `${token}-of-the-approver` };

/** A server whose changes wait. */
interface Waiting {
  readonly process: ChildProcess;
  /** The address for clients. */
  readonly url: string;
  /** Returns standard error up to now. */
  said(): string;
}

async function serve(root: string, ...flags: readonly string[]): Promise<Waiting> {
  const server = spawn(process.execPath, [main, "serve", root, "--port", "0", ...flags], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  const url = await new Promise<string>((resolve, reject) => {
    server.once("close", () => reject(new Error(said)));
    server.stderr.on("data", (chunk) => {
      said += chunk;
      const [, found] = /at (http:\S+)\n.*Changes wait/su.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  return { process: server, url, said: () => said };
}

/** A change by a client of a server; gives the text of the answer. */
async function write(url: string, path: string, content: string): Promise<string> {
  const params = { name: "write_file", arguments: { path, content, whole_file: true } };
  const response = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  return response.text();
}

/** Thirty lines, of which two that are far from each other say something. */
const lines = (second: string, last: string): string =>
  Array.from({ length: 30 }, (_, at) => (at === 1 ? second : at === 28 ? last : `line ${at}`)).join("\n");

const HOSTILE = "x\u001b[2J\u202egpj.txt";
let at: CliFixture;
let reviewed: Waiting;
let approved: Waiting;
const text = (name: string): Promise<string> => readFile(join(at.root, name), "utf8");

beforeAll(async () => {
  at = await place({
    "a.txt": lines("old", "old end"),
    "b.txt": "b\n",
    "c.txt": "c\n",
    "d.txt": lines("old", "old end"),
  });
  [reviewed, approved] = await Promise.all([serve(at.root, "--review=0"), serve(at.root, "--approve")]);
});
afterAll(async () => {
  reviewed.process.kill();
  approved.process.kill();
  await at.remove();
});

describe.skipIf(!hasTerminal)("at a terminal", () => {
  const watch = (server: Waiting, steps: readonly object[], more: Record<string, string> = {}) =>
    at.draw(["approve", "--watch", "--url", new URL(server.url).origin], {
      env: { ...env, NO_COLOR: "1", USER: "ana", ...more },
      steps: [{ wait: "Waiting for questions" }, ...steps],
      seconds: 50,
      rows: 80,
    });

  test("hunks are chosen, a refusal has a reason, and a wider answer says what it covers", async () => {
    const drawn = watch(reviewed, [
      { wait: "[x] 2  @@" },
      { wait: "2 of 2 hunks chosen", send: "2" },
      { wait: "[ ] 2  @@" },
      { wait: "1 of 2 hunks chosen", send: "a" },
      { wait: "Allowed 1 of 2 hunks of " },
      { wait: "Allow this?", send: "r" },
      { wait: "Why not?", send: "not today\r" },
      { wait: "Refused " },
      { wait: "Allow this?", send: "w" },
      { wait: "for  this turn" },
      { wait: "until the end of the turn." },
      { wait: "Would have covered 1 of the last 3 calls that needed an answer." },
      { wait: "Allow and remember?", send: "f" },
      { wait: "for  until" },
      { wait: "Allow and remember?", send: "y" },
      { wait: "Allowed, with later calls, ", send: "q" },
    ]);
    expect(await write(reviewed.url, "a.txt", lines("new", "new end"))).not.toContain('"isError":true');
    expect(await text("a.txt")).toBe(lines("new", "old end"));
    expect(await write(reviewed.url, HOSTILE, "\u001b[2J\u202ehidden\n")).toContain("not today");
    expect(await write(reviewed.url, "b.txt", "two\n")).not.toContain('"isError":true');
    // The wider answer covers this one.
    expect(await write(reviewed.url, "b.txt", "three\n")).not.toContain('"isError":true');
    const { status, output, left } = await drawn;
    expect([status, left], output).toEqual([0, 0]);
    expect(output.split("\u0007")).toHaveLength(4);
    expect(output).toContain("x\\x1b[2J\\u{202e}gpj.txt");
    expect(output).toContain("+\\x1b[2J\\u{202e}hidden");
    for (const hidden of ["\u001b[2J", "\u202e", "\u001b[3"]) expect(output).not.toContain(hidden);
    expect(await text("b.txt")).toBe("three\n");
  });

  test("what looks like a secret is hidden until it is asked for, and written all the same", async () => {
    const [key, password] = [`ghp_${"a1B2c3D4".repeat(4)}`, "hunter2hunter2"];
    const content = lines(`key = "${key}"`, `password = "${password}"`);
    const change = write(reviewed.url, "a.txt", content);
    const list = async (): Promise<string> => {
      for (;;) {
        const { out } = await at.run(["approve", "--url", reviewed.url], "", env);
        if (out !== "Nothing waits.\n") return out;
      }
    };
    const listed = await list();
    expect(listed).toContain('+key = "••••••••"');
    expect(listed).toContain("2 secret-looking values hidden: with --watch, h shows them.");
    for (const secret of [key, password]) expect(listed).not.toContain(secret);
    const { status, output, left } = await watch(reviewed, [
      { wait: '+key = "••••••••"' },
      { wait: '+password = "••••"' },
      { wait: "2 secret-looking values hidden: h shows them." },
      { wait: "Allow this?", send: "e" },
      { wait: "Show the secret-looking text first (h)" },
      { wait: "Allow this?", send: "n" },
      { wait: '+key = "••••••••"' },
      { wait: "Allow this?", send: "h" },
      { wait: `+key = "${key}"` },
      { wait: `+password = "${password}"` },
      { wait: "Secret-looking text is shown: h hides it." },
      { wait: "Allow this?", send: "h" },
      { wait: "hidden: h shows them." },
      { wait: "Allow this?", send: "a" },
      { wait: "Allowed ", send: "q" },
    ]);
    expect([status, left], output).toEqual([0, 0]);
    for (const secret of [key, password]) expect(output.split(secret)).toHaveLength(2);
    expect(await change).not.toContain('"isError":true');
    expect(await text("a.txt")).toBe(content);
  });

  test("a question that was answered elsewhere, or whose file has changed, says so at once", async () => {
    const origin = new URL(reviewed.url).origin;
    const elsewhere = ["env", "USER=ben", process.execPath, main, "approve", "all", "--url", origin];
    const mine = join(at.root, "mine");
    await writeFile(mine, lines("old", "mine end"));
    const editor = join(at.root, "editor.sh");
    await writeFile(editor, 'printf "edited\\n" > "$1"\n');
    const drawn = watch(
      reviewed,
      [
        {
          wait: "Allow this?",
          run: ["env", ...Object.entries(env).map((one) => one.join("=")), ...elsewhere],
        },
        { wait: "It was answered: ben allowed it." },
        { wait: "Allow this?", run: ["cp", mine, join(at.root, "d.txt")] },
        { wait: "A file has changed since this was asked" },
        { wait: "chosen [r/l", send: "a" },
        { wait: "so it cannot be allowed" },
        { wait: "chosen [r/l", send: "l" },
        { wait: "Looked at again" },
        { wait: "[x] 1  @@" },
        { wait: "[x] 2 new  @@" },
        { wait: "-mine end" },
        { wait: "This replaces the question before, on the present content: 1 of 2 hunks are new." },
        { wait: "Allow this?", send: "e" },
        { wait: "Changed, and asked again" },
        { wait: "as you changed it" },
        { wait: "+edited" },
        { wait: "Allow this?", send: "a" },
        { wait: "Allowed ", send: "\u0003" },
      ],
      { EDITOR: `sh ${editor}` },
    );
    expect(await write(reviewed.url, "c.txt", "two\n")).not.toContain('"isError":true');
    expect(await write(reviewed.url, "d.txt", lines("new", "new end"))).not.toContain('"isError":true');
    const { status, output, left } = await drawn;
    expect([status, left], output).toEqual([0, 0]);
    expect([await text("c.txt"), await text("d.txt")]).toEqual(["two\n", "edited\n"]);
  });

  test("without a page there is no count; a server that ends is said, and nothing is answered", async () => {
    const drawn = watch(approved, [
      { wait: "Allow this?", send: "?" },
      { wait: "allow once what is chosen" },
      { wait: "Allow this?", send: "w" },
      { wait: "is not known: this server has no review page" },
      { wait: "Allow and remember?", send: "\u001b" },
      { wait: "Allow this?", run: ["kill", String(approved.process.pid)] },
      { wait: "It does not wait any more" },
      { wait: "is lost: nothing can be answered until it is back", send: "q" },
    ]);
    expect(await write(approved.url, "c.txt", "three\n")).toContain("APPROVAL_DENIED");
    const { status, output, left } = await drawn;
    expect([status, left], output).toEqual([0, 0]);
    expect(await text("c.txt")).toBe("two\n");
  });

  const eventsOf = (state: object): Response => {
    const bytes = new TextEncoder().encode(`id: 1\ndata: ${JSON.stringify(state)}\n\n`);
    const body = new ReadableStream({ start: (controller) => controller.enqueue(bytes) });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const cut = (): Response =>
    new Response(new ReadableStream({ start: (controller) => controller.error(new Error("cut")) }), {
      headers: { "content-type": "text/event-stream" },
    });

  /** Serves a queue that has the token, and watches it at a terminal. */
  const watchFalse = async (
    answer: (path: string) => Response,
    { steps, seconds }: { readonly steps: readonly object[]; readonly seconds: number },
  ): Promise<Awaited<ReturnType<CliFixture["draw"]>>> => {
    let authority: string | undefined;
    const keys = { token: env.FILEWRIGHT_APPROVE_TOKEN, owner: undefined, authority: () => authority };
    const handle = withProofs(async ({ url }) => answer(new URL(url).pathname), keys);
    const server = await startHttpServer(handle, { host: "127.0.0.1", port: 0 });
    authority = new URL(server.url).host;
    try {
      return await at.draw(["approve", "--watch", "--url", server.url], { env, steps, seconds });
    } finally {
      await server.close();
    }
  };

  test("a connection that breaks while a question is read is said to be lost", async () => {
    const state = { type: "state", seq: 1, pending: [{ id: "q1", kind: "directory", question: "Read it?" }] };
    const { status, output, left } = await watchFalse(
      (path) => {
        if (path === "/approvals/") return Response.json(state);
        return path === "/approvals/events" ? eventsOf(state) : cut();
      },
      { steps: [{ wait: "is lost: nothing can be answered until it is back", send: "q" }], seconds: 20 },
    );
    expect([status, left], output).toEqual([0, 0]);
    expect(output.split("is lost")).toHaveLength(2);
  });

  test("a request that fails while events still come is tried again without a further event", async () => {
    const question = { id: "q1", kind: "directory", question: "Read it?", dir: "/d", access: "read" };
    const state = { type: "state", seq: 1, pending: [question] };
    let failures = 0;
    const { status, output, left } = await watchFalse(
      (path) => {
        if (path === "/approvals/") return Response.json(state);
        if (path === "/approvals/events") return eventsOf(state);
        return ++failures <= 3 ? cut() : Response.json(question);
      },
      {
        steps: [
          { wait: "is lost: nothing can be answered until it is back" },
          { wait: "The connection is back." },
          { wait: "Read it?" },
          { wait: "Allow this?", send: "q" },
        ],
        seconds: 40,
      },
    );
    expect([status, left], output).toEqual([0, 0]);
    expect(output.split("is lost")).toHaveLength(2);
  });
});

test("the server names the command that answers its questions", () => {
  expect(approved.said()).toContain(
    `Changes wait for: filewright approve --watch --url ${new URL(approved.url).origin}\n`,
  );
});

test("without a terminal it says what to do", async () => {
  const { status, err } = await at.run(["approve", "--watch", "--url", reviewed.url], "", env);
  expect(status).toBe(2);
  expect(err).toContain("--watch asks at a terminal, and there is none; with --json");
});

test("in a pipe each question is a line of JSON, printed once", async () => {
  const child = spawn(
    process.execPath,
    [main, "approve", "--watch", "--json", "--url", new URL(reviewed.url).origin],
    { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] },
  );
  let out = "";
  const printed = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (out.split("\n").length > count) resolve();
      };
      child.stdout.on("data", look);
      look();
    });
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  const ids: string[] = [];
  for (const content of ["four", "five"]) {
    const change = write(reviewed.url, "c.txt", `${content}\n`);
    await printed(ids.length + 1);
    const { id, details } = JSON.parse(out.trimEnd().split("\n").at(-1) as string);
    expect(details.fileDiff).toContain(`+${content}`);
    ids.push(id);
    await at.run(["approve", id, "--url", reviewed.url], "", env);
    await change;
  }
  expect(out.trimEnd().split("\n")).toHaveLength(2);
  const ended = new Promise((resolve) => child.on("close", resolve));
  child.kill("SIGINT");
  expect(await ended).toBe(0);
});
