/** Commands in the sandbox: their permissions, their end, and their results. */
import * as fs from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  LocalBackend,
  linuxSandbox,
  openWorkspace,
  type SandboxFlags,
  sandboxOptionsOf,
  SandboxPolicy,
  type Workspace,
} from "../../js/index.node.ts";

let base: string;
let root: string;
const open: Workspace[] = [];
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-run-")));
  root = join(base, "ws");
  fs.mkdirSync(root);
  fs.writeFileSync(join(base, "out"), "out");
});
afterEach(async () => {
  for (const ws of open.splice(0)) await ws.close();
  fs.rmSync(base, { recursive: true, force: true });
});

async function workspace(options: Partial<Parameters<typeof linuxSandbox>[0]> = {}): Promise<Workspace> {
  // Inside the roots this tier holds nothing of the default policy: `test/commands` has both tiers.
  const commands = linuxSandbox({ writableRoots: [root], degrade: "allow", ...options });
  const ws = await openWorkspace({ root, stateDir: join(base, "state"), commands });
  open.push(ws);
  return ws;
}

const shell = (command: string, more: Record<string, unknown> = {}) => ({ command, shell: true, ...more });
interface Ran {
  readonly exit_code: number | null;
  readonly signal: number | null;
  readonly timed_out: boolean;
  readonly truncated: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly tier: string;
}
async function run(ws: Workspace, args: Record<string, unknown>, signal?: AbortSignal): Promise<Ran> {
  const result = await ws.call("run_command", args, signal === undefined ? {} : { signal });
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.data as Ran;
}

const { landlock } = new LocalBackend({ policy: SandboxPolicy.workspaceOnly(tmpdir()) }).capabilities()
  .kernel;

test("without a sandbox there is no run_command", async () => {
  const ws = await openWorkspace({ root, stateDir: join(base, "state") });
  open.push(ws);
  expect(ws.tools.some(({ name }) => name === "run_command")).toBe(false);
  expect(await ws.call("run_command", { command: ["true"] })).toMatchObject({
    ok: false,
    error: { code: "UNKNOWN_TOOL" },
  });
});

test("a kernel without Landlock is refused, unless less will do, and then that is told", async () => {
  const options = { writableRoots: [root], landlock: "ignore" } as const;
  expect(() => linuxSandbox(options)).toThrow(expect.objectContaining({ code: "SANDBOX_SETUP_FAILED" }));
  const { status } = linuxSandbox({ ...options, degrade: "allow" });
  expect(status).toMatchObject({ tier: "seccomp", files: "none", network: "enforced", policy: "none" });
});

test("a policy of flags: the working directory is writable too, reading is open, the rest is not", () => {
  expect(sandboxOptionsOf({}, root)).toEqual({ writableRoots: [root], readRoots: null, network: false });
  expect(sandboxOptionsOf({ writableRoots: ["../state", root, "/var/x"] }, root).writableRoots).toEqual([
    join(base, "state"),
    root,
    "/var/x",
  ]);
  const wide = sandboxOptionsOf({ fullDiskWriteAccess: true, fullNetworkAccess: true }, root);
  expect(wide).toEqual({ writableRoots: ["/"], readRoots: null, network: true });
  expect(() => sandboxOptionsOf({ writeableRoots: [] } as never, root)).toThrow(/writableRoots/u);
  expect(() => sandboxOptionsOf({}, "relative")).toThrow(/absolute/u);
});

test.skipIf(landlock === 0)("the flags hold for commands", async () => {
  const other = join(base, "other");
  fs.mkdirSync(other);
  const tried = async (flags: SandboxFlags, command: string): Promise<boolean> => {
    const provider = linuxSandbox({ ...sandboxOptionsOf(flags, root), degrade: "allow" });
    const ws = await openWorkspace({ root, stateDir: join(base, "state"), commands: provider });
    open.push(ws);
    return (await run(ws, shell(command))).exit_code === 0;
  };
  expect(await tried({}, "echo x > in")).toBe(true);
  expect(await tried({}, "cat ../out")).toBe(true);
  expect(await tried({}, "echo x > ../other/f")).toBe(false);
  expect(await tried({ fullDiskReadAccess: false }, "cat ../out")).toBe(false);
  expect(await tried({ fullDiskReadAccess: false }, "echo x > in && cat in")).toBe(true);
});

