import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { parseGrants } from "../../js/index.node.ts";
import { temporary } from "../tools/harness.ts";

const entry = new URL("../../dist/cli/library.js", import.meta.url).href;
const child = `
import { openGrantsFile } from ${JSON.stringify(entry)};
const [file, stateDir, who] = process.argv.slice(1);
const grants = await openGrantsFile(file, { stateDir });
for (let at = 0; at < 25; at++) {
  await grants.add({ dir: "/g/" + who + "/" + at, access: "write", granted_at: new Date().toISOString() });
}
await grants.remove("/g/" + who + "/0");
`;

test("four processes that grant and revoke at once lose nothing", async () => {
  const { base, stateDir } = await temporary();
  const file = join(base, "deep", "er", "grants.json");
  const run = (who: string) =>
    promisify(execFile)(process.execPath, ["--input-type=module", "-e", child, file, stateDir, who], {
      cwd: fileURLToPath(new URL("../..", import.meta.url)),
    });
  await Promise.all(["a", "b", "c", "d"].map(run));
  const { grants } = parseGrants(await readFile(file, "utf8"));
  const dirs = new Set(grants.map(({ dir }) => dir));
  expect(dirs.size).toBe(4 * 24);
  for (const who of "abcd") expect(dirs.has(`/g/${who}/0`)).toBe(false);
});
