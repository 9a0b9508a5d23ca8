/** Commands on another server: a real `filewright serve`, and servers that answer what they should not. */
import * as fs from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "../../js/index.node.ts";
import { remoteSandbox, type RemoteSandboxOptions } from "../../js/backends/index.node.ts";
import { send, serveProcess, type Serving, TOKEN } from "../mcp/serving.ts";

let base: string;
let root: string;
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-remote-")));
  root = join(base, "ws");
  fs.mkdirSync(join(root, "private"), { recursive: true });
  fs.writeFileSync(join(root, "a"), "a\n");
  fs.writeFileSync(join(root, ".env"), "PASSWORD=hidden content\n");
  fs.writeFileSync(join(root, "private/x"), "hidden content\n");
});
afterEach(() => fs.rmSync(base, { recursive: true, force: true }));

const refused = (text: RegExp) =>
  expect.objectContaining({ code: "SANDBOX_SETUP_FAILED", message: expect.stringMatching(text) });

/** Starts a server of the root. */
function startServer(config: object = { commands: true }, argv: readonly string[] = []): Promise<Serving> {
  const file = join(base, "config.json");
  fs.writeFileSync(file, JSON.stringify({ stateDir: join(base, "server-state"), ...config }));
  return serveProcess([root, "--config", file, ...argv]);
}

function openRemote(url: string, more: Partial<RemoteSandboxOptions> = {}) {
  return remoteSandbox({ url, token: TOKEN, root, ...more });
}

async function opened(url: string, more: Partial<WorkspaceOptions> = {}): Promise<Workspace> {
  return openWorkspace({ root, stateDir: join(base, "state"), commands: await openRemote(url), ...more });
}

const shell = (ws: Pick<Workspace, "call">, script: string, more: object = {}) =>
  ws.call("run_command", { command: script, shell: true, ...more });

