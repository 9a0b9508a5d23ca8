/** Mistakes in what a host hands over: a preset, a notebook, a store, a framework. Each is refused at once. */
import { existsSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toAdkTools } from "../../js/adapters/adk.ts";
import { toLangChain } from "../../js/adapters/langchain.ts";
import { toMastraFilesystem } from "../../js/adapters/mastra.ts";
import { filesOf } from "../../js/storage/index.ts";
import {
  auditFile,
  compileRules,
  createResolver,
  FileSystemAccessBackend,
  makePermissions,
  memoryRecords,
  MemoryBackend,
  notebookApprover,
  openGrantsFile,
  openTelemetry,
  openWorkspace,
  OverlayBackend,
  readersFor,
  registerReader,
  SandboxPolicy,
  spans,
  type Workspace,
} from "../../js/index.node.ts";
import { call, calls, definePreset, param } from "../../js/presets/index.node.ts";
import { backendContract } from "../../js/testing/index.node.ts";

let dir: string;
let ws: Workspace;
beforeAll(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "filewright-hosts-")));
  ws = await openWorkspace({ backend: new MemoryBackend(), root: "/w" });
});
afterAll(async () => {
  await ws.close();
  await rm(dir, { recursive: true });
});

/** A tool of a preset, with these changes. */
const reading = (more: object): object => ({
  name: "open",
  title: "Open",
  description: "Opens a file.",
  params: { file: param("path", { type: "string" }) },
  required: ["file"],
  means: calls("read_file"),
  ...more,
});
const preset = (more: object, tool: object = {}): object => ({
  name: "mine",
  about: "",
  tools: [reading(tool)],
  ...more,
});
/** A preset with these changes to the meaning of its tool, or to the tool's parameter. */
const meaning = (more: object): object => preset({}, { means: { ...calls("read_file"), ...more } });
const file = (more: object): object =>
  preset({}, { params: { file: { ...param("path", { type: "string" }), ...more } } });

const presets: readonly [name: string, spec: unknown, says: RegExp][] = [
  ["nothing", undefined, /describes a preset/],
  ["no tools", { name: "mine", about: "" }, /tools.*required/],
  ["a name that is empty", preset({ name: "" }), /name/],
  ["limit for limits", preset({ limit: {} }), /'limit'.*'limits'/],
  ["a misspelt limit", preset({ limits: { outputBites: 1 } }), /limits\.outputBites.*'outputBytes'/],
  ["misspelt access", preset({ access: { wirte: [] } }), /access\.wirte.*'write'/],
  ["one name for two tools", preset({ tools: [reading({}), reading({})] }), /tools.*'open'/],
  ["a tool that we do not have", meaning({ tools: ["read"] }), /means\.tools\[0\].*"read_file"/],
  ["a meaning without a tool", meaning({ tools: [] }), /means\.tools/],
  ["a meaning that is no function", meaning({ call: "x" }), /means\.call.*function/],
  ["a fixed argument that we do not have", meaning({ fixed: { lmit: 5 } }), /'means\.fixed'.*'lmit'/],
  ["a tool without a meaning", preset({}, { means: undefined }), /tools\[0\]\.means.*required/],
  ["a tool without a text", preset({}, { description: undefined }), /tools\[0\]\.description/],
  ["a misspelt key of a tool", preset({}, { tilte: "" }), /tools\[0\]\.tilte.*'title'/],
  ["a required parameter that is missing", preset({}, { required: ["fil"] }), /'fil'.*'file'/],
  ["a form of paths that there is not", file({ path: "absolut" }), /params\.file\.path.*"absolute"/],
  ["aliases that are no list", file({ aliases: "f" }), /params\.file\.aliases/],
  ["a name of nothing of ours", file({ called: "pth" }), /params\.file\.called.*'path'/],
  [
    "a parameter that becomes nothing of ours",
    preset({}, { params: { file: param("pth", { type: "string" }) } }),
    /params\.file\.to.*'path'/,
  ],
  [
    "a parameter without a schema",
    preset({}, { params: { file: { to: "path" } } }),
    /params\.file\.schema.*required/,
  ],
  [
    "a schema of a type that there is not",
    preset({}, { params: { file: param("path", { type: "text" as never }) } }),
    /params\.file\.schema\.type.*"string"/,
  ],
  [
    "a keyword that nothing checks",
    preset({}, { params: { file: param("path", { type: "string", maxLength: 5 } as never) } }),
    /params\.file\.schema.*keyword/,
  ],
  [
    "a keyword that nothing checks, further inside",
    preset(
      {},
      {
        params: { file: param("path", { type: "array", items: { type: "string", minlength: 5 } as never }) },
      },
    ),
    /params\.file\.schema.*'minLength'/,
  ],
  [
    "a conversion that is no function",
    preset({}, { params: { file: { ...param("path", { type: "string" }), convert: "x" } } }),
    /params\.file\.convert/,
  ],
];

describe("definePreset refuses", () => {
  test.each(presets)("%s", (_name, spec, says) => {
    let refusal: unknown;
    try {
      definePreset(spec as never);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringMatching(says) });
  });

  test("nothing that is right", async () => {
    const backend = new MemoryBackend({ "/w/a": "one" });
    const mine = await openWorkspace({ backend, root: "/w", preset: definePreset(preset({}) as never) });
    expect((await mine.call("open", { file: "a" })).text).toContain("one");
    await mine.close();
  });
});

const method = (): undefined => undefined;
const policy = SandboxPolicy.workspaceOnly("/w");
const errors = { FileNotFoundError: Error };

