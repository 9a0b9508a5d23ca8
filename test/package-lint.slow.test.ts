/** What the tools that look over packages say of the one that would be published. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");
const { exports } = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as { readonly exports: object };

/** Compiled modules for whoever loads one by hand: bytes have no types. */
const BYTES = ["./filewright.wasm", "./filewright-edit.wasm"];

describe.skipIf(!existsSync(`${root}/dist/wasm/filewright_bg.wasm`))("the package as it is packed", () => {
  const dir = mkdtempSync(join(tmpdir(), "filewright-pack-"));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  let packed = "";
  beforeAll(() => {
    run("npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", dir);
    packed = join(dir, readdirSync(dir)[0] ?? "");
  }, 120_000);

  test("attw: every entry has its types, for Node and for bundlers", () => {
    const [status, said] = run(
      join(root, "node_modules/.bin/attw"),
      packed,
      ...["--profile", "esm-only", "--no-definitely-typed", "--format", "json"],
      ...["--exclude-entrypoints", ...BYTES],
    );
    const { entrypoints, problems } = JSON.parse(said).analysis as {
      readonly entrypoints: object;
      readonly problems: readonly { readonly resolutionKind?: string }[];
    };
    // Of the ways that this profile leaves out, `require` and Node 10, nothing is promised.
    const left = ["node10", "node16-cjs"];
    expect(problems.filter(({ resolutionKind = "" }) => !left.includes(resolutionKind))).toEqual([]);
    expect(Object.keys(entrypoints).sort()).toEqual(
      Object.keys(exports)
        .filter((entry) => !BYTES.includes(entry))
        .sort(),
    );
    expect(status).toBe(0);
  });

  test("publint: nothing to say", () => {
    const [status, said] = run(join(root, "node_modules/.bin/publint"), "run", packed, "--strict");
    expect(said).toContain("All good!");
    expect(status).toBe(0);
  });
});

/** Runs a program in the checkout: how it ended, and what it printed. */
function run(command: string, ...args: readonly string[]): readonly [number | null, string] {
  const shell = process.platform === "win32";
  const done = spawnSync(command, args, { cwd: root, encoding: "utf8", shell, maxBuffer: 64 << 20 });
  if (done.error !== undefined) throw done.error;
  return [done.status, done.stdout];
}
