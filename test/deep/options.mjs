// Makes option mistakes from the tables of every entry, and calls the entry with each: none may be accepted.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seeded } from "../../scripts/lib/deep-kind.mjs";

const dist = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href);

/** Values of every type; those of a schema's own types are left out. */
const POOL = [
  5,
  -1,
  1.5,
  Number.NaN,
  true,
  null,
  "",
  "zz",
  "true",
  { zz: 1 },
  [],
  [5],
  [null],
  () => 0,
  new Map(),
  new Date(0),
];

const typesOf = ({ type }) => [type].flat();
const kindOf = (value) =>
  value === null
    ? "null"
    : Array.isArray(value)
      ? "array"
      : typeof value === "number"
        ? Number.isInteger(value)
          ? "integer"
          : "number"
        : typeof value;

/** Returns true when a schema accepts the type of a value: such a value is no mistake of type. */
function takes(schema, value) {
  if (schema.anyOf !== undefined) return schema.anyOf.some((one) => takes(one, value));
  const kind = kindOf(value);
  return typesOf(schema).some((type) => {
    if (type === "any") return true;
    if (type === "string" && kind === "string")
      return schema.enum === undefined
        ? value !== "" || schema.minLength === undefined
        : schema.enum.includes(value);
    if (type === "integer") return kind === "integer" && value >= (schema.minimum ?? value);
    if (type === "array")
      return (
        kind === "array" &&
        value.length >= (schema.minItems ?? 0) &&
        (schema.items === undefined || value.every((item) => takes(schema.items, item)))
      );
    if (type === "object") {
      const plain = kind === "object" && Object.getPrototypeOf(value) === Object.prototype;
      return plain && (schema.values !== undefined || schema.properties === undefined);
    }
    // What an object with methods has besides is its own business.
    if (type === "instance" && kind === "object")
      return schema.test === undefined ? !schema.required?.length : schema.test(value) === undefined;
    return type === kind;
  });
}

/** A word that is nearly another one. */
function misspelt(random, word) {
  const at = random.below(word.length);
  const ways = [
    () => word.slice(0, at) + word.slice(at + 1),
    () => word.slice(0, at) + word[at] + word.slice(at),
    () => `${word}s`,
    () => word.toUpperCase(),
    () => word.toLowerCase(),
    () => word[0].toUpperCase() + word.slice(1),
    () => (at > 0 ? word.slice(0, at - 1) + word[at] + word[at - 1] + word.slice(at + 1) : `_${word}`),
    () => `${word.slice(0, at)}_${word.slice(at)}`,
    () => ` ${word}`,
    () => `${word}${random.pick(["Path", "Paths", "List", "Only", "ed"])}`,
  ];
  return random.pick(ways)();
}

/** Every place of the options at which a mistake can be made: the schema there, the value, and how to put another. */
function placesIn(schema, value, path = []) {
  if (schema.anyOf !== undefined) {
    // The branch of the sample; a value is a mistake of type only if it fits no branch.
    const branch = schema.anyOf.find((one) => typesOf(one).some((type) => type === kindOf(value)));
    const inner =
      branch === undefined ? [] : placesIn(branch, value, path).filter((place) => place.path !== path);
    const members =
      branch?.properties === undefined ? [] : [{ schema: branch, value, path, membersOnly: true }];
    return [{ schema, value, path }, ...members, ...inner];
  }
  const here = [{ schema, value, path }];
  if (Array.isArray(value) && schema.items !== undefined)
    return [...here, ...value.flatMap((item, index) => placesIn(schema.items, item, [...path, index]))];
  if (typeof value !== "object" || value === null) return here;
  const properties = schema.properties ?? {};
  return [
    ...here,
    ...Object.keys(properties).flatMap((name) => placesIn(properties[name], value[name], [...path, name])),
  ];
}

/** The options with another value at a path. */
function put(options, [key, ...rest], change) {
  if (key === undefined) return change(options);
  const copy = Array.isArray(options) ? [...options] : { ...options };
  copy[key] = put(options[key], rest, change);
  if (copy[key] === REMOVED) delete copy[key];
  return copy;
}
const REMOVED = Symbol("removed");

