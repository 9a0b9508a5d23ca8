/** Kernels that lack what protects: every attack again without `openat2`, and what is refused without Landlock. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { share } from "../support/share.ts";
import { attacker } from "./attacker.ts";
import { ARMS } from "./world.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const ENTRY = resolve(ROOT, "dist/cli/library.js");
const run = promisify(execFile);
const LANDLOCK = ARMS.some(({ kernel }) => kernel === "require");

/** How a kernel, or a filter of a container, answers a call that it does not have. */
const ERRORS = ["ENOSYS", "EPERM"] as const;

const script = (code: string): string[] => [
  process.execPath,
  "--input-type=module",
  "-e",
  `import { LocalBackend, SandboxPolicy, openWorkspace, linuxSandbox } from ${JSON.stringify(ENTRY)};
   const facts = () => new LocalBackend({ policy: SandboxPolicy.workspaceOnly("/tmp") }).capabilities();
   const code = async (run) => { try { await run(); return "OK"; } catch (error) { return error.code; } };
   console.log(JSON.stringify(await (async () => { ${code} })()));`,
];

async function said(call: string, errno: string, code: string): Promise<unknown> {
  const { stdout } = await run(attacker(), ["without", call, errno, ...script(code)], { cwd: ROOT });
  return JSON.parse(stdout) as unknown;
}

describe.skipIf(process.platform !== "linux" || !existsSync(ENTRY))("a kernel", () => {
  test.each(ERRORS)("that answers openat2 with %s is known to need the walk", async (errno) => {
    expect(await said("openat2", errno, "return facts()")).toMatchObject({
      resolver: "walk",
      reason: expect.stringContaining("openat2"),
    });
  });

  // After the choice of the walk, the two are the same.
  test.each(share(ERRORS, 2))(
    "that answers openat2 with %s: every attack meets the walk, and fails",
    async (errno) => {
      const vitest = resolve(ROOT, "node_modules/vitest/vitest.mjs");
      const files = ["paths", "links", "policy", "writes"].map((name) => `test/attack/${name}.test.ts`);
      const args = [
        "without",
        "openat2",
        errno,
        process.execPath,
        vitest,
        "run",
        "--project",
        "fast",
        "--maxWorkers=1",
        ...files,
      ];
      const { stdout } = await run(attacker(), args, {
        cwd: ROOT,
        env: { ...process.env, NO_COLOR: "1", FILEWRIGHT_ATTACK_KERNEL: LANDLOCK ? "require" : "off" },
        maxBuffer: 1 << 24,
      });
      expect(stdout).toMatch(/Tests\s+\d+ passed \(\d+\)/u);
    },
  );

  test("without Landlock: what requires it does not open, and what prefers it says so", async () => {
    for (const errno of ERRORS) {
      expect(
        await said(
          "landlock",
          errno,
          `return [
            await code(() => openWorkspace({ root: "/tmp", stateDir: "/tmp/filewright-none", kernel: "require" })),
            await code(() => linuxSandbox({ writableRoots: ["/tmp"] })),
            facts().kernel.files,
            typeof facts().kernel.reason,
            linuxSandbox({ writableRoots: ["/tmp"], degrade: "allow" }).status.tier,
          ]`,
        ),
      ).toEqual(["SANDBOX_SETUP_FAILED", "SANDBOX_SETUP_FAILED", "none", "string", "seccomp"]);
    }
  });
});
