/** Tests of CI keep temporary files in memory where it may be mounted, and nothing of it stays. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { env, execPath } from "node:process";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const MEMORY = new URL("../../scripts/lib/memory.mjs", import.meta.url);
/** The type of a file system in memory, as statfs(2) returns it. */
const TMPFS = 0x01_02_19_94;

it("a folder in memory is unmounted and removed when the program ends, also where something is left in it", () => {
  const base = temporaryDirectory();
  const program = `
    import { statfsSync, writeFileSync } from "node:fs";
    import { mountMemory } from "${MEMORY}";
    const folder = mountMemory();
    if (folder !== undefined) writeFileSync(folder + "/left", "x");
    console.log(folder === undefined ? "none" : statfsSync(folder).type);
  `;
  const { status, stdout, stderr } = spawnSync(execPath, ["--input-type=module", "-e", program], {
    encoding: "utf8",
    env: { ...env, TMPDIR: base },
  });
  expect([status, stderr]).toEqual([0, ""]);
  // None for a user who may not mount.
  expect(["none", String(TMPFS)]).toContain(stdout.trim());
  expect(readdirSync(base)).toEqual([]);
});
