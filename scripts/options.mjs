// Writes docs/reference/options.md: every option of every function and class that takes options,
// from the option tables in dist and the doc comments in js, and those of @filewright/storage.
//
//   node scripts/options.mjs           writes the page
//   node scripts/options.mjs --check   fails if the page is stale
import { readdirSync, readFileSync, writeFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./lib/run.mjs";

const OPTIONS_PAGE = join(root, "docs/reference/options.md");

/**
 * The option tables: the heading on the page, the module in dist and the name of the export; then the heading of a
 * table of which the rows with the same text are named and not repeated. A
 * table that nothing else imports has the tag `@printed` in its doc comment, so that knip does not
 * report it as unused.
 */
const OPTION_TABLES = [
  ["openWorkspace", "workspace/option-schema.js", "WORKSPACE_OPTIONS"],
  ["A config file: server", "mcp/settings.js", "SERVER_SETTINGS"],
  ["ws.agent", "workspace/agents.js", "AGENT_OPTIONS"],
  ["A call: ws.call, a tool, a typed method", "pipeline/call-options.js", "CALL_OPTIONS"],
  ["ws.lock", "workspace/access-methods.js", "LOCK_OPTIONS"],
  ["ws.history", "workspace/past-methods.js", "HISTORY_OPTIONS"],
  ["ws.undo", "workspace/past-methods.js", "UNDO_OPTIONS"],
  ["ws.keep", "pipeline/past/keep-options.js", "KEEP_OPTIONS"],
  ["ws.why", "pipeline/why.js", "WHY_OPTIONS"],
  ["ws.rewind", "workspace/rewind/options.js", "REWIND_OPTIONS"],
  ["ws.fork", "workspace/forks/forks.js", "FORK_WORKSPACE_OPTIONS"],
  ["fork.diff", "workspace/forks/forks.js", "FORK_DIFF_OPTIONS"],
  ["fork.merge", "workspace/forks/forks.js", "FORK_MERGE_OPTIONS"],
  ["ws.grants.add", "policy/grants.js", "NEW_GRANT_OPTIONS"],
  ["resolveMentions", "workspace/mentions.js", "MENTION_OPTIONS"],
  ["Answer of a before hook", "hooks/hook.js", "BEFORE_REPLY"],
  ["Answer of an after hook", "hooks/hook.js", "AFTER_REPLY"],
  ["Answer of a reviewer", "hooks/confirm.js", "CONFIRM_REPLY"],
  ["Answer to a question about a directory", "policy/grant-questions.js", "GRANT_REPLY"],
  ["approvalHook", "hooks/approval-hook.js", "APPROVAL_HOOK_OPTIONS"],
  ["headlessApprover", "hooks/headless.js", "HEADLESS_OPTIONS"],
  ["terminalApprover", "hooks/terminal.node.js", "TERMINAL_OPTIONS"],
  ["approvalQueue", "hooks/approval-queue.js", "APPROVAL_QUEUE_OPTIONS"],
  ["parking", "hooks/queue/parking.js", "PARKING_OPTIONS"],
  ["serveMcp", "mcp/serve-mcp.js", "SERVE_MCP_OPTIONS"],
  ["serveApprovals", "hooks/approval-server.node.js", "APPROVAL_SERVER_OPTIONS"],
  ["notebookApprover", "hooks/notebook.js", "NOTEBOOK_HOST"],
  ["withHooks", "hooks/foreign.js", "WITH_HOOKS_OPTIONS"],
  ["reviewHub", "review/hub.js", "REVIEW_HUB_OPTIONS"],
  ["serveReviewPage", "review/serve.node.js", "REVIEW_PAGE_OPTIONS"],
  ["audit, auditFile", "hooks/audit/audit.js", "AUDIT_OPTIONS"],
  ["verifyAuditFile", "hooks/audit/verify.node.js", "AUDIT_VERIFY_OPTIONS"],
  ["spans, openTelemetry", "hooks/telemetry.js", "SPAN_OPTIONS"],
  ["sandboxFor", "backends/sandbox/sandbox-choice.node.js", "SANDBOX_OPTIONS"],
  ["linuxSandbox", "backends/sandbox/sandbox.node.js", "LINUX_SANDBOX_OPTIONS", "sandboxFor"],
  ["sandboxOptionsOf", "backends/sandbox/sandbox.node.js", "SANDBOX_FLAGS"],
  ["LocalBackend", "backends/local/local-options.js", "LOCAL_OPTIONS"],
  ["NodeBackend", "backends/node/node-options.js", "NODE_OPTIONS"],
  ["Disks: a write", "backends/call-options.js", "WRITE_OPTIONS"],
  ["LocalBackend: a write", "backends/local/local-options.js", "LOCAL_WRITE_OPTIONS", "Disks: a write"],
  ["Disks: a move or copy", "backends/call-options.js", "MOVE_OPTIONS"],
  [
    "LocalBackend: a move or copy",
    "backends/local/local-options.js",
    "LOCAL_TRANSFER_OPTIONS",
    "Disks: a move or copy",
  ],
  ["Disks: copyTree", "backends/call-options.js", "COPY_TREE_OPTIONS"],
  ["Disks: delete", "backends/call-options.js", "DELETE_OPTIONS"],
  ["Disks: read", "backends/call-options.js", "READ_OPTIONS"],
  ["Disks: readLines", "backends/call-options.js", "PAGE_OPTIONS"],
  ["Disks: mkdir", "backends/call-options.js", "MKDIR_OPTIONS"],
  ["Disks: listDir", "backends/call-options.js", "LIST_OPTIONS"],
  ["Disks: listPage", "backends/call-options.js", "LIST_PAGE_OPTIONS"],
  ["Disks: lock", "backends/call-options.js", "LOCK_CALL_OPTIONS"],
  ["MemoryBackend", "backends/memory/memory.js", "MEMORY_OPTIONS"],
  ["MountBackend", "backends/mounts.js", "MOUNT_OPTIONS"],
  ["HttpBackend", "backends/http.js", "HTTP_OPTIONS"],
  ["OpfsBackend", "backends/web/stores.js", "OPFS_OPTIONS"],
  ["SandboxPolicy.allowList", "policy/policy.js", "ALLOW_LISTS"],
  ["SandboxPolicy", "policy/policy.js", "POLICY_OPTIONS"],
  ["openGrantsFile", "policy/grants-file.node.js", "GRANTS_FILE_OPTIONS"],
  ["makePermissions", "policy/permissions.js", "PERMISSION_SETUP"],
  ["readersFor", "readers/registry.js", "READERS_OPTIONS"],
  ["definePreset", "presets/spec-options.js", "PRESET_SPEC_OPTIONS"],
  ["filesOf", "storage/files/files-of.js", "FILES_OPTIONS"],
  ["memoryStorage", "storage/memory/memory.js", "MEMORY_STORAGE_OPTIONS"],
  ["postgresStorage", "../packages/storage/dist/postgres/options.js", "POSTGRES_STORAGE_OPTIONS"],
  ["setPostgresQuota", "../packages/storage/dist/postgres/options.js", "POSTGRES_QUOTA_OPTIONS"],
  ["sweepPostgres", "../packages/storage/dist/postgres/options.js", "POSTGRES_SWEEP_OPTIONS"],
  ["dropPostgresWorkspace", "../packages/storage/dist/postgres/options.js", "POSTGRES_DROP_OPTIONS"],
  ["backendContract", "testing/contract.js", "CONTRACT_OPTIONS"],
  ["s3Storage", "../packages/storage/dist/s3/options.js", "S3_STORAGE_OPTIONS"],
  ["containerSandbox", "backends/sandbox/container/container.node.js", "CONTAINER_SANDBOX_OPTIONS"],
  ["remoteSandbox", "backends/sandbox/remote/remote.node.js", "REMOTE_SANDBOX_OPTIONS"],
  ["storageContract", "testing/storage/contract.js", "STORAGE_CONTRACT_OPTIONS"],
  ["recordsContract", "testing/records.js", "RECORDS_CONTRACT_OPTIONS"],
  ["Adapters", "adapters/offer.js", "ADAPTER_OPTIONS"],
  ["Adapters that ask", "adapters/offer.js", "APPROVING_OPTIONS"],
  ["toAiSdk", "adapters/ai-sdk.js", "AI_SDK_OPTIONS"],
  ["toAnthropicRunnable", "adapters/anthropic.js", "ANTHROPIC_OPTIONS"],
  ["toClaudeAgentServer", "adapters/claude-agent.js", "CLAUDE_AGENT_OPTIONS"],
  ["toGeminiTool", "adapters/gemini.js", "GEMINI_OPTIONS"],
  ["toOpenAIAgents", "adapters/openai-agents.js", "OPENAI_AGENTS_OPTIONS"],
  ["toTinyAgentHooks", "adapters/tinyagent.js", "TINY_AGENT_HOOK_OPTIONS"],
  ["mount of filewright/amplifier", "adapters/amplifier.js", "AMPLIFIER_CONFIG"],
  ["Adapters of file systems", "adapters/host-files.js", "HOST_OPTIONS"],
];

/** Yields the text of every TypeScript source below a folder. */
function* sourceTexts(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* sourceTexts(path);
    else if (entry.name.endsWith(".ts")) yield readFileSync(path, "utf8");
  }
}

