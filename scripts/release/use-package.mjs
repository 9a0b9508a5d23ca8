// Uses an installed or built Filewright on whatever Node runs this file: the contract suite of
// backends on a local disk, then the first things that somebody does with a workspace. It needs no
// test framework, so that it runs with any C library and under an emulator.
//
//   node scripts/release/use-package.mjs PACKAGE     the folder of package.json, with dist
//
// The last line of its output is JSON: see scripts/release/try-addon.mjs.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** Imports the build for Node of an entry of the package, as package.json declares it. */
async function importEntry(folder, entry) {
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return import(pathToFileURL(join(folder, exports[entry].node)).href);
}

const folder = resolve(process.argv[2]);
const { openWorkspace } = await importEntry(folder, ".");
const { LocalBackend, NodeBackend } = await importEntry(folder, "./backends");
const { ready } = await importEntry(folder, "./engine");
const Disk = (await ready()).kind === "native" ? LocalBackend : NodeBackend;
const { backendContract } = await importEntry(folder, "./testing");

/** The temporary folders, removed at the end. */
const folders = [];
function temporaryFolder() {
  const made = realpathSync(mkdtempSync(join(tmpdir(), "filewright-try-")));
  folders.push(made);
  return made;
}

const results = { passed: 0, failures: [] };
async function runCase(name, run) {
  try {
    await run();
    results.passed++;
  } catch (error) {
    results.failures.push(`${name}: ${error?.stack ?? error}`);
  }
}

const began = performance.now();
const stateDir = temporaryFolder();
const contract = [];
backendContract(
  () => {
    const backend = new Disk({ stateDir });
    return { backend, root: temporaryFolder(), dispose: () => backend.dispose?.() };
  },
  { test: (name, run) => contract.push([name, run]) },
);
for (const [name, run] of contract) await runCase(name, run);
const contractPassed = results.passed;

const cwd = temporaryFolder();
const outside = join(temporaryFolder(), "secret.txt");
writeFileSync(outside, "secret\n");
const workspace = await openWorkspace({ root: cwd, stateDir });
const file = join(cwd, "src/a.ts");
const firstUses = {
  "writes and reads": async () => {
    await workspace.writeFile({ path: "src/a.ts", content: "export const a = 1;\n" });
    assert.equal((await workspace.readFile({ path: "src/a.ts" })).content, "export const a = 1;\n");
  },
  edits: async () => {
    await workspace.editFile({ path: "src/a.ts", old_text: "a = 1", new_text: "a = 2" });
    assert.equal(readFileSync(file, "utf8"), "export const a = 2;\n");
  },
  searches: async () => {
    const { matches } = await workspace.grep({ pattern: "a = \\d" });
    assert.deepEqual(
      matches.map(({ path, line }) => `${path}:${line}`),
      ["src/a.ts:1"],
    );
  },
  undoes: async () => {
    const [last] = await workspace.history();
    await workspace.undo(last.callId);
    assert.equal(readFileSync(file, "utf8"), "export const a = 1;\n");
  },
  "refuses what is outside": () =>
    assert.rejects(async () => workspace.readFile({ path: outside }), { code: "OUTSIDE_ALLOWED" }),
};
for (const [name, run] of Object.entries(firstUses)) await runCase(name, run);
const { engine, resolver } = workspace.capabilities();
await workspace.close();
for (const made of folders) rmSync(made, { recursive: true, force: true });

console.log(
  JSON.stringify({
    node: process.version,
    contract: { passed: contractPassed, cases: contract.length },
    uses: { passed: results.passed - contractPassed, cases: Object.keys(firstUses).length },
    engine: engine.kind,
    resolver: resolver?.resolver,
    kernel: resolver?.kernel.files,
    seconds: (performance.now() - began) / 1000,
    failures: results.failures,
  }),
);
