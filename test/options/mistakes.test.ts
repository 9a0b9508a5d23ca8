/** Option mistakes that were once accepted in silence, and their kin: each is refused, and says where it stands. */
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { toAiSdk } from "../../js/adapters/ai-sdk.ts";
import { toAnthropicMemory } from "../../js/adapters/anthropic.ts";
import { toClaudeAgentServer } from "../../js/adapters/claude-agent.ts";
import { toGeminiTool } from "../../js/adapters/gemini.ts";
import { toOpenAIAgents } from "../../js/adapters/openai-agents.ts";
import {
  allOf,
  approvalHook,
  approvalQueue,
  audit,
  compileRules,
  headlessApprover,
  linuxSandbox,
  LocalBackend,
  MemoryBackend,
  memoryRecords,
  MountBackend,
  openWorkspace,
  quorum,
  SandboxedBackend,
  sandboxFor,
  SandboxPolicy,
  spans,
  terminalApprover,
  withHooks,
  within,
} from "../../js/index.node.ts";

/** The compared parts of a refusal. */
interface Refusal {
  readonly code: string;
  readonly message: string;
}

const refusalOf = async (run: () => unknown): Promise<Refusal | "accepted"> => {
  try {
    const made = await run();
    await (made as { close?(): Promise<void> } | undefined)?.close?.();
    return "accepted";
  } catch (error) {
    return error as Refusal;
  }
};

const allow = { decision: "allow" };
const before = { stage: "before", tool: "*", run: () => undefined };
const yes = { outcome: "proceed_once" };

