/**
 * The drivers of sandbox services, against protocol doubles on loopback (`doubles.ts`): no service of the internet is
 * asked, so this shows that the drivers follow the documentation and distrust what comes back.
 */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openWorkspace } from "../../js/index.node.ts";
import { cloudflareSandbox, e2bSandbox, type ServiceSandbox } from "../../js/sandbox/index.node.ts";
import { type Double, type Fault, SERVICE_KEY, startBridgeDouble, startE2bDouble } from "./doubles.ts";

const SERVICES: readonly (readonly [
  name: string,
  start: () => Promise<Double>,
  open: (double: Double, more?: object) => Promise<ServiceSandbox>,
])[] = [
  [
    "e2b",
    startE2bDouble,
    ({ url, directory }, more = {}) =>
      e2bSandbox({ apiKey: SERVICE_KEY, url, sandboxUrl: url, directory, ...more }),
  ],
  [
    "cloudflare",
    startBridgeDouble,
    ({ url, directory }, more = {}) => cloudflareSandbox({ apiKey: SERVICE_KEY, url, directory, ...more }),
  ],
];

let root: string;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "filewright-service-")));
  writeFileSync(join(root, "a"), "a file of the workspace\n");
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const command = (script: string, more: object = {}) => ({
  argv: ["/bin/sh", "-c", script],
  cwd: root,
  timeoutMs: 30_000,
  maxOutputBytes: 1_000,
  ...more,
});

