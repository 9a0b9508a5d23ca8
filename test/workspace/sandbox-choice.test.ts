/** Which sandbox commands run in, what it holds, and what is said where there is none. */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { seatbeltProfile } from "../../js/backends/sandbox/sandbox-seatbelt.node.ts";
import { openWorkspace, type SandboxProvider, sandboxFor } from "../../js/index.node.ts";

let base: string;
let root: string;
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-tier-")));
  root = join(base, "ws");
  fs.mkdirSync(join(root, "kept"), { recursive: true });
  fs.writeFileSync(join(base, "out"), "out");
});
afterEach(() => fs.rmSync(base, { recursive: true, force: true }));

const shell = (
  sandbox: SandboxProvider,
  script: string,
  more: { timeoutMs?: number; signal?: AbortSignal } = {},
) =>
  sandbox.run({
    argv: ["/bin/sh", "-c", script],
    cwd: root,
    timeoutMs: 10_000,
    maxOutputBytes: 1_000,
    ...more,
  });
const refused = expect.objectContaining({ code: "SANDBOX_SETUP_FAILED" });
const elsewhere: SandboxProvider = {
  status: { tier: "container", files: "enforced", network: "enforced", policy: "enforced" },
  run: async () => ({
    exitCode: 0,
    signal: null,
    timedOut: false,
    truncated: false,
    stdout: "there\n",
    stderr: "",
  }),
};

test("the sandbox is chosen by the system, by name, or somewhere else where that is asked for", async () => {
  expect(() => sandboxFor({ provider: "remote", writableRoots: [root] })).toThrow(refused);
  expect(() => sandboxFor({ provider: "remote", writableRoots: [root], degrade: "allow" })).toThrow(refused);
  expect(() => sandboxFor({ remote: elsewhere, writableRoots: [root] })).toThrow(/'remote': is never used/u);
  const other = process.platform === "darwin" ? "linux" : "seatbelt";
  expect(() => sandboxFor({ provider: other, writableRoots: [root] })).toThrow(refused);
  const fallback = { fallback: "remote", remote: elsewhere, writableRoots: [root] } as const;
  expect(sandboxFor({ ...fallback, provider: other }).status.tier).toBe("container");
  const sandbox = sandboxFor({ provider: "remote", remote: elsewhere, writableRoots: [root] });
  const ws = await openWorkspace({ root, stateDir: join(base, "state"), commands: sandbox });
  const ran = await ws.call("run_command", { command: ["anything"] });
  expect(ran).toMatchObject({ ok: true, data: { tier: "container", stdout: "there\n" } });
  await ws.close();
});