/** Options added to a root in memory, and the expected text of the refusal. */
const workspace: readonly [mistake: string, options: Record<string, unknown>, says: RegExp][] = [
  ["a misspelt access of a root", { roots: [{ path: "/w", access: "ro" }] }, /roots\[0\]\.access.*"read"/],
  ["readOnly of a root", { roots: [{ path: "/w", readOnly: true }] }, /roots\[0\]\.readOnly.*access: "read"/],
  ["mode of a root", { roots: [{ path: "/w", mode: "read" }] }, /roots\[0\]\.mode.*use access/],
  ["acess of a root", { roots: [{ path: "/w", acess: "read" }] }, /roots\[0\]\.acess.*'access'/],
  ["a root without a path", { roots: [{ access: "read" }] }, /roots\[0\]\.path.*required/],
  ["a root in capitals", { roots: [{ path: "/w", access: "READ" }] }, /roots\[0\]\.access.*"read"/],
  ["an empty root", { root: "" }, /'root'.*empty/],
  ["a root that is null", { root: null }, /'root'/],
  ["a root that is a number", { root: 5 }, /'root'/],
  ["roots that are no list", { roots: "/w" }, /'roots'.*list/],
  ["no roots", { roots: [] }, /'roots'/],
  ["an empty root in a list", { roots: ["/w", ""] }, /roots\[1\]/],
  ["root and roots", { root: "/w", roots: ["/v"] }, /roots/],
  ["a URL of another machine", { root: new URL("https://x.example/w") }, /file:/],
  ["a root in another class", { root: new (class Root {})() }, /'root'/],
  ["readonly in lower case", { readonly: true }, /'readonly'.*'readOnly'/],
  ["readOnly as a text", { readOnly: "true" }, /'readOnly'.*true or false/],
  ["readOnly as a number", { readOnly: 1 }, /'readOnly'/],
  ["access as a text", { access: "read" }, /'access'/],
  ["deny as a text", { access: { deny: "secret" } }, /access\.deny.*list/],
  ["denied for deny", { access: { denied: ["secret"] } }, /access\.denied/],
  ["deny at the wrong depth", { deny: ["secret"] }, /'deny'.*access\.deny/],
  ["an empty glob", { access: { deny: [""] } }, /access\.deny\[0\]/],
  ["a glob that is no text", { access: { deny: [/secret/] } }, /access\.deny\[0\]/],
  ["readonly inside access", { access: { readonly: true } }, /access\.readonly.*'readOnly'/],
  ["read as a text", { access: { read: "/w" } }, /access\.read/],
  ["write as null", { access: { write: null } }, /access\.write/],
  ["protect as a text", { access: { protect: "no" } }, /access\.protect/],
  ["protected for protect", { access: { protected: true } }, /access\.protected.*'protect'/],
  ["secrets in another word", { access: { secrets: "deny" } }, /access\.secrets/],
  ["secrets as a boolean", { access: { secrets: true } }, /access\.secrets/],
  ["links in another word", { access: { followSymlinks: "none" } }, /access\.followSymlinks/],
  ["paths for path in a rule", { rules: [{ paths: "docs/**", ...allow }] }, /rules\[0\]\.paths.*'path'/],
  ["tools for tool in a rule", { rules: [{ tools: "grep", ...allow }] }, /rules\[0\]\.tools.*'tool'/],
  ["glob for path in a rule", { rules: [{ glob: "a/**", ...allow }] }, /rules\[0\]\.glob/],
  ["arg for args in a rule", { rules: [{ arg: { path: "a" }, ...allow }] }, /rules\[0\]\.arg.*'args'/],
  ["a rule without a decision", { rules: [{ tool: "grep" }] }, /rules\[0\]\.decision.*required/],
  ["a misspelt decision", { rules: [{ decision: "alow" }] }, /rules\[0\]\.decision.*"allow"/],
  ["a list of tools in a rule", { rules: [{ tool: ["grep"], ...allow }] }, /rules\[0\]\.tool/],
  [
    "an unknown tool in a rule",
    { rules: [{ tool: "write", decision: "deny" }] },
    /rules\[0\]\.tool.*'write_file'/,
  ],
  [
    "a preset's name in a rule",
    { rules: [{ tool: "Write", decision: "deny" }] },
    /rules\[0\]\.tool.*'write_file'/,
  ],
  ["an empty path in a rule", { rules: [{ path: "", decision: "deny" }] }, /rules\[0\]\.path/],
  ["a rule that is no list", { rules: { decision: "deny" } }, /'rules'.*list/],
  ["a hook without a tool", { hooks: [{ stage: "before", run: () => undefined }] }, /hooks\[0\].*'tool'/],
  ["a hook with a list of tools", { hooks: [{ ...before, tool: ["grep"] }] }, /hooks\[0\]\.tool/],
  [
    "a misspelt tool of a hook",
    { hooks: [{ ...before, tool: "wrte_file" }] },
    /hooks\[0\]\.tool.*'write_file'/,
  ],
  ["an unknown stage", { hooks: [{ ...before, stage: "pre" }] }, /hooks\[0\]\.stage.*"before"/],
  ["a hook without run", { hooks: [{ stage: "before", tool: "*" }] }, /hooks\[0\].*'run'/],
  ["a condition that hooks do not have", { hooks: [{ ...before, path: "a/**" }] }, /hooks\[0\]\.path/],
  ["hooks by stage", { hooks: { before: [() => undefined] } }, /'hooks'.*list/],
  ["requireApproval as a text", { requireApproval: "true" }, /'requireApproval'/],
  ["requiresApproval", { requiresApproval: true }, /'requiresApproval'.*'requireApproval'/],
  ["confirm that is no function", { confirm: yes }, /'confirm'/],
  ["permissions as true", { permissions: true }, /'permissions'/],
  ["a misspelt mode of permissions", { permissions: { mode: "promt" } }, /permissions\.mode.*"prompt"/],
  [
    "grantFile",
    { permissions: { mode: "prompt", grantFile: "/s/g" } },
    /permissions\.grantFile.*'grantsFile'/,
  ],
  ["records that are none", { records: {} }, /'records'.*lacks/],
  ["records without counters", { records: { ...memoryRecords(), add: undefined } }, /'records'.*lacks/],
  ["a misspelt guard", { guard: "refused" }, /'guard'.*"refuse"/],
  ["guard as a number", { guard: 1 }, /'guard'/],
  ["a guard as an object", { guard: { level: "warn" } }, /'guard'/],
  ["limits in other words", { limits: { outputBites: 3 } }, /limits\.outputBites.*'outputBytes'/],
  ["a limit as a text", { limits: { outputBytes: "5" } }, /limits\.outputBytes/],
  ["a limit that is no number", { limits: { hookTimeoutMs: Number.NaN } }, /limits\.hookTimeoutMs/],
  ["an endless limit", { limits: { hookTimeoutMs: Number.POSITIVE_INFINITY } }, /limits\.hookTimeoutMs/],
  ["edits in another word", { edit: { match: "fuzy" } }, /edit\.match.*"fuzzy"/],
  ["edit at the wrong depth", { match: "exact" }, /'match'/],
  ["kernel as a boolean", { kernel: true }, /'kernel'/],
  ["a misspelt durability", { durability: "durabel" }, /'durability'.*"durable"/],
  ["a misspelt index", { index: "on" }, /'index'/],
  ["history as a text", { history: "off" }, /'history'/],
  ["an observer that is told nothing", { observers: [{ ended: () => undefined }] }, /observers\[0\]/],
  ["a reader without kinds", { readers: [{ mimes: [], read: () => undefined }] }, /readers\[0\]\.mimes/],
  ["a sandbox that is none", { commands: "bwrap" }, /'commands'/],
  ["a sandbox without a status", { commands: { run: () => undefined } }, /commands/],
  ["ignore files that are paths", { ignoreFiles: ["a/b"] }, /ignoreFiles\[0\]/],
  ["an agent without a name", { agent: "" }, /'agent'/],
  ["an unknown preset", { preset: "claud" }, /'preset'.*"claude"/],
  [
    "a preset of one's own that hands on a bad limit",
    { preset: { name: "x", about: "", tools: [], limits: { outputBites: 1 }, access: {} } },
    /preset\.limits\.outputBites/,
  ],
  [
    "a preset of one's own with misspelt access",
    { preset: { name: "x", about: "", tools: [], limits: {}, access: { wirte: [] } } },
    /preset\.access\.wirte.*'write'/,
  ],
  ["an option with a symbol for a name", { [Symbol("readOnly")]: true }, /Symbol\(readOnly\)/],
  ["inherited options", Object.assign(Object.create({ readOnly: true }), {}), /plain object/],
];