describe.each(SERVICES)("%s, by a protocol double", (name, start, open) => {
  test("a command of a workspace runs there, and the model is told that its files are not there", async () => {
    await using double = await start();
    await using commands = await open(double);
    await using ws = await openWorkspace({ root, commands });
    const ran = await ws.call("run_command", { command: "echo out; echo err >&2; exit 3", shell: true });
    expect(ran.data).toMatchObject({ exit_code: 3, stdout: "out\n", stderr: "err\n", tier: name });
    expect((await ws.call("run_command", { command: ["true"] })).data).toMatchObject({ exit_code: 0 });
    expect((await ws.call("run_command", { command: ["no-such-program"] })).data).toMatchObject({
      exit_code: 127,
    });
    const { description } = ws.tools.find((tool) => tool.name === "run_command") ?? {};
    expect(description).toContain("no file of this workspace is there");
    expect(description).not.toContain("protected places are read-only");
    expect(ws.capabilities().sandbox.commands).toMatchObject({ tier: name, workspaceFiles: "absent" });
  });

  test("arguments and variables arrive as they are", async () => {
    await using double = await start();
    await using commands = await open(double);
    const argv = ["/bin/sh", "-c", 'printf "%s|" "$@" "$NAME"', "sh", "a b", "$(id)", "'\"\n;", "é"];
    const { stdout } = await commands.run({ ...command(""), argv, env: { NAME: "v w" } });
    expect(stdout).toBe("a b|$(id)|'\"\n;|é|v w|");
  });

  test("a directory of the workspace is refused, because it is not there", async () => {
    await using double = await start();
    await using commands = await open(double);
    await using ws = await openWorkspace({ root, commands });
    await ws.call("mkdir", { path: "d" });
    const ran = await ws.call("run_command", { command: ["pwd"], cwd: "d" });
    expect(ran).toMatchObject({ ok: false, error: { code: "INVALID_ARGUMENT" } });
  });

  test("much output is cut, and control characters reach no terminal", async () => {
    await using double = await start();
    await using commands = await open(double);
    await using ws = await openWorkspace({ root, commands });
    const much = await ws.call("run_command", {
      command: "yes | head -c 300000",
      shell: true,
      max_output_bytes: 100,
    });
    expect(much.data).toMatchObject({ truncated: true, stdout: "y\n".repeat(50) });
    const hostile = await ws.call("run_command", { command: ["printf", "\\033]0;x\\007"] });
    expect(hostile.text).not.toContain("\u001B");
  });

  test("a command that runs out of time ends with its sandbox, and the next one gets a new one", async () => {
    await using double = await start();
    await using commands = await open(double);
    const [first] = double.sandboxes;
    const late = await commands.run(command("exec sleep 600", { timeoutMs: 500 }));
    expect(late).toMatchObject({ exitCode: null, timedOut: true });
    expect(late.stderr).toContain("the next command gets a new one");
    expect([...double.sandboxes]).not.toContain(first);
    expect(await commands.run(command("echo on"))).toMatchObject({ exitCode: 0, stdout: "on\n" });
  });

  test("a cancelled command ends with its sandbox", async () => {
    await using double = await start();
    await using commands = await open(double);
    const stop = new AbortController();
    const running = commands.run(command("exec sleep 600", { signal: stop.signal }));
    const refused = expect(running).rejects.toMatchObject({ code: "CANCELLED" });
    while (!double.requests.some(({ line }) => /exec|Start/u.test(line)))
      await new Promise((resolve) => setTimeout(resolve, 5));
    stop.abort();
    await refused;
    expect(double.sandboxes.size).toBe(0);
    await expect(commands.run(command("true", { signal: stop.signal }))).rejects.toMatchObject({
      code: "CANCELLED",
    });
  });

  const faults: readonly Fault[] = [
    "cut after output",
    "success without a code",
    "garbage",
    "output that is not base64",
    "an unknown event",
    "an endless line",
    "status 500",
    "an error event",
  ];
  test.each(faults)(
    "%s: the command failed, whatever was claimed, and its sandbox is gone",
    async (fault) => {
      await using double = await start();
      await using commands = await open(double);
      const [first = ""] = double.sandboxes;
      double.fault = fault;
      const error = await commands.run(command("echo out")).then(
        (outcome) => outcome,
        (thrown: Error) => thrown,
      );
      expect(error).toMatchObject({ code: "IO_ERROR" });
      // Anybody may have written the words of a service: they do not reach a model.
      expect((error as Error).message).not.toContain("rm -rf");
      expect(double.sandboxes.has(first)).toBe(false);
      double.fault = "none";
      expect(await commands.run(command("echo on"))).toMatchObject({ exitCode: 0 });
    },
  );

  test("a sandbox that cannot be deleted is told, because the command may still run", async () => {
    await using double = await start();
    const commands = await open(double);
    double.keepsSandboxes = true;
    const late = commands.run(command("exec sleep 5", { timeoutMs: 200 }));
    await expect(late).rejects.toMatchObject({
      code: "IO_ERROR",
      message: expect.stringContaining("may still run"),
    });
  });

  test("closing deletes the sandbox, and no command runs afterwards", async () => {
    await using double = await start();
    const commands = await open(double);
    await commands.close();
    expect(double.sandboxes.size).toBe(0);
    await expect(commands.run(command("true"))).rejects.toMatchObject({ code: "SANDBOX_SETUP_FAILED" });
  });

  test("a service that cannot be reached, refuses the key or names no sandbox is refused at once", async () => {
    const { url } = await start().then(async (double) => {
      await double[Symbol.asyncDispose]();
      return double;
    });
    const refused = expect.objectContaining({ code: "SANDBOX_SETUP_FAILED" });
    await expect(open({ url, directory: "/" } as Double)).rejects.toEqual(refused);
    for (const answer of [
      new Response("", { status: 401 }),
      new Response("no json"),
      Response.json({ id: "../../x", sandboxID: "a/b" }),
      Response.json([]),
    ]) {
      const fetch = async () => answer;
      await expect(open({ url, directory: "/" } as Double, { fetch })).rejects.toEqual(refused);
    }
  });

  test("a key is sent by TLS or to this machine alone, and options are checked", async () => {
    for (const wrong of [
      { url: "http://sandbox.example" },
      { apiKey: 3 },
      { tmeplate: "x" },
      { degrade: "yes" },
    ])
      await expect(
        open({ url: "http://127.0.0.1:1", directory: "/" } as Double, wrong),
      ).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
  });
});

test("e2b is asked for a sandbox without network, and its key stays out of the sandbox", async () => {
  await using double = await startE2bDouble();
  await using commands = await e2bSandbox({
    apiKey: SERVICE_KEY,
    url: double.url,
    sandboxUrl: double.url,
    directory: double.directory,
  });
  expect(commands.status.network).toBe("enforced");
  await commands.run(command("true"));
  const [made, started] = double.requests;
  expect(JSON.parse(made?.body ?? "")).toMatchObject({ allow_internet_access: false, secure: true });
  expect(made?.headers["x-api-key"]).toBe(SERVICE_KEY);
  expect(started?.headers).toMatchObject({ "x-access-token": "token-of-sb-1", "e2b-sandbox-port": "49983" });
  expect(started?.headers["x-api-key"]).toBeUndefined();
});
