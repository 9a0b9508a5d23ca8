/** The lines that child processes ran are counted: what `npm run coverage` adds to vitest's own. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { coveredScriptsOfChildren } from "../../scripts/lib/coverage-children.mjs";

const ROOT = resolve(import.meta.dirname, "../..");

test("a function of a built module that two processes ran is counted twice, under its source", async () => {
  const directory = mkdtempSync(join(tmpdir(), "filewright-coverage-"));
  try {
    const built = join(ROOT, "dist/schema/nearest.js");
    const program = `import { nearest } from ${JSON.stringify(pathToFileURL(built).href)}; nearest("a", ["b"]);`;
    for (let run = 0; run < 2; run += 1) {
      const env = { ...process.env, NODE_V8_COVERAGE: directory };
      spawnSync(process.execPath, ["--input-type=module", "--eval", program], { env });
    }
    const scripts = [];
    for await (const script of coveredScriptsOfChildren(directory)) scripts.push(script);
    expect(scripts.map(({ url }) => url)).toEqual([pathToFileURL(built).href]);
    const [{ map, code, functions }] = scripts as [(typeof scripts)[number]];
    expect(map.sources).toEqual([join(ROOT, "js/schema/nearest.ts")]);
    expect(code).toBe(readFileSync(built, "utf8"));
    const [counted] = functions.filter(({ functionName }) => functionName === "nearest");
    expect(counted?.ranges[0]?.count).toBe(2);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