describe.skipIf(landlock === 0)("a sandboxed command", () => {
  test("gives its output, its errors and its exit code; arguments go through no shell", async () => {
    const ws = await workspace();
    expect(await run(ws, { command: ["echo", "$HOME; *"] })).toMatchObject({
      exit_code: 0,
      stdout: "$HOME; *\n",
      tier: "landlock+seccomp",
    });
    expect(await run(ws, shell("echo no >&2; exit 3"))).toMatchObject({ exit_code: 3, stderr: "no\n" });
    const told = await ws.call("run_command", shell("echo one; echo two >&2"));
    expect(told.text).toBe("Exit code 0\none\n[errors]\ntwo");
    expect((await ws.call("access_info", {})).data).toMatchObject({ sandbox: { net: "enforced" } });
  });

  const cases: readonly [name: string, command: string, works: boolean][] = [
    ["changes files inside", "echo x > in && mkdir d && mv in d/in && ln -s d l && rm -r d", true],
    ["reads the system", "cat /etc/passwd > /dev/null", true],
    ["throws things away", "echo x > /dev/null", true],
    ["writes a file outside", "echo x > ../out", false],
    ["can gain no privileges", "exec grep -q '^NoNewPrivs:.1' /proc/self/status", true],
    ["makes a file outside", "echo x > ../new", false],
    ["removes a file outside", "rm -f ../out", false],
    ["moves something out", "echo x > in; mv in ../moved", false],
    ["writes through a link that leads out", "ln -s ../out l; echo x > l", false],
    ["has a child write outside", "sh -c 'sh -c \"echo x > ../out\"'", false],
    ["writes outside from the background", "(echo x > ../out) & wait $!", false],
  ];
  test.each(cases)("%s: %s", async (_name, command, works) => {
    const ws = await workspace();
    const { exit_code } = await run(ws, shell(command));
    expect(exit_code === 0).toBe(works);
    expect(fs.readFileSync(join(base, "out"), "utf8")).toBe("out");
    expect(fs.readdirSync(base).sort()).toEqual(
      ["out", "state", "ws"].filter((name) => name !== "state" || fs.existsSync(join(base, "state"))),
    );
  });

  test("reaches no network by any of its ways, and Unix sockets only where they are allowed", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    const script = (wanted: string) =>
      `const net = require("node:net"); ${wanted}; function ended(error) { console.log(error?.code ?? "ok"); process.exit(0); }`;
    const tcp = script(`net.connect(${port}, "127.0.0.1").on("error", ended).on("connect", () => ended())`);
    const udp = script(
      `const s = require("node:dgram").createSocket("udp4"); s.on("error", ended); s.bind(0, () => ended())`,
    );
    const unix = script(`net.createServer().on("error", ended).listen("./s", () => ended())`);
    const [closed, wide] = [await workspace(), await workspace({ network: true })];
    const local = await workspace({ sockets: true });
    try {
      const said = async (ws: Workspace, code: string) =>
        (await run(ws, { command: [process.execPath, "-e", code] })).stdout.trim();
      expect(await said(closed, tcp)).toBe("EPERM");
      expect(await said(closed, udp)).toBe("EPERM");
      expect(await said(closed, unix)).toBe("EACCES");
      expect(await said(wide, unix)).toBe("EACCES");
      expect(await said(local, unix)).toBe("ok");
      expect(await said(local, tcp)).toBe("EPERM");
      expect(await said(wide, tcp)).toBe("ok");
    } finally {
      server.close();
    }
  });

  test("is killed with everything it started when its time is up, and when it ends", async () => {
    const ws = await workspace();
    const late = await run(ws, shell("(sleep 3; touch late) & sleep 30", { timeout_ms: 200 }));
    expect(late).toMatchObject({ timed_out: true, exit_code: null });
    expect(await run(ws, shell("(sleep 3; touch left) & echo done"))).toMatchObject({ stdout: "done\n" });
    await sleep(3500);
    expect(fs.readdirSync(root)).toEqual([]);
  });

  test("ends when the call is cancelled", async () => {
    const ws = await workspace();
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 100);
    await expect(run(ws, { command: ["sleep", "30"] }, stop.signal)).rejects.toThrow("CANCELLED");
  });

  test("keeps the beginning of an output without end, and is not held up by it", async () => {
    const ws = await workspace();
    const { stdout, truncated, exit_code } = await run(
      ws,
      shell("yes | head -c 5000000", { max_output_bytes: 1000 }),
    );
    expect([stdout.length, truncated, exit_code]).toEqual([1000, true, 0]);
  });

  test("is given nothing of the host's environment but what is common", async () => {
    process.env["FILEWRIGHT_TEST_SECRET"] = "s3cret";
    try {
      const { stdout } = await run(await workspace(), { command: ["env"] });
      expect(stdout).toContain("PATH=");
      expect(stdout).not.toContain("s3cret");
    } finally {
      delete process.env["FILEWRIGHT_TEST_SECRET"];
    }
  });

  test("leaves a link that leads out, and the next file tool does not follow it", async () => {
    const ws = await workspace();
    expect((await run(ws, shell(`ln -s ${join(base, "out")} link`))).exit_code).toBe(0);
    const result = await ws.call("write_file", { path: "link", content: "x" });
    expect(result).toMatchObject({ ok: false, error: { code: "OUTSIDE_ALLOWED" } });
    expect(fs.readFileSync(join(base, "out"), "utf8")).toBe("out");
  });

  test("a program that is not there, a directory outside and a wrong form are refused", async () => {
    const ws = await workspace();
    const codes: string[] = [];
    for (const args of [
      { command: ["no-such-program-here"] },
      { command: ["true"], cwd: ".." },
      { command: "echo x" },
      { command: [] },
    ]) {
      const result = await ws.call("run_command", args);
      codes.push(result.ok ? "ok" : result.error.code);
    }
    expect(codes).toEqual(["NOT_FOUND", "OUTSIDE_ALLOWED", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]);
  });

  test("probes tell what the sandbox lets through", async () => {
    const sandbox = linuxSandbox({ writableRoots: [root] });
    const probe = sandbox.probe as NonNullable<typeof sandbox.probe>;
    expect(await probe("write", { path: join(root, "f") })).toEqual({ ok: true });
    expect(await probe("write", { path: join(base, "new") })).toEqual({ ok: false, errno: "EACCES" });
    expect(await probe("write", { path: "/dev/null" })).toEqual({ ok: true });
    expect(await probe("tcp_connect")).toEqual({ ok: false, errno: "EPERM" });
    expect(await probe("unix_socket")).toEqual({ ok: false, errno: "EACCES" });
    const open = linuxSandbox({ writableRoots: [root], sockets: true });
    expect(await open.probe?.("unix_socket")).toEqual({ ok: true });
    fs.writeFileSync(join(base, "after"), "this thread is as free as before");
  });
});