describe.skipIf(process.platform !== "linux")("filewright serve runs the commands", () => {
  test("in its own sandbox, with its result as it is", async () => {
    await using server = await startServer();
    await using ws = await opened(server.url);
    const ran = await shell(ws, "cat a; echo new > b; echo err >&2; exit 3");
    expect(ran.data).toMatchObject({
      exit_code: 3,
      stdout: "a\n",
      stderr: "err\n",
      tier: "remote bubblewrap",
    });
    expect(fs.readFileSync(join(root, "b"), "utf8")).toBe("new\n");
    expect(ws.capabilities().sandbox.commands).toMatchObject({ policy: "enforced", network: "enforced" });
    expect(fs.readdirSync(root).filter((name) => name.startsWith(".filewright"))).toEqual([]);
    expect(await shell(ws, "yes | head -c 50000", { max_output_bytes: 100 })).toMatchObject({
      data: { truncated: true, stdout: "y\n".repeat(50) },
    });
  });

  test("under the policy of this workspace and of each agent", async () => {
    await using server = await startServer();
    await using ws = await opened(server.url, { access: { deny: ["private"] } });
    const ran = await shell(ws, "cat .env private/x; mkdir -p .vscode; echo x > .vscode/tasks.json");
    expect(JSON.stringify(ran)).not.toContain("hidden content");
    expect(ran.data).toMatchObject({ removed: [".vscode/tasks.json"] });
    fs.mkdirSync(join(root, "src"));
    const agent = await ws.agent("one", { access: { write: ["src"], deny: ["a"] } });
    const kept = await shell(agent, "cat ../a; echo y > y; echo y > ../y", { cwd: "src" });
    expect(kept.data).toMatchObject({ stdout: "" });
    expect([fs.existsSync(join(root, "src/y")), fs.existsSync(join(root, "y"))]).toEqual([true, false]);
  });

  test("a server with a looser policy is refused, unless less will do", async () => {
    for (const access of [{ secrets: "allow" }, { protect: false }]) {
      await using server = await startServer({ commands: true, access });
      await expect(opened(server.url)).rejects.toEqual(refused(/does not hold/u));
      const commands = await openRemote(server.url, { degrade: "allow" });
      await using ws = await openWorkspace({ root, stateDir: join(base, "state"), commands });
      expect(ws.capabilities().sandbox.commands).toMatchObject({ policy: "partial" });
    }
  });

  test("a server that asks about each command decides, and its answer is an error of the call", async () => {
    await using server = await startServer({ commands: true, requireApproval: true });
    await using ws = await opened(server.url);
    const ran = await shell(ws, "echo x > b");
    expect(ran).toMatchObject({ ok: false, error: { code: "APPROVAL_DENIED" } });
    expect(fs.existsSync(join(root, "b"))).toBe(false);
  });

  test("a command that runs out of time or is cancelled ends there", async () => {
    await using server = await startServer();
    await using ws = await opened(server.url);
    const late = await shell(ws, "sleep 600", { timeout_ms: 300 });
    expect(late.data).toMatchObject({ timed_out: true, exit_code: null });
    const stop = new AbortController();
    const running = ws.call(
      "run_command",
      { command: "echo begun > begun; sleep 20; echo late > late", shell: true },
      { signal: stop.signal },
    );
    while (!fs.existsSync(join(root, "begun"))) await new Promise((resolve) => setTimeout(resolve, 10));
    stop.abort();
    expect(await running).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    // The server answers only after the process group is gone.
    await server[Symbol.asyncDispose]();
    expect(fs.existsSync(join(root, "late"))).toBe(false);
  });

  test("a server that dies in the middle of a command leaves an error that says so", async () => {
    await using server = await startServer();
    await using ws = await opened(server.url);
    const running = shell(ws, "echo begun > begun; sleep 600");
    while (!fs.existsSync(join(root, "begun"))) await new Promise((resolve) => setTimeout(resolve, 10));
    server.kill("SIGKILL");
    expect(await running).toMatchObject({
      ok: false,
      error: { code: "IO_ERROR", message: expect.stringContaining("did not say how the command ended") },
    });
  });

  test("another directory under the same path is found out", async () => {
    await using server = await startServer();
    // A server that sees another disk answers like this one, except that it does not have the file.
    const elsewhere = async (url: string, init: RequestInit) => {
      if (init.method === "POST") {
        const body = JSON.parse(String(init.body)) as { same?: { path: string } };
        if (body.same !== undefined) fs.rmSync(body.same.path);
      }
      return fetch(url, init);
    };
    await expect(openRemote(server.url, { fetch: elsewhere })).rejects.toEqual(refused(/other files/u));
  });

  test("a server without commands, with a hidden tool, with another root or another token is refused", async () => {
    {
      await using server = await startServer({});
      await expect(openRemote(server.url)).rejects.toEqual(refused(/runs no commands|status 409/u));
      await expect(openRemote(server.url, { token: "wrong" })).rejects.toEqual(refused(/status 401/u));
      expect((await send(new URL("/sandbox", server.url).href, {}, { body: "{}" })).status).toBe(401);
    }
    await using server = await startServer({ commands: true }, ["--tools", "read_file"]);
    await expect(openRemote(server.url)).rejects.toEqual(refused(/status 409/u));
    await expect(openRemote(server.url, { root: base })).rejects.toEqual(refused(/./u));
  });

  test("a request that is not of the protocol is refused by the server", async () => {
    await using server = await startServer();
    const url = new URL("/sandbox", server.url).href;
    const headers = { authorization: `Bearer ${TOKEN}` };
    const command = { argv: ["true"], cwd: root, timeoutMs: 1_000, maxOutputBytes: 10 };
    const policy = { read: [root], write: [root], deny: [] };
    for (const body of [
      "{nonsense",
      "[]",
      "{}",
      JSON.stringify({ command, policy: { ...policy, dney: [] } }),
      JSON.stringify({ command: { ...command, argv: [] }, policy }),
      JSON.stringify({ command: { ...command, argv: "true" }, policy }),
      JSON.stringify({ command }),
    ])
      expect((await send(url, headers, { body })).status, body).toBe(400);
    const outside = { command: { ...command, cwd: base }, policy };
    const { status, text } = await send(url, headers, { body: JSON.stringify(outside) });
    expect([status, JSON.parse(text).error.code]).toEqual([409, "OUTSIDE_ALLOWED"]);
    // Contents cannot be guessed, whatever the name of the file: only a random text of a file for this is compared.
    const uuid = "0b6bd1a4-0d3c-4a54-9e34-6a4f3a2b1c00";
    const named = join(root, `.filewright-same-${uuid}`);
    fs.writeFileSync(join(root, ".env"), "TOKEN=1");
    fs.symlinkSync(".env", named);
    for (const same of [
      { path: join(root, ".env"), text: "TOKEN=1" },
      { path: join(root, ".env"), text: uuid },
      { path: named, text: "TOKEN=1" },
      { path: join(named, "../.env"), text: "TOKEN=1" },
    ])
      expect((await send(url, headers, { body: JSON.stringify({ same }) })).status, same.path).toBe(400);
    // A client cannot have more than the server's own policy.
    const wide = {
      command: { ...command, argv: ["cat", join(base, "config.json")] },
      policy: { read: null, write: ["/"], deny: [] },
    };
    const ran = await send(url, headers, { body: JSON.stringify(wide) });
    expect(JSON.parse(ran.text).outcome).not.toMatchObject({ exitCode: 0 });
  });
});

