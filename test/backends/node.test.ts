/** The disk without the native addon: the backend contract, free and confined, and what it does like the addon. */
import { grepByWalk } from "../../js/backends/search/search.ts";
import { PassingFiles } from "../../js/backends/delegating.ts";
import * as fs from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NodeBackend, SandboxedBackend, SandboxPolicy } from "../../js/index.node.ts";
import { osError } from "../../js/backends/node/errors.node.ts";
import { type PinMode, setPinMode } from "../../js/backends/node/pinned.node.ts";
import { backendContract } from "../../js/testing/index.ts";

const ABILITIES = ["conditions", "ranges", "links", "modes", "asides", "locks"] as const;

const WAYS: readonly (readonly [PinMode, boolean])[] = [
  ["descriptor", false],
  ["descriptor", true],
  ["compare", true],
];

for (const [mode, confined] of WAYS) {
  describe.skipIf(mode === "descriptor" && process.platform !== "linux")(
    `the contract, held by ${mode}, ${confined ? "confined" : "free"}`,
    () => {
      backendContract(
        () => {
          const before = setPinMode(mode);
          const root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-node-")));
          const free = new NodeBackend({ stateDir: join(root, "..", "filewright-test-state") });
          const policy = SandboxPolicy.workspaceOnly(root, { protect: true, deny: ["*.denied"] });
          const backend = confined ? new SandboxedBackend(free, policy) : free;
          const dispose = (): void => {
            setPinMode(before);
            fs.rmSync(root, { recursive: true, force: true });
          };
          return { backend, root, dispose };
        },
        { test: it, requires: ABILITIES },
      );
    },
  );
}

describe("a loop over many calls", () => {
  it("gives the event loop its turns, though no call waits for a thread", async () => {
    const root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-node-")));
    const disk = new NodeBackend();
    let turned = false;
    setImmediate(() => {
      setImmediate(() => {
        turned = true;
      });
    });
    let calls = 0;
    for (; !turned && calls < 50_000; calls++) await disk.stat(root);
    fs.rmSync(root, { recursive: true });
    expect(turned, `${calls} calls`).toBe(true);
  });
});

describe("a search over it", () => {
  it("asks for no sizes, and passes over a file above the limit all the same", async () => {
    const root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-node-")));
    fs.writeFileSync(join(root, "small"), "needle\n");
    fs.writeFileSync(join(root, "large"), "needle\n".repeat(1000));
    const disk = new NodeBackend();
    const facts: unknown[] = [];
    const watched = Object.assign(new PassingFiles(disk), {
      listDir: (path: string, options?: { readonly facts?: boolean }) => {
        if (path === root) facts.push(options?.facts);
        return disk.listDir(path, options);
      },
    });
    const found = await grepByWalk(watched, root, { pattern: "needle", maxFileBytes: 100 });
    fs.rmSync(root, { recursive: true });
    expect(found).toMatchObject({ filesSearched: 1, skippedLarge: 1, totalMatches: 1 });
    expect(facts).toEqual([false]);
  });
});

describe("errors without the native addon", () => {
  it("a full quota is told by its number, since libuv has no name for it", () => {
    const errno = -constants.errno.EDQUOT;
    const thrown = Object.assign(new Error("write"), {
      errno,
      code: `Unknown system error ${errno}`,
      syscall: "write",
    });
    expect(osError(thrown, "/a.txt")).toMatchObject({ code: "NO_SPACE", path: "/a.txt" });
  });

  it.skipIf(process.getuid === undefined).each(["locks", "."])(
    "a directory of locks in which others may write is refused with what to do (%s)",
    async (open) => {
      const stateDir = fs.mkdtempSync(join(tmpdir(), "filewright-node-state-"));
      const backend = new NodeBackend({ stateDir });
      try {
        fs.mkdirSync(join(stateDir, "locks"));
        fs.chmodSync(join(stateDir, open), 0o777);
        await expect(backend.lock("/a.txt", { timeoutMs: 100, resolved: true })).rejects.toMatchObject({
          message: expect.stringContaining("others may write in it") as string,
          hint: "make it yours, without write access for others (chmod go-w), or name another with --state-dir (stateDir) or XDG_STATE_HOME",
        });
      } finally {
        await backend.close?.();
        fs.rmSync(stateDir, { recursive: true, force: true });
      }
    },
  );
});