describe("openWorkspace refuses", () => {
  test.each(workspace)("%s", async (_name, options, says) => {
    const backend = new MemoryBackend({ "/w/a": "x" });
    const place = "root" in options || "roots" in options ? {} : { root: "/w" };
    const given =
      Object.getPrototypeOf(options) === Object.prototype ? { backend, ...place, ...options } : options;
    const refusal = await refusalOf(() => openWorkspace(given as never));
    expect(refusal).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringMatching(says) });
  });

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["an empty text", ""],
    ["a number", 5],
    ["a list", ["/w"]],
    ["a Map", new Map([["root", "/w"]])],
    ["no options", {}],
  ])("%s instead of options", async (_name, given) => {
    expect(await refusalOf(() => openWorkspace(given as never))).toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("a file as its root, on a disk", async () => {
    const dir = await realpath(await mkdtemp(join(tmpdir(), "filewright-options-")));
    try {
      await writeFile(join(dir, "a.txt"), "x");
      const refusal = await refusalOf(() => openWorkspace(join(dir, "a.txt")));
      expect(refusal).toMatchObject({
        code: "INVALID_ARGUMENT",
        message: expect.stringContaining("is a file"),
      });
    } finally {
      await rm(dir, { recursive: true });
    }
  });
});

const tool = { name: "bash", execute: () => "ran" };
const backend = new MemoryBackend();
const roots = { writableRoots: ["/tmp"] };

