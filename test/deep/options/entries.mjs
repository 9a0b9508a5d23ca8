// The entries that take options: for each its table, options that are right, and a call with given options.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

const dist = (path) => import(new URL(`../../../dist/${path}`, import.meta.url).href);

/** The names of the tools of all presets; filled by `entriesOf`. */
export const presetTools = new Set();

/**
 * Returns the entries, and a function that closes what they opened. `dir` is an empty directory for their files.
 */
export async function entriesOf(dir) {
  const fw = await dist("index.node.js");
  await writeFile(join(dir, "audit.jsonl"), "");
  const { POLICY_OPTION } = await dist("backends/option-schema.js");
  const tables = Object.assign(
    {},
    ...(await Promise.all(
      [
        "workspace/option-schema.js",
        "workspace/agents.js",
        "pipeline/call-options.js",
        ...["mentions", "access-methods", "past-methods"].map((name) => `workspace/${name}.js`),
        "policy/index.js",
        "policy/rules.js",
        "policy/grants-file.node.js",
        "backends/local/local-options.js",
        "backends/memory/memory.js",
        "backends/mounts.js",
        "backends/http.js",
        "backends/sandbox/sandbox-choice.node.js",
        "backends/sandbox/sandbox.node.js",
        "hooks/approval-hook.js",
        "hooks/audit/audit.js",
        "hooks/audit/verify.node.js",
        "hooks/confirm.js",
        "hooks/queue/parking.js",
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
  const { calls: callsTool, definePreset, PRESETS } = await dist("presets/index.node.js");
  for (const { tools: own } of Object.values(PRESETS)) for (const { name } of own) presetTools.add(name);
  const tools = [...TOOL_NAMES];
  let calls = 0;
  const ws = await fw.openWorkspace({ backend: new fw.MemoryBackend(), root: "/w" });
  const rule = { tool: "grep", path: "src/**", args: { path: "a" }, decision: "deny" };
  const hook = { stage: "before", tool: "write_file", run: () => undefined };
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
  const { GLOBAL_OPTIONS, optionsOf } = await dist("cli/command.js");
  const { runCommandLine } = await dist("cli/run.js");
  const commands = COMMANDS.map((command) => [command.name, { ...optionsOf(command), ...GLOBAL_OPTIONS }]);
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
        const outcome = await runCommandLine([name, `--${flag}`], process).catch((error) => error);
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
          guard: "warn",
          records: fw.memoryRecords(),
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
        base: { mode: "prompt", records: fw.memoryRecords(), ask: () => "no" },
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
              title: "Open",
              description: "Opens a file.",
              params: {
                file: { to: "path", schema: { type: "string" }, aliases: ["name"], path: "absolute" },
              },
              required: ["file"],
              means: callsTool("read_file", { fixed: { line_numbers: "none" } }),
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
        name: "parking",
        table: tables.PARKING_OPTIONS,
        base: { reviewWait: 5 },
        call: (options) => void fw.parking(fw.approvalQueue().confirm, options),
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
        name: "verifyAuditFile",
        table: tables.AUDIT_VERIFY_OPTIONS,
        base: { extract: true },
        call: (options) => fw.verifyAuditFile(join(dir, "audit.jsonl"), options),
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
