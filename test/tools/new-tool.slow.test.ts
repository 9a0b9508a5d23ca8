/**
 * A new tool is its file and one line in the list of tools: in a copy of the sources `touch` is added so, and is then a
 * call, a method with types, a tool of every list, an operation of a batch, and known to rules, approvals, undo, the words
 * of errors and of the review page, and to servers.
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
import { engine } from "../engine/current.ts";
import { statOrNull } from "./lib/contents.ts";
import { compileArgumentCheck, object } from "./lib/schema.ts";
import { flag, path, PATH_ALIASES, text } from "./lib/shared.ts";
import { type ChangingTool, locationError } from "./lib/tool.ts";

const inputSchema = object(
  {
    path: path("The file to make"),
    exist_ok: flag("Accept a file that is there.", true),
    create_dirs: flag("Make missing directories.", false),
  },
  ["path"],
);
const outputSchema = object({ path: text("The file, relative to the workspace.") }, ["path"]);

/** Makes an empty file. */
export const touch: ChangingTool<CheckedArgs["touch"], TouchData> = {
  kind: "change",
  name: "touch",
  title: "Touch",
  traits: ["acceptsExisting", "alsoDeletes"],
  otherNames: { names: /^mktouch$/u, does: "makes empty files" },
  description: "Makes an empty file where there is none.",
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  aliases: PATH_ALIASES,
  parse: compileArgumentCheck("touch", inputSchema),
  paths: (args) => [{ argument: "path", typed: args.path, intent: "write", missing: "create" }],
  async plan(args, call) {
    const { path: target } = call.locations[0]!;
    const data = { path: call.reader.display(target) };
    if ((await statOrNull(call.fs, target)) !== null) {
      if (!args.exist_ok) throw locationError("ALREADY_EXISTS", call.locations[0]!);
      return { kind: "settled", answer: { data } };
    }
    return {
      kind: "changes",
      of: "contents",
      changes: [
        {
          do: "put",
          path: target,
          name: args.path,
          target,
          was: null,
          now: { bytes: new Uint8Array(), mode: undefined, hash: engine().sha256(new Uint8Array()), diff: undefined },
          from: null,
          parents: args.create_dirs,
          mayReplace: true,
          needs: "file",
        },
      ],
      base: [{ path: target, version: null }],
      reading: "list",
      by: "call",
      about: () => ({ title: \`Touch \${args.path}\`, location: 0, risk: "low" }),
      answer: () => ({ data }),
    };
  },
  texts: { render: (data) => \`Touched \${data.path}\` },
};
`;

/** Uses the tool in the copy: prints what it found as JSON. */
const USE = `
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWorkspace } from "./dist/filewright.node.js";
import { describeCovered } from "./dist/hooks/scope/scope.js";
import { localWorkspaceHost } from "./dist/mcp/host.js";
import { offersOf, instructionsFor } from "./dist/mcp/offered.js";
import { sentenceOf } from "./dist/review/questions/wider-draft.js";
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
const scopes = [];
const asking = await openWorkspace({ root: dir, confirm: (details) => {
  asked.push(details.title);
  scopes.push(...details.scopes.map(({ label }) => label).filter((label) => label.startsWith("touch on every path")));
  return "cancel";
} });
const refused = await asking.call("touch", { path: "e" });
const why = await ws.why({ tool: "touch", path: "/outside" });
const messageOf = async (name, args) => (await ws.call(name, args)).error.message;
const question = { kind: "change", tool: "touch", wider: { files: [], places: [], until: [] } };
const wider = { place: "everywhere", isAgentOnly: false, until: "turn" };
const [listed] = await localWorkspaceHost([dir], { preset: "lean", tools: ["touch"] }).tools();
const readOnly = offersOf({ preset: "canonical", readOnly: true, history: true });
const onlyTouch = offersOf({ preset: "canonical", tools: ["touch"], readOnly: false, history: true });
console.log(JSON.stringify({
  made, there, undone, batch: batch.ok, misspelt: misspelt.error.message, denied: denied.error.code,
  asked, refused: refused.error.code, why: why.find(({ verdict }) => verdict === "stops")?.gate,
  words: {
    exists: await messageOf("touch", { path: "b", exist_ok: false }),
    parent: await messageOf("touch", { path: "none/other" }),
    otherName: await messageOf("mktouch", {}),
  },
  approvals: { scopes, covered: describeCovered({ tool: "touch", path: "**" }), page: sentenceOf(question, { wider }) },
  server: {
    listed: [listed.name, listed.description, listed.annotations.idempotentHint, Object.keys(listed.inputSchema.properties)],
    readOnly: readOnly("touch"),
    instructions: instructionsFor("canonical", onlyTouch).split(" inside")[0],
  },
  offered: ws.tools.some(({ name }) => name === "touch"), files: ["b", "c", "d", "e"].filter((name) => existsSync(join(dir, name))),
}));
await Promise.all([ws.close(), ruled.close(), asking.close()]);
`;

it("is its file and one line in the list", () => {
  const copy = temporaryDirectory();
  for (const name of ["js", "packages", "scripts", "package.json", "tsconfig.json"])
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
    words: {
      exists: "'b' already exists; set exist_ok: true if that is fine.",
      parent:
        "'none/other' does not exist. Its directory 'none' does not exist. Set create_dirs: true to make it.",
      otherName: "There is no tool 'mktouch': touch makes empty files.",
    },
    approvals: {
      scopes: [expect.stringContaining("touch on every path of this workspace without deleting files")],
      covered: "touch on every path of this workspace without deleting files",
      page: expect.stringContaining("Later calls of touch without deleting files by any agent"),
    },
    server: {
      listed: [
        "touch",
        "Makes an empty file where there is none.",
        true,
        ["path", "exist_ok", "create_dirs"],
      ],
      readOnly: false,
      instructions: "Read, search and change files",
    },
    offered: true,
    files: ["b", "c"],
  });
}, 120_000);