describe("a server that cannot be trusted", () => {
  const outcome = { exitCode: 0, signal: null, timedOut: false, truncated: false, stdout: "x", stderr: "" };
  const status = { tier: "bubblewrap", files: "enforced", network: "enforced", policy: "enforced" };
  const offer = () => ({
    protocol: 1,
    cwd: root,
    write: [root],
    protect: true,
    secrets: true,
    places: [],
    status,
  });

  /** Starts a server that offers commands and answers each with `answer`. */
  async function fake(answer: RequestListener, offered: object = offer()) {
    const server = createServer((incoming, outgoing) => {
      if (incoming.method === "GET") return void outgoing.end(JSON.stringify(offered));
      let body = "";
      incoming.on("data", (chunk) => {
        body += chunk;
      });
      incoming.on("end", () => {
        if (body.includes('"same"')) outgoing.end('{"same":true}');
        else answer(incoming, outgoing);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      async [Symbol.asyncDispose]() {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }
  const json =
    (value: unknown): RequestListener =>
    (_, outgoing) =>
      void outgoing.end(JSON.stringify(value));

  const answers: readonly (readonly [string, RequestListener])[] = [
    ["no JSON", (_, outgoing) => void outgoing.end("<html>")],
    ["an empty object", json({})],
    ["success without an exit code", json({ outcome: { ...outcome, exitCode: null } })],
    ["an exit code that is a text", json({ outcome: { ...outcome, exitCode: "0" } })],
    ["a result with an unknown member", json({ outcome: { ...outcome, verdict: "fine" } })],
    ["an error with a code of its own", json({ error: { code: "ALL_FINE", message: "trust me" } })],
    ["more than was asked for", json({ outcome: { ...outcome, stdout: "x".repeat(4_000_000) } })],
    ["half an answer", (_, outgoing) => void outgoing.write('{"outcome":', () => outgoing.destroy())],
  ];
  test.each(answers)("%s is no result of a command", async (_, answer) => {
    await using server = await fake(answer);
    await using ws = await opened(server.url);
    expect(await ws.call("run_command", { command: ["true"], max_output_bytes: 1_000 })).toMatchObject({
      ok: false,
      error: { code: "IO_ERROR" },
    });
  });

  test("an offer of another version, without a policy, or with wrong words is refused", async () => {
    const offers: readonly (readonly [object, RegExp])[] = [
      [{ ...offer(), protocol: 2 }, /another version/u],
      [{ ...offer(), cwd: base }, /another one than the root/u],
      [{ ...offer(), write: [] }, /may not be changed/u],
      [{ ...offer(), status: { ...status, policy: "all of it" } }, /does not answer as filewright/u],
      [{ tools: [] }, /does not answer as filewright/u],
    ];
    for (const [offered, text] of offers) {
      await using server = await fake(json({ outcome }), offered);
      await expect(openRemote(server.url)).rejects.toEqual(refused(text));
    }
    await using server = await fake(json({ outcome }), { ...offer(), status: { ...status, policy: "none" } });
    await expect(opened(server.url)).rejects.toEqual(refused(/does not hold/u));
  });

  test("options are checked, and a token is sent by TLS or to this machine alone", async () => {
    for (const wrong of [{ url: "http://runner.example" }, { root: "ws" }, { toekn: "x" }, { degrade: true }])
      await expect(openRemote("http://127.0.0.1:1", wrong as never)).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
    await expect(openRemote("http://127.0.0.1:1")).rejects.toEqual(refused(/cannot be reached/u));
  });
});
