/** Node's permission model: every refusal names the missing flag, and no path of the host. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const ENTRY = new URL("../../dist/cli/library.js", import.meta.url).href;
const CHECKOUT = join(import.meta.dirname, "../..");
const MODEL = process.allowedNodeEnvironmentFlags.has("--permission")
  ? "--permission"
  : "--experimental-permission";

const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-permission-")));
const root = join(base, "root");
beforeAll(() => {
  for (const directory of ["root", "state"]) fs.mkdirSync(join(base, directory));
  fs.writeFileSync(join(root, "a"), "one\n");
});
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

/** Runs a script under the permission model and returns what it prints as JSON. */
function run(flags: readonly string[], script: string): unknown {
  const child = spawnSync(
    process.execPath,
    ["--no-warnings", MODEL, ...flags, "--input-type=module", "-e", script],
    { cwd: CHECKOUT, encoding: "utf8", env: { HOME: base, NODE_V8_COVERAGE: "" } },
  );
  expect(child.stderr).toBe("");
  return JSON.parse(child.stdout);
}

describe("without the addon", () => {
  const disk = `import { NodeBackend } from ${JSON.stringify(ENTRY)};
    const told = (run) => run().then(() => "done", ({ code, message, hint, details, path, cause }) =>
      ({ code, message, hint, details, path, cause: cause && String(cause) }));
    const disk = new NodeBackend({ stateDir: ${JSON.stringify(join(base, "state"))} });`;

  test("a read without --allow-fs-read says so", () => {
    const path = join(root, "a");
    expect(
      run(
        [`--allow-fs-read=${CHECKOUT}/*`],
        `${disk} console.log(JSON.stringify(await told(() => disk.readText(${JSON.stringify(path)}))));`,
      ),
    ).toEqual({
      code: "PERMISSION_DENIED",
      message: expect.stringMatching(/permission model.*without --allow-fs-read/u),
      hint: "the host can start Node with --allow-fs-read",
      details: { reason: "node_permission", flag: "--allow-fs-read" },
      path: expect.any(String),
    });
  });

  test("a change without --allow-fs-write says so, and what the tools tell names no other path", () => {
    const script = `import { openWorkspace, NodeBackend } from ${JSON.stringify(ENTRY)};
      const backend = new NodeBackend({ stateDir: ${JSON.stringify(join(base, "state"))} });
      const ws = await openWorkspace({ root: ${JSON.stringify(root)}, backend });
      const texts = [];
      for (const [tool, args] of [["read_file", { path: "a" }], ["mkdir", { path: "d" }], ["delete", { path: "a" }]]) {
        const { ok, text } = await ws.call(tool, args);
        texts.push([ok, text]);
      }
      console.log(JSON.stringify(texts));`;
    const [read, ...changes] = run(
      ["--allow-fs-read=*", `--allow-fs-write=${join(base, "state")}/*`],
      script,
    ) as readonly (readonly [boolean, string])[];
    expect(read).toEqual([true, expect.stringContaining("one")]);
    for (const [ok, text] of changes) {
      expect(ok).toBe(false);
      expect(text).toContain("--allow-fs-write");
      expect(text).not.toContain(base);
    }
    expect(fs.readdirSync(root)).toEqual(["a"]);
  });
});

test("an addon that may not be loaded names --allow-addons", () => {
  const failure = run(
    ["--allow-fs-read=*"],
    `import { LocalBackend } from ${JSON.stringify(ENTRY)};
      try { new LocalBackend(); } catch ({ code, message, hint }) { console.log(JSON.stringify([code, message, hint])); }`,
  );
  expect(JSON.stringify(failure)).toContain("--allow-addons");
});