const entries: readonly [name: string, call: () => unknown, says: RegExp][] = [
  ["notebookApprover: nothing", () => notebookApprover(undefined as never), /a notebook/],
  ["notebookApprover: no input", () => notebookApprover({ display: method } as never), /'input'/],
  [
    "notebookApprover: input that is no function",
    () => notebookApprover({ display: method, input: "n" } as never),
    /input.*function/,
  ],
  [
    "openGrantsFile: timeout",
    () => openGrantsFile(join(dir, "g"), { lockTimeout: 5 } as never),
    /'lockTimeout'.*'lockTimeoutMs'/,
  ],
  [
    "openGrantsFile: a time as a text",
    () => openGrantsFile(join(dir, "g"), { lockTimeoutMs: "5" as never }),
    /lockTimeoutMs/,
  ],
  [
    "openGrantsFile: a time that is none",
    () => openGrantsFile(join(dir, "g"), { lockTimeoutMs: Number.NaN }),
    /lockTimeoutMs/,
  ],
  ["openGrantsFile: an empty path", () => openGrantsFile(""), /empty/],
  [
    "a grants file: a misspelt end",
    async () => {
      const file = await openGrantsFile(join(dir, "g"), { stateDir: join(dir, "state") });
      await file.add({
        dir: "/w",
        access: "read",
        granted_at: new Date(0).toISOString(),
        expire: "x",
      } as never);
    },
    /'expire'.*'expires'/,
  ],
  [
    "makePermissions: a misspelt mode",
    () => makePermissions({ mode: "promt" as never, records: memoryRecords() }),
    /mode.*"prompt"/,
  ],
  ["makePermissions: no records", () => makePermissions({ mode: "prompt" } as never), /records.*required/],
  [
    "makePermissions: records that are none",
    () => makePermissions({ mode: "prompt", records: { get: method } as never }),
    /records.*lacks/,
  ],
  [
    "createResolver: readonly",
    () => createResolver({ ...policy, readonly: true } as never),
    /'readonly'.*'readOnly'/,
  ],
  ["compileRules: bases", () => compileRules([], { cwd: "/" } as never), /lacks/],
  ["readersFor: reader", () => readersFor({ reader: [] } as never), /'reader'.*'readers'/],
  ["registerReader: no function", () => registerReader("model/stl", {} as never), /read.*function/],
  ["registerReader: no kind", () => registerReader([], method as never), /mimes/],
  [
    "registerReader: a kind that is a number",
    () => registerReader(5 as never, method as never),
    /mimes\[0\]/,
  ],
  ["OverlayBackend: no backend", () => new OverlayBackend({} as never), /FsBackend/],
  ["FileSystemAccessBackend: no handle", () => new FileSystemAccessBackend({} as never), /directory handle/],
  [
    "FileSystemAccessBackend: a mode",
    () => new FileSystemAccessBackend({ getDirectoryHandle: method } as never).request("write" as never),
    /"readwrite"/,
  ],
  ["spans: no tracer", () => spans({} as never), /startSpan/],
  ["openTelemetry: path", () => openTelemetry({ path: true } as never), /'path'.*'paths'/],
  ["backendContract: no test", () => backendContract(method as never, {} as never), /test.*required/],
  [
    "backendContract: readonly",
    () => backendContract(method as never, { test: method, readonly: true } as never),
    /'readonly'.*'readOnly'/,
  ],
  ["toLangChain: no framework", () => toLangChain(ws, {} as never), /'tool'/],
  ["toLangChain: no ToolMessage", () => toLangChain(ws, { tool: method } as never), /function/],
  ["toAdkTools: no class", () => toAdkTools(ws, {} as never), /function/],
  ["toMastraFilesystem: classes that are missing", () => toMastraFilesystem(ws, errors as never), /lacks/],
  ["filesOf: no driver", () => filesOf({ stat: method, list: method } as never), /'read'/],
  [
    "filesOf: a misspelt option",
    () => filesOf(new MemoryBackend(), { exclusiv: true } as never),
    /'exclusiv'.*'exclusive'/,
  ],
];

describe("an entry refuses", () => {
  test.each(entries)("%s", async (_name, call, says) => {
    let refusal: unknown;
    try {
      await call();
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringMatching(says) });
  });

  test("an audit file with a misspelt option before the file is made", async () => {
    const path = join(dir, "log", "audit.jsonl");
    await expect(auditFile(path, { read: false } as never)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringMatching(/'read'.*'reads'/),
    });
    expect(existsSync(path)).toBe(false);
  });
});

/** Meanings that are refused where they are defined, before any preset has them. */
const meanings: readonly [name: string, define: () => unknown, says: RegExp][] = [
  ["a tool that we do not have", () => calls("read" as never), /"read_file"/],
  ["a misspelt text", () => calls("read_file", { txet: () => "" } as never), /'txet'.*'text'/],
  ["a text that is no function", () => calls("read_file", { text: "read" } as never), /text.*function/],
  ["a refusal that is no function", () => calls("read_file", { refuse: true } as never), /refuse.*function/],
  ["a misspelt part of a call", () => call("read_file", { arg: {} } as never), /'arg'.*'args'/],
  ["a call without arguments", () => call("read_file", {} as never), /args.*required/],
];

test.for(meanings)("the meaning of a tool refuses %s", ([, define, says]) => {
  expect(define).toThrow(
    expect.objectContaining({ code: "INVALID_ARGUMENT", message: expect.stringMatching(says) }),
  );
});