/** Returns the doc comments of the members that a body of an interface or a table declares, by their names. */
function memberComments(body) {
  const members = new Map();
  for (const [, comment, member] of body.matchAll(/\/\*\*([\s\S]*?)\*\/\s*(?:readonly )?(\w+)[?(:]/gu))
    members.set(
      member,
      comment
        .replaceAll(/\s*\n\s*\* ?/gu, " ")
        .replaceAll(/\{@link ([\w.]+)\}/gu, "`$1`")
        .trim(),
    );
  return members;
}

/**
 * Returns for the name of each interface in js its base interface and the doc comments of its
 * members; also for the name of a type whose members are the keys of a table.
 */
function interfaceComments() {
  const found = new Map();
  const texts = ["js", "packages/storage/src"].flatMap((folder) => [...sourceTexts(join(root, folder))]);
  for (const text of texts) {
    for (const [, name, table] of text.matchAll(
      /^export type (\w+) = \{ readonly \[K in keyof typeof (\w+)\]/gmu,
    )) {
      const body = new RegExp(`^export const ${table} = \\{\\n([\\s\\S]*?)^\\};`, "mu").exec(text)?.[1] ?? "";
      found.set(name, { base: undefined, members: memberComments(body) });
    }
    for (const [, name, base, body] of text.matchAll(
      /^(?:export )?interface (\w+)(?:<[^{\n]*?>)?(?: extends (\w+))?[^{\n]* \{\n([\s\S]*?)^\}/gmu,
    )) {
      if (!found.has(name)) found.set(name, { base, members: memberComments(body) });
    }
  }
  return found;
}

/** Returns the doc comment of a member of an interface or of its base; empty without one. */
function memberComment(all, name, member) {
  const known = all.get(name);
  if (known === undefined) return "";
  return (
    known.members.get(member) ?? (known.base === undefined ? "" : memberComment(all, known.base, member))
  );
}

/** Returns the values that an option accepts, in words. */
function describeValues(schema) {
  if (schema.anyOf !== undefined) return schema.anyOf.map(describeValues).join(" or ");
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(", ");
  if (
    schema.title !== undefined &&
    schema.properties !== undefined &&
    Object.keys(schema.properties).length > 0
  )
    return `[${schema.title}](#${schema.title.toLowerCase()})`;
  const [type] = [schema.type].flat();
  if (type === "array") return `list of ${describeValues(schema.items ?? { type: "any" })}`;
  if (type === "integer")
    return schema.minimum === undefined
      ? "integer"
      : `integer from ${schema.minimum}${schema.maximum === undefined ? "" : ` to ${schema.maximum}`}`;
  if (type === "object")
    return schema.values === undefined ? "object" : `object of ${describeValues(schema.values)}`;
  const names = {
    string: "text",
    boolean: "true or false",
    any: "anything",
    instance: schema.noun ?? "object",
  };
  return names[type] ?? type;
}

const escapeTableCell = (text) => text.replaceAll("|", "\\|");

/** Returns the rows of the table of the options in one object, in Markdown, by the names of the options. */
function optionRows(all, schema) {
  const rows = Object.entries(schema.properties).map(([name, option]) => {
    const needed = schema.required?.includes(name) === true ? " (required)" : "";
    const row = `| \`${name}\`${needed} | ${escapeTableCell(describeValues(option))} | ${escapeTableCell(memberComment(all, schema.title, name))} |`;
    return [name, row];
  });
  return new Map(rows);
}

const tableOfRows = (rows) => ["| option | values | |", "|---|---|---|", ...rows].join("\n");

/** Returns the table of the options in one object. */
const optionsTable = (all, schema) => tableOfRows(optionRows(all, schema).values());

/** Returns the table without the rows that another one has as well, after a sentence with their names. */
function furtherOptions(rows, [heading, others]) {
  const shared = [...rows.keys()].filter((name) => rows.get(name) === others.get(name));
  const names = shared.map((name) => `\`${name}\``).join(", ");
  const own = [...rows.keys()].filter((name) => !shared.includes(name)).map((name) => rows.get(name));
  return `${names}: as for \`${heading}\`.\n\n${tableOfRows(own)}`;
}

/** Returns the schemas of the objects of options that are values in another one, at any depth. */
function nestedSchemas(schema) {
  const children = [
    ...(schema.anyOf ?? []),
    schema.items,
    schema.values,
    ...Object.values(schema.properties ?? {}),
  ];
  return children
    .filter((child) => child !== undefined)
    .flatMap((child) => [
      ...(child.title !== undefined && Object.keys(child.properties ?? {}).length > 0 ? [child] : []),
      ...nestedSchemas(child),
    ]);
}

/** @returns {Promise<string>} the text of the page */
async function optionsPageText() {
  const all = interfaceComments();
  const entries = [];
  const shared = new Map();
  const rowsByHeading = new Map();
  for (const [heading, module, name, base] of OPTION_TABLES) {
    const { [name]: table } = await import(new URL(`../dist/${module}`, import.meta.url).href);
    const rows = optionRows(all, table.schema);
    rowsByHeading.set(heading, rows);
    const text =
      base === undefined ? tableOfRows(rows.values()) : furtherOptions(rows, [base, rowsByHeading.get(base)]);
    entries.push(`## ${heading}\n${text}`);
    for (const child of nestedSchemas(table.schema))
      if (!shared.has(child.title)) shared.set(child.title, child);
  }
  const more = [...shared.values()].map((schema) => `### ${schema.title}\n${optionsTable(all, schema)}`);
  return [
    "# Options",
    'Printed by `npm run options` from the tables that check them; not to be edited. An unknown option, a wrong type or a value that is not listed is INVALID_ARGUMENT, and the message names its place and the nearest valid name. Nothing is converted: `"true"` is not `true`.',
    ...entries,
    "## Objects in options",
    ...more,
    "",
  ]
    .join("\n\n")
    .replace(/\n\n$/u, "\n");
}

/** @returns {Promise<boolean>} whether the page has the text that would be written */
export async function isOptionsPageFresh() {
  return readFileSync(OPTIONS_PAGE, "utf8") === (await optionsPageText());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes("--check")) {
    if (!(await isOptionsPageFresh())) {
      console.error("docs/reference/options.md is stale; run: npm run options");
      process.exitCode = 1;
    }
  } else {
    mkdirSync(dirname(OPTIONS_PAGE), { recursive: true });
    writeFileSync(OPTIONS_PAGE, await optionsPageText());
  }
}