const shown = (path) =>
  path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`))
    .join("")
    .replace(/^\./u, "");

/** The names of the tools of all presets. */
const presetTools = new Set();

/** One mistake in options that are right; undefined where none of this kind can be made here. */
function mistake(random, base, place, tools) {
  const { schema, path, value, membersOnly } = place;
  const names = Object.keys(schema.properties ?? {});
  const closed = typesOf(schema).includes("object") ? schema.values === undefined : schema.closed === true;
  const kinds = ["type"];
  if (membersOnly === true) kinds.length = 0;
  if (names.length > 0 && closed && typeof value === "object" && value !== null)
    kinds.push("key", "key", "key", "depth");
  if ((schema.required?.length ?? 0) > 0 && typeof value === "object" && value !== null)
    kinds.push("missing");
  if (schema.enum !== undefined || schema.anyOf?.some((one) => one.enum !== undefined))
    kinds.push("enum", "enum");
  if (path.at(-1) === "tool" && tools) kinds.push("tool", "tool");
  if (kinds.length === 0) return undefined;
  const kind = random.pick(kinds);
  const at = (key) => ({ kind, where: shown([...path, key]), options: undefined });
  if (kind === "type") {
    const wrong = [...POOL, ...(value === undefined || takes(schema, [value]) ? [] : [[value]])].filter(
      (one) => !takes(schema, one),
    );
    if (wrong.length === 0) return undefined;
    const given = random.pick(wrong);
    return { kind, where: shown(path), given, options: put(base, path, () => given) };
  }
  if (kind === "key") {
    const name = random.pick(names);
    const wrong = misspelt(random, name);
    if (names.includes(wrong)) return undefined;
    const given = value[name] ?? true;
    return { ...at(wrong), given: wrong, options: put(base, path, (old) => ({ ...old, [wrong]: given })) };
  }
  if (kind === "depth") {
    const foreign = random.pick([
      "tool",
      "path",
      "access",
      "deny",
      "readOnly",
      "outputBytes",
      "match",
      "decision",
      "proceed",
      "approved",
      "mode",
    ]);
    if (names.includes(foreign)) return undefined;
    return {
      ...at(foreign),
      given: foreign,
      options: put(base, path, (old) => ({ ...old, [foreign]: true })),
    };
  }
  if (kind === "missing") {
    const name = random.pick(schema.required);
    return { kind, where: name, given: name, options: put(base, [...path, name], () => REMOVED) };
  }
  if (kind === "enum") {
    const values = [schema, ...(schema.anyOf ?? [])].flatMap((one) => one.enum ?? []);
    const given = misspelt(random, random.pick(values));
    if (takes(schema, given)) return undefined;
    return { kind, where: shown(path), given, options: put(base, path, () => given) };
  }
  const given = misspelt(random, random.pick(tools));
  if (tools.includes(given) || given === "*") return undefined;
  // A hook may also name a tool of a preset.
  if (path[0] === "hooks" && presetTools.has(given)) return undefined;
  return { kind, where: shown(path), given, options: put(base, path, () => given) };
}

/** Describes the wrong outcome of a call with a mistake: undefined where it was refused as it must be. */
async function faultOf(entry, { options, where }) {
  try {
    const outcome = await entry.call(options);
    if (entry.answer === true) return outcome;
    await outcome?.close?.();
    return "accepted";
  } catch (error) {
    if (error?.code !== "INVALID_ARGUMENT") return `refused with ${error?.code ?? error}`;
    const named =
      where === "" || error.message.includes(where) || error.message.includes(where.split(/[.[]/u)[0]);
    return named ? undefined : `refused without naming ${where}: ${error.message}`;
  }
}

async function entriesOf(dir) {
  const fw = await dist("index.node.js");
  const { POLICY_OPTION } = await dist("backends/option-schema.js");
  const tables = Object.assign(
    {},
    ...(await Promise.all(
      [
        "workspace/option-schema.js",
        "workspace/agents.js",
        "pipeline/call-options.js",
        "workspace/mentions.js",
        "workspace/workspace.js",
        "policy/policy.js",
        "policy/rules.js",
        "policy/permissions.js",
        "policy/grants.js",
        "policy/grants-file.node.js",
        "backends/local/local-options.js",
        "backends/memory/memory.js",
        "backends/mounts.js",
        "backends/http.js",
        "backends/sandbox/sandbox-choice.node.js",
        "backends/sandbox/sandbox.node.js",
        "hooks/approval-hook.js",
        "hooks/audit.js",
        "hooks/confirm.js",
        "hooks/approval-queue.js",
        "hooks/approval-server.node.js",
        "hooks/foreign.js",
        "hooks/headless.js",
        "hooks/notebook.js",
        "hooks/hook.js",
        "hooks/telemetry.js",
        "hooks/terminal.node.js",
        "presets/spec-options.js",
        "readers/registry.js",
        "adapters/offer.js",
        "adapters/ai-sdk.js",
        "adapters/anthropic.js",
        "adapters/claude-agent.js",
        "adapters/gemini.js",
        "adapters/host-files.js",
        "adapters/openai-agents.js",
      ].map(dist),
    )),
  );
  const adapter = async (file, name) => (await dist(`adapters/${file}.js`))[name];
  const { TOOL_NAMES } = await dist("schema/tool-names.js");
  const { definePreset, PRESETS } = await dist("presets/index.node.js");
  for (const { tools: own } of Object.values(PRESETS)) for (const { name } of own) presetTools.add(name);
  const tools = [...TOOL_NAMES];
  let calls = 0;
  const ws = await fw.openWorkspace({ backend: new fw.MemoryBackend(), root: "/w" });
  const rule = { tool: "grep", path: "src/**", args: { path: "a" }, decision: "deny" };
  const hook = { stage: "before", tool: "write_file", run: () => undefined };
  const store = { load: async () => [], note: () => undefined, close: async () => undefined };
  const policy = {
    cwd: "/w",
    read: ["/w"],
    write: ["/w"],
    deny: ["x"],
    protect: true,
    secrets: "grant",
    readOnly: false,
    followSymlinks: "inside",
    maxOutputBytes: 5,
  };
  const written = async (options, denied) => {
    const backend = new fw.MemoryBackend({ "/w/keep": "" });
    const own = await fw.openWorkspace({ backend, root: "/w", ...options });
    const result = await own.call("write_file", { path: "a", content: "x" });
    await own.close();
    if (await backend.exists("/w/a")) return "accepted: the file is written";
    return result.error?.code === denied ? undefined : `answered ${result.error?.code}`;
  };
  const { COMMANDS } = await dist("cli/commands.js");
  const { GLOBAL_OPTIONS } = await dist("cli/command.js");
  const { main } = await dist("cli/run.js");
  const commands = COMMANDS.map(({ name, options, own }) => [
    name,
    { ...options, ...(own ? {} : GLOBAL_OPTIONS) },
  ]);
  // A flag of any command, misspelt: the names of all commands are one object of options.
  const flags = {
    schema: {
      type: "object",
      properties: Object.fromEntries(
        commands.flatMap(([, all]) => Object.keys(all).map((flag) => [flag, { type: "any" }])),
      ),
    },
  };
  const commandLine = async (given) => {
    for (const flag of Object.keys(given)) {
      for (const [name, all] of commands) {
        if (Object.hasOwn(all, flag)) continue;
        const outcome = await main([name, `--${flag}`]).catch((error) => error);
        if (outcome?.name !== "UsageError") return `accepted: ${name} --${flag}`;
      }
    }
    return undefined;
  };
  const pathErrors = ["FileNotFound", "DirectoryNotFound", "FileExists", "IsDirectory", "NotDirectory"];
  const mastra = Object.fromEntries(
    [...pathErrors, "DirectoryNotEmpty"].map((name) => [`${name}Error`, class extends Error {}]),
  );
  const list = (item) => ({ schema: { type: "array", items: item.schema } });
  return {
    entries: [
      {
        name: "openWorkspace",
        weight: 12,
        tools,
        table: tables.WORKSPACE_OPTIONS,
        base: {
          roots: ["/w", { path: "/v", access: "read" }],
          backend: new fw.MemoryBackend({ "/w/a": "", "/v/a": "" }),
          cwd: "/w",
          readOnly: false,
          access: {
            read: ["/w"],
            write: ["/w"],
            deny: ["secret"],
            protect: true,
            secrets: "grant",
            readOnly: false,
            followSymlinks: "inside",
          },
          permissions: { mode: "off", ask: () => "no", now: Date.now },
          preset: "canonical",
          hooks: [hook],
          rules: [rule],
          requireApproval: false,
          limits: { outputBytes: 5000, hookTimeoutMs: 5 },
          ignoreFiles: [".gitignore"],
          edit: { match: "exact" },
          guard: { store },
          observers: [{ hashes: false, end: () => undefined }],
        },
        call: (options) => fw.openWorkspace(options),
      },
      {
        name: "agent",
        weight: 4,
        tools,
        table: tables.AGENT_OPTIONS,
        base: {
          preset: "claude",
          access: { read: ["/w"], write: [], deny: ["x"], readOnly: true },
          permissions: { ask: () => "no" },
          rules: [rule],
          limits: { outputBytes: 5 },
          budget: { calls: 5, outputBytes: 5 },
        },
        call: (options) => ws.agent("a", options),
      },
      {
        name: "SandboxPolicy",
        table: tables.POLICY_OPTIONS,
        base: { cwd: "/w", deny: ["x"], protect: true, secrets: "grant" },
        call: (options) => void fw.SandboxPolicy.workspaceOnly("/w", options),
      },
      {
        name: "SandboxPolicy.allowList",
        table: tables.ALLOW_LISTS,
        base: { cwd: "/w", read: ["/w"], write: ["/w"], deny: ["x"] },
        call: (options) => void fw.SandboxPolicy.allowList(options),
      },
      {
        name: "SandboxedBackend",
        table: { schema: POLICY_OPTION.schema },
        base: policy,
        call: (options) => void new fw.SandboxedBackend(new fw.MemoryBackend(), options),
      },
      {
        name: "LocalBackend",
        weight: 2,
        table: tables.LOCAL_OPTIONS,
        base: {
          policy: { ...policy, cwd: dir, read: [dir], write: [dir] },
          stateDir: dir,
          durability: "atomic",
        },
        call: (options) => void new fw.LocalBackend(options),
      },
      {
        name: "MemoryBackend",
        table: tables.MEMORY_OPTIONS,
        base: { now: Date.now },
        call: (options) => void new fw.MemoryBackend({}, options),
      },
      {
        name: "MountBackend",
        table: tables.MOUNT_OPTIONS,
        base: { backend: new fw.MemoryBackend(), root: "/", readOnly: true },
        call: (options) => void new fw.MountBackend({ "/a": options }),
      },
      {
        name: "HttpBackend",
        table: tables.HTTP_OPTIONS,
        base: { url: "https://x.example/" },
        call: (options) => void new fw.HttpBackend(options),
      },
      {
        name: "sandboxFor",
        weight: 2,
        table: tables.SANDBOX_OPTIONS,
        base: { writableRoots: [dir], degrade: "allow", network: false, tier: "fast", provider: "auto" },
        call: (options) => void fw.sandboxFor(options),
      },
      {
        name: "linuxSandbox",
        table: tables.LINUX_SANDBOX_OPTIONS,
        base: { writableRoots: [dir], degrade: "allow", network: false },
        call: (options) => void fw.linuxSandbox(options),
      },
      {
        name: "call",
        weight: 3,
        table: tables.CALL_OPTIONS,
        base: { agent: "a", onProgress: () => undefined },
        // Every second call is that of a typed method, which throws what the other gives.
        call: async (options) => {
          calls += 1;
          if (calls % 2 === 0) return void (await ws.accessInfo({}, options));
          const { error } = await ws.call("access_info", {}, options);
          if (error !== undefined) throw error;
        },
      },
      {
        name: "lock",
        table: tables.LOCK_OPTIONS,
        base: {},
        call: async (options) => (await ws.lock("a", options)).release(),
      },
      {
        name: "resolveMentions",
        table: tables.MENTION_OPTIONS,
        base: { agent: "a", resolvers: [(name) => name] },
        call: async (options) => void (await fw.resolveMentions(ws, "none", options)),
      },
      {
        name: "grants.add",
        weight: 2,
        table: tables.NEW_GRANT_OPTIONS,
        base: { dir: "/w", access: "read", by: "me" },
        call: (options) => ws.grants.add(options),
      },
      {
        name: "openGrantsFile",
        table: tables.GRANTS_FILE_OPTIONS,
        base: { stateDir: dir, lockTimeoutMs: 5 },
        call: async (options) => void (await fw.openGrantsFile(join(dir, "grants.json"), options)),
      },
      {
        name: "makePermissions",
        table: tables.PERMISSION_SETUP,
        base: { mode: "prompt", store: fw.memoryGrants(), ask: () => "no" },
        call: (options) => void fw.makePermissions(options),
      },
      {
        name: "notebookApprover",
        table: tables.NOTEBOOK_HOST,
        base: { display: () => undefined, input: async () => "n" },
        call: (options) => void fw.notebookApprover(options),
      },
      {
        name: "readersFor",
        table: tables.READERS_OPTIONS,
        base: { readers: [{ mimes: ["model/stl"], read: () => ({ text: "" }) }] },
        call: (options) => void fw.readersFor(options),
      },
      {
        name: "definePreset",
        weight: 4,
        table: tables.PRESET_SPEC_OPTIONS,
        base: {
          name: "mine",
          about: "",
          tools: [
            {
              name: "open",
              of: "read_file",
              description: "Opens a file.",
              params: { file: { to: "path", schema: { type: "string" } } },
              required: ["file"],
              aliases: { name: "file" },
              absolute: ["file"],
              kind: "read",
            },
          ],
          limits: { outputBytes: 5000 },
          access: { write: ["."], prompt: false },
        },
        call: (options) => void definePreset(options),
      },
      {
        name: "compileRules",
        weight: 2,
        tools,
        table: list(tables.RULE_OPTIONS),
        base: [rule, { decision: "ask" }],
        call: (options) => void fw.compileRules(options),
      },
      {
        name: "headlessApprover",
        weight: 2,
        tools,
        table: tables.HEADLESS_OPTIONS,
        base: { rules: [{ tool: "delete", path: "/w/**", decision: "allow" }], grant: ["/w"] },
        call: (options) => void fw.headlessApprover(options),
      },
      {
        name: "approvalHook",
        table: tables.APPROVAL_HOOK_OPTIONS,
        base: { ask: () => ({ approved: true }), tool: "*" },
        call: (options) => void fw.approvalHook(options),
      },
      {
        name: "withHooks",
        weight: 2,
        tools,
        table: tables.WITH_HOOKS_OPTIONS,
        base: { timeoutMs: 5, rules: [rule] },
        call: (options) => void fw.withHooks({ name: "bash", execute: () => 0 }, [], options),
      },
      {
        name: "hooks of withHooks",
        tools,
        table: list(tables.HOOK_OPTIONS),
        base: [hook],
        call: (options) => void fw.withHooks({ name: "bash", execute: () => 0 }, options),
      },
      {
        name: "approvalQueue",
        table: tables.APPROVAL_QUEUE_OPTIONS,
        base: { token: "0123456789abcdef" },
        call: (options) => void fw.approvalQueue(options),
      },
      {
        name: "serveApprovals",
        table: tables.APPROVAL_SERVER_OPTIONS,
        base: { port: 0, host: "127.0.0.1", limits: { requests: 5 } },
        call: (options) => fw.serveApprovals(fw.approvalQueue(), options),
      },
      {
        name: "terminalApprover",
        table: tables.TERMINAL_OPTIONS,
        base: { settleMs: 5 },
        call: (options) => void fw.terminalApprover(options),
      },
      {
        name: "audit",
        table: tables.AUDIT_OPTIONS,
        base: { reads: true, hashes: false },
        call: (options) => void fw.audit({ write: () => undefined }, options),
      },
      {
        name: "spans",
        table: tables.SPAN_OPTIONS,
        base: { paths: true },
        call: (options) => void fw.spans({ startSpan: () => undefined }, options),
      },
      ...(await Promise.all(
        [
          ["ai-sdk", "toAiSdk", tables.AI_SDK_OPTIONS],
          ["openai-agents", "toOpenAIAgents", tables.OPENAI_AGENTS_OPTIONS],
          ["anthropic", "toAnthropicRunnable", tables.ANTHROPIC_OPTIONS],
          ["anthropic", "toAnthropicMemory", tables.CALLER_OPTIONS],
          ["claude-agent", "toClaudeAgentServer", tables.CLAUDE_AGENT_OPTIONS],
          ["gemini", "toGeminiTool", tables.GEMINI_OPTIONS],
          ["deepagents", "toDeepAgentsBackend", tables.HOST_OPTIONS],
        ].map(async ([file, name, table]) => {
          const make = await adapter(file, name);
          const base =
            table === tables.CALLER_OPTIONS || table === tables.HOST_OPTIONS
              ? { agent: "a" }
              : { include: ["grep"], agent: "a" };
          return { name, table, base, call: (options) => void make(ws, options) };
        }),
      )),
      ...(await Promise.all(
        [
          ["langchain", "toLangChain", tables.ADAPTER_OPTIONS, { tool: (run) => run, ToolMessage: class {} }],
          ["adk", "toAdkTools", tables.APPROVING_OPTIONS, class {}],
          ["mastra", "toMastraFilesystem", tables.HOST_OPTIONS, mastra],
        ].map(async ([file, name, table, framework]) => {
          const make = await adapter(file, name);
          const base = table === tables.HOST_OPTIONS ? { agent: "a" } : { include: ["grep"], agent: "a" };
          return { name, table, base, call: (options) => void make(ws, framework, options) };
        }),
      )),
      { name: "command line", answer: true, weight: 2, table: flags, base: {}, call: commandLine },
      {
        name: "before hook",
        answer: true,
        weight: 2,
        table: tables.BEFORE_REPLY,
        base: { proceed: true, modified_args: { content: "y" } },
        call: (reply) => written({ hooks: [{ ...hook, run: () => reply }] }, "HOOK_BLOCKED"),
      },
      {
        name: "reviewer",
        answer: true,
        weight: 3,
        table: tables.CONFIRM_REPLY,
        base: { outcome: "proceed_once", payload: { by: "me", reason: "fine" } },
        call: (reply) => written({ confirm: () => reply }, "APPROVAL_DENIED"),
      },
      {
        name: "grant",
        answer: true,
        weight: 2,
        table: tables.GRANT_REPLY,
        base: { answer: "yes", access: "write", remember: false, by: "me" },
        call: (reply) => written({ permissions: { mode: "prompt", ask: () => reply } }, "GRANT_DENIED"),
      },
    ],
    close: () => ws.close(),
  };
}

/** Returns true for a value that counts as no answer: the hook or reviewer is not asked again. */
const SAYS_NOTHING = (given) => given === null || given === undefined;

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description:
    "option mistakes made from the tables of every entry: each is refused, and names where it stands",
  count: 20_000,
  share: 2_000,
  async run({ seed, count, isOver }) {
    const random = seeded(seed);
    const dir = mkdtempSync(join(tmpdir(), "filewright-options-"));
    const { entries, close } = await entriesOf(dir);
    const failures = [];
    let cases = 0;
    try {
      // Options that are right must be accepted, or no refusal says anything.
      for (const entry of entries) {
        const outcome = await Promise.resolve()
          .then(() => entry.call(entry.base))
          .catch((error) => error);
        if (entry.name === "command line") continue;
        const accepted =
          entry.answer === true ? outcome === "accepted: the file is written" : !(outcome instanceof Error);
        if (!accepted)
          failures.push(`${entry.name}: options that are right are refused: ${outcome?.message ?? outcome}`);
        else await outcome?.close?.();
      }
      const weighted = entries.flatMap((entry) => Array.from({ length: entry.weight ?? 1 }, () => entry));
      const places = new Map(entries.map((entry) => [entry, placesIn(entry.table.schema, entry.base)]));
      while (cases < count && !isOver() && failures.length < 20) {
        const entry = random.pick(weighted);
        const made = mistake(random, entry.base, random.pick(places.get(entry)), entry.tools);
        if (
          made === undefined ||
          made.where === "preset" ||
          // A text is a directory, the short form of all options.
          (entry.name === "openWorkspace" && made.where === "" && typeof made.given === "string") ||
          (entry.answer === true &&
            made.where === "" &&
            (entry.name === "command line" || SAYS_NOTHING(made.given)))
        )
          continue;
        cases += 1;
        const wrong = await faultOf(entry, made);
        if (wrong !== undefined)
          failures.push(
            `${entry.name}: ${made.kind} at '${made.where}' (${String(made.given)}): ${wrong}; seed ${seed}, case ${cases}`,
          );
      }
    } finally {
      await close();
      rmSync(dir, { recursive: true, force: true });
    }
    return { cases, failures };
  },
};
