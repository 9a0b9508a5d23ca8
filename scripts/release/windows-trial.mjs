// Tries the build of a checkout with the Node of Windows, without an addon. windows-in-wine.mjs runs
// it on Linux; on Windows it runs as it is.
//
//   node scripts/release/windows-trial.mjs PACKAGE SPELLINGS RESULT
//     PACKAGE     the folder of package.json, with dist
//     SPELLINGS   crates/core/tests/windows_spellings.jsonl
//     RESULT      the file that gets the result as JSON, because Wine has no pipes for Node
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, spellings, result] = process.argv.slice(2).map((path) => resolve(path));
const load = (file) => import(pathToFileURL(join(folder, "dist", file)).href);
const { openWorkspace } = await load("index.node.js");
const { NodeBackend } = await load("backends/node/node.node.js");
const { innerWindowsPath } = await load("backends/windows-paths.js");
const { engine } = await load("engine/current.js");
const { backendContract } = await load("testing/index.node.js");

/** The root of the recorded spellings, which a trial makes and removes. */
const ROOT = "C:\\repo";
const DENY = ["vault", "notes.private", "src/keys/**"];
const CONTENT = "the content of the place";
const places = readFileSync(spellings, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

/** Tries the rules and the conversion of paths in the engine: without any file. */
function tryTable() {
  const base = { cwd: "/C:/repo", roots: ["/C:/repo"] };
  const convert = engine().windowsPaths(base);
  const rules = engine().compileRules({ ...base, deny: DENY, protect: true, secrets: true, foldCase: true });
  const failures = [];
  let tried = 0;
  for (const { place, kinds, judged, refused } of places) {
    for (const typed of [...judged, ...refused]) {
      tried++;
      let found;
      try {
        found = rules.check(convert(typed).replace(/\/$/u, ""));
      } catch {
        continue;
      }
      if (refused.includes(typed) || !kinds.every((kind) => found[kind]))
        failures.push(`${typed} of ${place}`);
    }
  }
  return { tried, failures };
}

/** Tries the spellings as arguments of tools, on real files. */
async function tryFiles(stateDir) {
  const failures = [];
  let tried = 0;
  let reached = 0;
  for (const { place, kinds, judged, refused } of places) {
    rmSync(ROOT, { recursive: true, force: true });
    const file = join(ROOT, place);
    mkdirSync(resolve(file, ".."), { recursive: true });
    writeFileSync(file, CONTENT);
    writeFileSync(join(ROOT, "ordinary.ts"), "x\n");
    const before = readdirSync(ROOT, { recursive: true }).sort().join("\n");
    const ws = await openWorkspace({ root: ROOT, stateDir, access: { deny: DENY }, history: false });
    const isHidden = kinds.includes("denied") || kinds.includes("secret");
    const isFixed = kinds.includes("denied") || kinds.includes("protected");
    for (const typed of [...judged, ...refused]) {
      tried++;
      // How many spellings Windows itself follows to the file shows what the checks are worth.
      if (contentAt(typed) === CONTENT) reached++;
      const calls = [["read_file", { path: typed }]];
      if (isFixed)
        calls.push(
          ["write_file", { path: typed, content: "forged", overwrite: true }],
          ["move", { source: typed, destination: "moved.txt" }],
          ["move", { source: "ordinary.ts", destination: typed, overwrite: true }],
          ["delete", { path: typed }],
        );
      for (const [tool, args] of calls) {
        const { ok } = await ws.call(tool, args);
        const mayPass = tool === "read_file" && !isHidden && judged.includes(typed);
        if (ok && !mayPass) failures.push(`${tool} ${typed} of ${place}`);
      }
    }
    if (readFileSync(file, "utf8") !== CONTENT) failures.push(`${place} was changed`);
    if (readdirSync(ROOT, { recursive: true }).sort().join("\n") !== before)
      failures.push(`${place}: other files`);
    await ws.close();
  }
  rmSync(ROOT, { recursive: true, force: true });
  return { tried, reached, failures };
}

/** Returns what Windows reads at a spelling; undefined where it finds no file. */
function contentAt(typed) {
  try {
    return readFileSync(resolve(ROOT, typed), "utf8");
  } catch {
    return undefined;
  }
}

/** Runs the contract suite of backends on NodeBackend. */
async function tryContract(stateDir) {
  const cases = [];
  const made = [];
  backendContract(
    () => {
      const root = realpathSync.native(mkdtempSync(join(tmpdir(), "filewright-contract-")));
      made.push(root);
      const backend = new NodeBackend({ stateDir });
      return { backend, root: innerWindowsPath(root), dispose: () => backend.close?.() };
    },
    { test: (name, run) => cases.push([name, run]) },
  );
  const failures = [];
  for (const [name, run] of cases) {
    try {
      await run();
    } catch (error) {
      failures.push(`${name}: ${error?.code ?? ""} ${error?.message ?? error}`);
    }
  }
  for (const root of made) rmSync(root, { recursive: true, force: true });
  return { tried: cases.length, failures };
}

/** Uses a workspace as somebody on Windows does. */
async function tryUses(stateDir) {
  const failures = [];
  let tried = 0;
  const expectCall = async (name, call, test) => {
    tried++;
    const answer = await call();
    if (test(answer) !== true) failures.push(`${name}: ${JSON.stringify(answer).slice(0, 400)}`);
  };
  rmSync(ROOT, { recursive: true, force: true });
  mkdirSync(join(ROOT, "src"), { recursive: true });
  writeFileSync(join(ROOT, "src/a.ts"), "export const a = 1;\n");
  const ws = await openWorkspace({ root: ROOT, stateDir });
  const call = (tool, args) => () => ws.call(tool, args);
  await expectCall("access_info", call("access_info", {}), ({ data }) => data?.cwd === ROOT);
  for (const path of ["src\\a.ts", "src/a.ts", "SRC\\A.TS", "C:\\repo\\src\\a.ts", "c:/repo/src/a.ts"])
    await expectCall(`read ${path}`, call("read_file", { path }), ({ ok }) => ok);
  const made = { path: "src\\new\\b.ts", content: "export const b = 1;\n" };
  await expectCall("write", call("write_file", made), ({ data }) => data?.path === "src/new/b.ts");
  const edit = { path: "C:\\repo\\src\\new\\B.ts", old_text: "b = 1", new_text: "b = 2" };
  await expectCall("edit", call("edit_file", edit), ({ ok }) => ok);
  await expectCall("grep", call("grep", { pattern: "b = \\d" }), ({ text }) =>
    text.includes("src/new/b.ts:1"),
  );
  await expectCall("glob", call("glob", { pattern: "**/*.ts" }), ({ text }) => text.includes("src/a.ts"));
  await expectCall("list", call("list_directory", { path: "." }), ({ text }) => text.includes("src"));
  const move = { source: "src\\new\\b.ts", destination: "src\\c.ts" };
  await expectCall("move", call("move", move), ({ ok }) => ok);
  await expectCall("delete", call("delete", { path: "src\\c.ts" }), ({ ok }) => ok);
  await expectCall(
    "outside",
    call("read_file", { path: "C:\\windows\\win.ini" }),
    ({ error }) => error?.code === "OUTSIDE_ALLOWED",
  );
  const [last] = await ws.history();
  await expectCall(
    "undo",
    async () => ({ undone: await ws.undo(last?.callId) }),
    ({ undone }) => undone !== undefined,
  );
  const facts = ws.capabilities();
  await ws.close();
  rmSync(ROOT, { recursive: true, force: true });
  return { tried, failures, facts };
}

const found = { node: process.version, platform: process.platform, seconds: {} };
const parts = { table: tryTable, uses: tryUses, contract: tryContract, files: tryFiles };
const stateDir = realpathSync.native(mkdtempSync(join(tmpdir(), "filewright-state-")));
for (const [name, run] of Object.entries(parts)) {
  const began = performance.now();
  try {
    found[name] = await run(stateDir);
  } catch (error) {
    found[name] = { tried: 0, failures: [String(error?.stack ?? error)] };
  }
  found.seconds[name] = Math.round((performance.now() - began) / 100) / 10;
  writeFileSync(result, JSON.stringify(found, null, 1));
}
rmSync(stateDir, { recursive: true, force: true });
writeFileSync(result, JSON.stringify({ ...found, done: true }, null, 1));
