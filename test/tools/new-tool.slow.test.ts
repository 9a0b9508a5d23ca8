/**
 * A new tool is its file and one line in the list of tools: in a copy of the sources `touch` is added so, and is then a
 * call, a method with types, a tool of every list, an operation of a batch, and known to rules, approvals and undo.
 */
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { platformName } from "../../scripts/lib/platform.mjs";
import { root } from "../../scripts/lib/run.mjs";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const TOUCH = `/** \`touch\`: makes an empty file where there is none. */
import type { TouchData } from "./generated/types.ts";
import type { CheckedArgs } from "./generated/internal.ts";
import { statOrNull } from "./lib/contents.ts";
import { compileArgumentCheck, object } from "./lib/schema.ts";
import { path, PATH_ALIASES, text } from "./lib/shared.ts";
import type { ChangingTool } from "./lib/tool.ts";

const inputSchema = object({ path: path("The file to make") }, ["path"]);
const outputSchema = object({ path: text("The file, relative to the workspace.") }, ["path"]);

/** Makes an empty file. */
export const touch: ChangingTool<CheckedArgs["touch"], TouchData, undefined> = {
  kind: "change",
  name: "touch",
  title: "Touch",
  traits: [],
  description: "Makes an empty file where there is none.",
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  aliases: PATH_ALIASES,
  parse: compileArgumentCheck("touch", inputSchema),
  paths: (args) => [{ argument: "path", typed: args.path, intent: "write", missing: "create" }],
  async plan(_args, call) {
    const at = call.locations[0]!;
    if ((await statOrNull(call.fs, at.path)) === null)
      return { todo: undefined, base: [{ path: at.path, version: null }] };
    return { settled: { data: { path: call.reader.display(at.path) } }, todo: undefined, base: [] };
  },
  preview: (_plan, args, call) => ({
    title: \`Touch \${args.path}\`,
    location: 0,
    diff: "",
    originalContent: null,
    newContent: "",
    risk: "low",
    changes: [{ path: call.locations[0]!.path, kind: "create", type: "file" }],
  }),
  async apply(_plan, _args, call) {
    const at = call.locations[0]!;
    await call.fs.writeBytes(at.path, new Uint8Array(), { ifAbsent: true });
    return { data: { path: call.reader.display(at.path) } };
  },
  render: (data) => \`Touched \${data.path}\`,
};
`;

/** Uses the tool in the copy: prints what it found as JSON. */
const USE = `
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWorkspace } from "./dist/filewright.node.js";
const dir = mkdtempSync(join(tmpdir(), "new-tool-"));
const ws = await openWorkspace({ root: dir, stateDir: mkdtempSync(join(tmpdir(), "new-tool-")) });
const made = await ws.touch({ path: "a" });
const there = existsSync(join(dir, "a"));
const [{ callId: id }] = await ws.history();
await ws.undo(id);
const undone = !existsSync(join(dir, "a"));
const batch = await ws.call("batch", { operations: [{ tool: "touch", args: { path: "b" } }, { tool: "touch", args: { path: "c" } }] });
const misspelt = await ws.call("touch", { pth: "a" });
const ruled = await openWorkspace({ root: dir, rules: [{ tool: "touch", path: "d", decision: "deny" }] });
const denied = await ruled.call("touch", { path: "d" });
const asked = [];
const asking = await openWorkspace({ root: dir, confirm: (details) => { asked.push(details.title); return "cancel"; } });
const refused = await asking.call("touch", { path: "e" });
const why = await ws.why({ tool: "touch", path: "/outside" });
console.log(JSON.stringify({
  made, there, undone, batch: batch.ok, misspelt: misspelt.error.message, denied: denied.error.code,
  asked, refused: refused.error.code, why: why.find(({ verdict }) => verdict === "stops")?.gate,
  offered: ws.tools.some(({ name }) => name === "touch"), files: ["b", "c", "d", "e"].filter((name) => existsSync(join(dir, name))),
}));
await Promise.all([ws.close(), ruled.close(), asking.close()]);
`;

it("is its file and one line in the list", () => {
  const copy = temporaryDirectory();
  for (const name of ["js", "scripts", "package.json", "tsconfig.json"])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  const run = (...args: readonly string[]): string => {
    const addon = join(root, `dist/native/filewright.${platformName()}.node`);
    const env = { ...process.env, FILEWRIGHT_ENGINE: addon };
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: copy,
      env,
      encoding: "utf8",
    });
    expect(status, `${args[0]}: ${stdout}${stderr}`).toBe(0);
    return stdout;
  };
  writeFileSync(join(copy, "js/tools/touch.ts"), TOUCH);
  const list = join(copy, "js/tools/index.ts");
  const withTouch = readFileSync(list, "utf8")
    .replace('import type { Tool } from "./lib/tool.ts";', 'import { touch } from "./touch.ts";\n$&')
    .replace("  mkdir,\n", "$&  touch,\n");
  writeFileSync(list, withTouch);
  run("scripts/tool-types.mjs");
  run("node_modules/typescript-7/bin/tsc", "-p", "tsconfig.json");
  writeFileSync(join(copy, "use.mjs"), USE);
  expect(JSON.parse(run("use.mjs"))).toEqual({
    made: { path: "a" },
    there: true,
    undone: true,
    batch: true,
    misspelt: expect.stringContaining("path"),
    denied: "APPROVAL_DENIED",
    asked: ["Touch e"],
    refused: "APPROVAL_DENIED",
    why: "root",
    offered: true,
    files: ["b", "c"],
  });
}, 120_000);