describe.skipIf(process.platform !== "linux")("on Linux", () => {
  test("another system's sandbox is refused, unless less will do, and then that is told", async () => {
    const options = { provider: "seatbelt", writableRoots: [root] } as const;
    expect(() => sandboxFor(options)).toThrow(refused);
    expect(sandboxFor({ ...options, degrade: "allow" }).status.tier).not.toBe("seatbelt");
  });

  test("the strict tier without bubblewrap is refused, unless less will do, and then that is told", () => {
    const options = {
      tier: "strict",
      bubblewrap: join(base, "no-such-program"),
      writableRoots: [root],
    } as const;
    expect(() => sandboxFor(options)).toThrow(refused);
    expect(sandboxFor({ ...options, degrade: "allow" }).status.tier).not.toBe("bubblewrap");
  });

  test("read-only places inside what may be changed are never passed over in silence", () => {
    const readOnlyPaths = [join(root, "kept")];
    expect(() => sandboxFor({ writableRoots: [root], readOnlyPaths })).toThrow(refused);
  });

  test.each(["fast", "strict"] as const)(
    "the %s tier that may read everything reads nothing of the host's process",
    async (tier) => {
      const sandbox = sandboxFor({ tier, writableRoots: [root] });
      const names = ["environ", "maps", "cmdline", "mem", "status"];
      const script = names.map((name) => `head -c 1 /proc/${process.pid}/${name} && echo read ${name}`);
      const ran = await shell(sandbox, `${script.join("; ")}; head -c 4 /etc/passwd`);
      expect(ran.stdout).toBe(fs.readFileSync("/etc/passwd", "utf8").slice(0, 4));
    },
  );

  describe("the strict tier", () => {
    const strict = () =>
      sandboxFor({ tier: "strict", writableRoots: [root], readOnlyPaths: [join(root, "kept")] });

    test("changes nothing outside in any way, nor what is read-only inside", async () => {
      const sandbox = strict();
      expect(sandbox.status).toMatchObject({
        tier: "bubblewrap",
        files: "enforced",
        network: "enforced",
        processes: "enforced",
      });
      const before = fs.statSync(join(base, "out"));
      const tries = [
        "echo PWN > ../out",
        "chmod 777 ../out",
        "touch -d 2001-01-01 ../out",
        "echo PWN > kept/f",
        "rm -rf kept",
        "mv kept other",
      ];
      for (const script of tries) {
        const ran = await shell(sandbox, script);
        expect(ran.exitCode, `${script}: ${ran.stderr}`).not.toBe(0);
      }
      const after = fs.statSync(join(base, "out"));
      expect([after.mode, after.mtimeMs, after.size]).toEqual([before.mode, before.mtimeMs, before.size]);
      expect(fs.readdirSync(join(root, "kept"))).toEqual([]);
      expect(await shell(sandbox, "cat ../out; echo in > f")).toMatchObject({ exitCode: 0, stdout: "out" });
      expect(fs.readFileSync(join(root, "f"), "utf8")).toBe("in\n");
    });

    test("has a network and processes of its own, which end with it", async () => {
      const ran = await shell(
        strict(),
        "ls /proc | grep -c '^[0-9]*$'; cat /proc/net/dev; sleep 300 & echo on",
      );
      expect(Number(ran.stdout.split("\n", 1)[0])).toBeLessThan(10);
      expect(ran.stdout).not.toMatch(/eth|ens|wlan/u);
      expect(ran.stdout).toContain("on");
    });

    test("ends at its time and when it is told to, and keeps the beginning of much", async () => {
      const late = await shell(strict(), "sleep 60", { timeoutMs: 200 });
      expect(late).toMatchObject({ timedOut: true, exitCode: null });
      const signal = AbortSignal.timeout(100);
      await expect(shell(strict(), "sleep 60", { signal })).rejects.toMatchObject({ code: "CANCELLED" });
      const much = await shell(strict(), "yes | head -n 5000");
      expect([much.stdout.length, much.truncated]).toEqual([1_000, true]);
    });
  });
});

describe("the profile for macOS", () => {
  const options = {
    writableRoots: ["/w"],
    readRoots: null,
    network: false,
    readOnlyPaths: ["/w/.git/hooks"],
  };

  test("says what may be changed, what not, and that nothing else may", () => {
    expect(seatbeltProfile(options).split("\n")).toEqual([
      "(version 1)",
      "(deny default)",
      "(allow process-exec process-fork)",
      "(allow signal (target same-sandbox))",
      "(allow sysctl-read)",
      "(allow file-read-metadata)",
      "(allow file-read*)",
      '(allow file-write-data (literal "/dev/null"))',
      '(allow file-write* (subpath "/w"))',
      '(deny file-write* (subpath "/w/.git/hooks"))',
      "(deny file-write-setugid)",
      "(allow network* (local unix-socket) (remote unix-socket))",
    ]);
  });

  test("a path is a string, whatever it holds", () => {
    const text = seatbeltProfile({ ...options, writableRoots: ['/a")(allow default)("\\'] });
    expect(text).toContain('(subpath "/a\\")(allow default)(\\"\\\\")');
  });

  // Never run yet: there was no macOS to run it on.
  test.skipIf(process.platform !== "darwin")("keeps a command in", async () => {
    const sandbox = sandboxFor({
      provider: "seatbelt",
      writableRoots: [root],
      readOnlyPaths: [join(root, "kept")],
    });
    expect((await shell(sandbox, "echo PWN > ../out")).exitCode).not.toBe(0);
    expect((await shell(sandbox, "echo PWN > kept/f")).exitCode).not.toBe(0);
    expect((await shell(sandbox, "echo in > f")).exitCode).toBe(0);
    expect(fs.readFileSync(join(base, "out"), "utf8")).toBe("out");
  });
});