/** Calls of every other entry. */
const entries: readonly [mistake: string, call: () => unknown, says: RegExp][] = [
  [
    "sandboxFor: the tier in capitals",
    () => sandboxFor({ ...roots, tier: "Strict" as never }),
    /tier.*"strict"/,
  ],
  [
    "sandboxFor: readonlyPaths",
    () => sandboxFor({ ...roots, readonlyPaths: ["/tmp"] } as never),
    /readonlyPaths.*'readOnlyPaths'/,
  ],
  ["sandboxFor: degrade as true", () => sandboxFor({ ...roots, degrade: true as never }), /degrade/],
  ["sandboxFor: network as a text", () => sandboxFor({ ...roots, network: "false" as never }), /network/],
  ["sandboxFor: roots as a text", () => sandboxFor({ writableRoots: "/tmp" as never }), /writableRoots/],
  ["sandboxFor: no roots", () => sandboxFor({} as never), /writableRoots.*required/],
  [
    "linuxSandbox: readonlyRoots",
    () => linuxSandbox({ ...roots, readOnlyRoots: [] } as never),
    /readOnlyRoots/,
  ],
  ["LocalBackend: kernel as true", () => new LocalBackend({ kernel: true as never }), /kernel/],
  [
    "LocalBackend: a misspelt policy",
    () => new LocalBackend({ policy: { ...SandboxPolicy.readOnly("/tmp"), readonly: true } as never }),
    /policy\.readonly.*'readOnly'/,
  ],
  ["MemoryBackend: clock", () => new MemoryBackend({}, { clock: Date.now } as never), /clock/],
  [
    "MountBackend: readonly",
    () => new MountBackend({ "/a": { backend, readonly: true } as never }),
    /readonly.*'readOnly'/,
  ],
  [
    "SandboxedBackend: a policy without deny",
    () => new SandboxedBackend(backend, { cwd: "/" } as never),
    /required/,
  ],
  ["SandboxPolicy: denied", () => SandboxPolicy.workspaceOnly("/w", { denied: ["a"] } as never), /denied/],
  [
    "SandboxPolicy: reads",
    () => SandboxPolicy.allowList({ write: ["/w"], reads: [] } as never),
    /reads.*'read'/,
  ],
  [
    "compileRules: a rule about an argument that its tool does not have",
    () => compileRules([{ tool: "edit_file", args: { old_txt: "a" }, decision: "deny" }]),
    /\[0\]\.args.*edit_file has no argument 'old_txt'.*'old_text'/,
  ],
  [
    "compileRules: a rule about an argument of run_command that it does not have",
    () => compileRules([{ tool: "run_command", args: { comand: "rm" }, decision: "deny" }]),
    /'comand'.*'command'/,
  ],
  [
    "compileRules: a rule for every tool about an argument that none has",
    () => compileRules([{ args: { pth: "a" }, decision: "deny" }]),
    /no tool has an argument 'pth'.*'path'/,
  ],
  [
    "compileRules: an argument by another spelling",
    () => compileRules([{ tool: "read_file", args: { file_path: "a" }, decision: "deny" }]),
    /'file_path'.*'path'/,
  ],
  ["compileRules: paths", () => compileRules([{ paths: "a", decision: "allow" } as never]), /paths.*'path'/],
  [
    "headlessApprover: paths",
    () => headlessApprover({ rules: [{ decision: "allow", paths: "/a" } as never] }),
    /rules\[0\]\.paths/,
  ],
  [
    "headlessApprover: an unknown tool",
    () => headlessApprover({ rules: [{ tool: "write", decision: "allow" }] }),
    /'write_file'/,
  ],
  ["headlessApprover: ask", () => headlessApprover({ rules: [{ decision: "ask" as never }] }), /decision/],
  [
    "headlessApprover: a relative path",
    () => headlessApprover({ rules: [{ path: "a/b", decision: "deny" }] }),
    /rules\[0\]\.path/,
  ],
  [
    "openWorkspace: a rule about an argument that its tool does not have",
    () =>
      openWorkspace({
        root: "/w",
        backend: new MemoryBackend(),
        rules: [{ tool: "write_file", args: { pth: "a" }, decision: "deny" }],
      }),
    /rules\[0\]\.args.*no argument 'pth'.*'path'/,
  ],
  ["headlessApprover: a relative grant", () => headlessApprover({ grant: ["a"] }), /grant\[0\]/],
  ["headlessApprover: grants", () => headlessApprover({ grants: ["/a"] } as never), /grants.*'grant'/],
  ["approvalHook: no ask", () => approvalHook({} as never), /ask.*required/],
  [
    "approvalHook: tools",
    () => approvalHook({ ask: () => ({ approved: true }), tools: "bash" } as never),
    /tools.*'tool'/,
  ],
  ["within: no time", () => within(Number.NaN, () => undefined), /integer/],
  ["within: swapped", () => within((() => undefined) as never, 5 as never), /integer/],
  ["quorum: none", () => quorum(0, [() => undefined]), /needed/],
  ["quorum: more than there are", () => quorum(2, [() => undefined]), /needed/],
  ["allOf: no list", () => allOf((() => undefined) as never), /list/],
  ["approvalQueue: a short token", () => approvalQueue({ token: "short" }), /token.*16/],
  ["terminalApprover: settle", () => terminalApprover({ settle: 5 } as never), /settle/],
  ["audit: read", () => audit({ write: () => undefined }, { read: false } as never), /'read'.*'reads'/],
  [
    "spans: path",
    () => spans({ startSpan: () => undefined as never }, { path: true } as never),
    /'path'.*'paths'/,
  ],
  ["withHooks: an unknown stage", () => withHooks(tool, [{ ...before, stage: "pre" } as never]), /stage/],
  ["withHooks: a misspelt tool", () => withHooks(tool, [{ ...before, tool: "bsh" } as never]), /'bash'/],
  [
    "withHooks: a rule for a misspelt tool",
    () => withHooks(tool, [], { rules: [{ tool: "bsh", decision: "deny" }] }),
    /'bash'/,
  ],
  [
    "withHooks: a rule about an argument that a tool of ours does not have",
    () => withHooks(tool, [], { rules: [{ tool: "write_file", args: { pth: "a" }, decision: "deny" }] }),
    /rules\[0\]\.args.*'pth'.*'path'/,
  ],
  ["withHooks: timeout", () => withHooks(tool, [], { timeout: 5 } as never), /timeout.*'timeoutMs'/],
];

