import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { describe, expect, test } from "vitest";
import { compilerScript } from "../../scripts/lib/run.mjs";

// The examples, which people copy, run to their end and print the expected text. Those
// that need an SDK run with the SDKs, in test/sdks.
const folder = new URL("../../examples/", import.meta.url);
const SAYS: Readonly<Record<string, readonly string[]>> = {
  "approval-hook.mjs": [
    "rule: APPROVAL_DENIED",
    "reviewer: proceed_once",
    "after the undo: export const retries = 3;",
  ],
  "custom-backend.mjs": [" cases of the contract, 0 failed", "- buy bread"],
  "from-server-filesystem.mjs": [
    "the bytes that nobody named are as they were",
    "Error: oldText occurs 2 times",
  ],
  "forks.mjs": [
    "the project meanwhile: export const sum = (list) => 0;",
    "best: reduce, changes sum.mjs",
    "merged: true; the project: export const sum = (list) => list.reduce(",
    "loop: sum.mjs content",
    "after the undo: export const sum = (list) => 0;",
  ],
  "in-memory.mjs": ["+const retries = 5;", "back to the snapshot"],
  "mcp-client.mjs": ["offers 13 tools", "What lies outside is refused."],
  "object-storage.mjs": ["21 lines after 20 writers"],
  "sandboxed-command.mjs": process.platform === "linux" ? ["outside: nothing arrived"] : ["no commands here"],
  "several-agents.ts": [
    "reviewer's tools: Read Glob Grep",
    "writer: done, fixer: CONFLICT changed_since_read",
    "reviewer: LIMIT_EXCEEDED after 2 calls",
    "changes by: fixer, writer",
  ],
  "undo-and-audit.mjs": [
    "too early: CONFLICT",
    "after both: export const retries = 3;",
    "log: write_file OUTSIDE_ALLOWED",
  ],
};
const WITH_SDKS = ["ai-sdk-agent.mjs", "deepagents-backend.mjs"];
const PARTS = ["needs.mjs", "object-store.mjs"];

describe("examples", () => {
  test("all of them are run", () => {
    const files = readdirSync(folder).filter((name) => /\.(?:mjs|ts)$/u.test(name));
    expect(files.sort()).toEqual([...Object.keys(SAYS), ...WITH_SDKS, ...PARTS].sort());
  });

  test("all of them are listed", () => {
    const readme = readFileSync(new URL("README.md", folder), "utf8");
    for (const name of readdirSync(folder)) if (name !== "README.md") expect(readme).toContain(`(${name})`);
  });

  test.for(WITH_SDKS)("%s ends with a sentence where its package is missing", (name) => {
    const { status, stderr } = spawnSync(process.execPath, [`examples/${name}`], {
      cwd: new URL("../..", import.meta.url),
      encoding: "utf8",
    });
    expect(stderr).toMatch(
      /^This example needs a package that is not installed \(.*\); run: npm install .*\n$/u,
    );
    expect(status).toBe(1);
  });

  test("those in TypeScript have no errors of types", () => {
    const files = Object.keys(SAYS).filter((name) => name.endsWith(".ts"));
    const options =
      "--noEmit --ignoreConfig --strict --skipLibCheck --types node --target es2023 --module nodenext";
    const { status, stdout } = spawnSync(
      process.execPath,
      [compilerScript, ...options.split(" "), ...files.map((name) => `examples/${name}`)],
      { cwd: new URL("../..", import.meta.url), encoding: "utf8" },
    );
    expect(stdout).toBe("");
    expect(status).toBe(0);
  });

  test.for(Object.entries(SAYS))("%s", ([name, lines]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [runnable(name)], {
      cwd: new URL("../..", import.meta.url),
      encoding: "utf8",
      timeout: 110_000,
    });
    expect(status, `${stdout}${stderr}`).toBe(0);
    for (const line of lines) expect(stdout).toContain(line);
  });
});

/** Returns the path of a program that the oldest supported Node runs: one in TypeScript is compiled first. */
function runnable(name: string): string {
  if (!name.endsWith(".ts")) return `examples/${name}`;
  const outfile = fileURLToPath(new URL(`../../.cache/examples/${name}.mjs`, import.meta.url));
  buildSync({
    entryPoints: [fileURLToPath(new URL(name, folder))],
    outfile,
    format: "esm",
    logLevel: "error",
  });
  return outfile;
}