describe("an entry refuses", () => {
  test.each(entries)("%s", async (_name, call, says) => {
    const refusal = await refusalOf(call);
    expect(refusal).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringMatching(says) });
  });

  test("what an adapter, an agent and a call are given", async () => {
    const ws = await openWorkspace({ backend: new MemoryBackend(), root: "/w" });
    const calls: readonly [() => unknown, RegExp][] = [
      [() => toAiSdk(ws, { inlcude: ["grep"] } as never), /inlcude.*'include'/],
      [() => toAiSdk(ws, { include: "grep" as never }), /include.*list/],
      [() => toAiSdk(ws, { include: ["gerp"] }), /'grep'/],
      [() => toOpenAIAgents(ws, { approve: "change" as never }), /approve.*"changes"/],
      [() => toOpenAIAgents(ws, { aprove: "changes" } as never), /aprove.*'approve'/],
      [() => toClaudeAgentServer(ws, { approve: "changes" } as never), /approve/],
      [() => toGeminiTool(ws, { signal: {} as never }), /signal/],
      [() => toAnthropicMemory(ws, { agnet: "a" } as never), /agnet.*'agent'/],
      [() => ws.agent("a", { readOnly: true } as never), /readOnly/],
      [() => ws.agent("a", { access: { readonly: true } as never }), /access\.readonly.*'readOnly'/],
      [() => ws.agent("a", { budget: { call: 5 } as never }), /budget\.call.*'calls'/],
      [() => ws.agent("a", { budget: { calls: "5" as never } }), /budget\.calls/],
      [() => ws.agent("a", { rules: [{ tool: "write", decision: "deny" }] }), /'write_file'/],
      [() => ws.agent("a", { preset: "claud" as never }), /"claude"/],
    ];
    for (const [call, says] of calls) {
      const refusal = await refusalOf(call);
      expect(refusal).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringMatching(says) });
    }
    await ws.close();
  });
});
