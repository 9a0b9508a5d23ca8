/**
 * Calls, and what each place that can stop or ask about one answers for them: the function of a framework's adapter,
 * a hook with `when`, the grants of directories, the guard, and all of them in one workspace.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import {
  approvalHook,
  type AskGrant,
  grantsIn,
  makePermissions,
  memoryRecords,
  type Records,
} from "../../js/index.node.ts";
import { MemoryBackend, openWorkspace, type Rule, SandboxPolicy } from "../../js/index.node.ts";
import { toOpenAIAgents } from "../../js/adapters/openai-agents.ts";
import { createResolver } from "../../js/policy/index.ts";

export const SEED = 20_261_127;
export const COUNT = 20_000;

/** The places that are asked one by one, then a workspace with all of them. */
export const COPIES = ["framework", "hook", "grants", "guard", "whole"] as const;
type Copy = (typeof COPIES)[number];
/** One answer for each copy. */
export type Answers = Readonly<Record<Copy, string>>;

/** Values that a host's own function may return where true or false is expected, and two ways to fail. */
const SAID = {
  true: () => true,
  false: () => false,
  "false later": () => Promise.resolve(false),
  "true later": () => Promise.resolve(true),
  undefined: () => undefined,
  null: () => null,
  0: () => 0,
  no: () => "no",
  throws: () => {
    throw new Error("a defect");
  },
  rejects: () => Promise.reject(new Error("a defect")),
} as const;
const SAYS = Object.keys(SAID) as (keyof typeof SAID)[];

const HOOK_ANSWERS = {
  approved: () => ({ approved: true }),
  refused: () => ({ approved: false, message: "not this" }),
  changed: () => ({ approved: true, modified_args: { path: "other.txt" } }),
  unknown: () => ({ approved: "perhaps" }),
  throws: () => {
    throw new Error("a defect");
  },
} as const;

const GRANT_ANSWERS = {
  nobody: undefined,
  yes: () => "yes",
  no: () => "no",
  "yes, to read": () => ({ answer: "yes", access: "read" }),
  "yes, once": () => ({ answer: "yes", remember: false }),
  nothing: () => undefined,
  throws: () => {
    throw new Error("a defect");
  },
} as const;

const APPROVERS = {
  none: undefined,
  required: undefined,
  once: { outcome: "proceed_once" },
  always: { outcome: "proceed_always" },
  cancel: { outcome: "cancel", payload: { reason: "not now" } },
  unknown: { outcome: "perhaps" },
} as const;

const TOOLS: Readonly<Record<string, (path: string) => object>> = {
  read_file: (path) => ({ path }),
  grep: (path) => ({ path, pattern: "one" }),
  write_file: (path) => ({ path, content: "new\n" }),
  edit_file: (path) => ({ path, old_text: "one", new_text: "two" }),
  apply_patch: (path) => ({
    patch: `*** Begin Patch\n*** Update File: ${path}\n@@\n-one\n+two\n*** End Patch\n`,
  }),
  move: (path) => ({ source: path, destination: "moved" }),
  copy: (path) => ({ source: "other.txt", destination: path }),
  delete: (path) => ({ path, recursive: true }),
  mkdir: (path) => ({ path: `${path}/new`, parents: true }),
  batch: (path) => ({ operations: [{ tool: "write_file", args: { path, content: "new\n" } }] }),
  access_info: () => ({}),
};

const keys = <T extends object>(of: T): fc.Arbitrary<keyof T> =>
  fc.constantFrom(...(Object.keys(of) as (keyof T)[]));

const rule = fc.record(
  {
    tool: fc.constantFrom("*", "write_file", "read_file", "delete"),
    path: fc.constantFrom("vault/**", "**/*.sql", "other.txt"),
    decision: fc.constantFrom<Rule["decision"]>("allow", "deny", "ask"),
  },
  { requiredKeys: ["decision"], noNullPrototype: true },
);
const grant = fc.record({
  dir: fc.constantFrom("/w", "/w/vault", "/w/vault/a.sql", "/else"),
  access: fc.constantFrom<"read" | "write">("read", "write"),
});

const gateCase = fc.record({
  tool: keys(TOOLS),
  path: fc.constantFrom(
    "vault/a.sql",
    "link/a.sql",
    "vault/../vault/a.sql",
    "other.txt",
    "new.txt",
    "vault",
    ".env",
    ".vscode/settings.json",
    "/etc/x",
  ),
  rules: fc.array(rule, { maxLength: 2 }),
  approver: keys(APPROVERS),
  grants: fc.option(fc.record({ given: fc.array(grant, { maxLength: 2 }), answer: keys(GRANT_ANSWERS) }), {
    freq: 2,
  }),
  hook: fc.option(fc.record({ when: fc.option(fc.constantFrom(...SAYS)), answer: keys(HOOK_ANSWERS) }), {
    freq: 2,
  }),
  approve: fc.oneof(
    fc.constantFrom("never", "changes", "destructive", "always"),
    fc.constantFrom(...SAYS).map((says) => ({ says })),
  ),
  guard: fc.constantFrom<"off" | "warn" | "refuse">("off", "warn", "refuse"),
  seen: fc.constantFrom<"not" | "all" | "part" | "old">("not", "all", "part", "old"),
});

/** One call, with everything that can stop it or ask about it. */
export type GateCase = Readonly<typeof gateCase extends fc.Arbitrary<infer Case> ? Case : never>;

/** Returns all cases. */
export function gateCases(): readonly GateCase[] {
  return fc.sample(gateCase, { seed: SEED, numRuns: COUNT });
}

const FILES = {
  "/w/vault/a.sql": "one\nx\ny\n",
  "/w/other.txt": "one\nx\ny\n",
  "/w/.env": "one\nx\ny\n",
  "/w/.vscode/settings.json": "one\n",
};

async function storage(): Promise<MemoryBackend> {
  const backend = new MemoryBackend(FILES);
  await backend.symlink?.("vault", "/w/link");
  return backend;
}

/** Returns the answers of all copies about one call. */
export async function gateAnswers(one: GateCase): Promise<Answers> {
  return {
    framework: await frameworkAnswer(one),
    hook: await hookAnswer(one),
    grants: await grantsAnswer(one),
    guard: await callAnswer({ ...one, rules: [], approver: "none", grants: null, hook: null }),
    whole: await callAnswer(one),
  };
}

/** Returns what decides about a change in the workspace of a case, as `access_info` says. */
export async function orderOf(one: GateCase): Promise<string> {
  // Neither the rules nor the hook may stop the call that shows the order.
  const rules = one.rules.length === 0 ? [] : [{ tool: "access_info", decision: "allow" }, ...one.rules];
  const hook = one.hook === null ? null : ({ when: "false", answer: "approved" } as const);
  await using ws = await openWorkspace({ ...(await options({ ...one, hook }, [])), rules } as never);
  const { data } = await ws.call("access_info", {});
  return (data as { readonly decided_by: readonly string[] }).decided_by.join(" ");
}

async function frameworkAnswer({ tool, path, approve }: GateCase): Promise<string> {
  await using ws = await openWorkspace({ backend: await storage(), root: "/w" });
  const chosen = typeof approve === "string" ? approve : SAID[approve.says];
  try {
    const [offered] = toOpenAIAgents(ws, { include: [tool], approve: chosen as never });
    return (await offered?.needsApproval({}, TOOLS[tool]?.(path))) === true ? "ask" : "run";
  } catch {
    return "fails";
  }
}

async function hookAnswer({ tool, path, hook }: GateCase): Promise<string> {
  if (hook === null) return "none";
  const log: string[] = [];
  try {
    const made = hookOf(hook, log);
    const reply = await made.run({ tool_name: tool, args: { ...TOOLS[tool]?.(path) } });
    return `${log.join(" ")} ${JSON.stringify(reply) ?? "run"}`.trim();
  } catch (error) {
    return `${log.join(" ")} fails ${(error as { readonly code?: string }).code ?? ""}`.trim();
  }
}

function hookOf(
  { when, answer }: NonNullable<GateCase["hook"]>,
  log: string[],
): ReturnType<typeof approvalHook> {
  return approvalHook({
    ...(when === null ? {} : { when: SAID[when] as never }),
    ask: () => {
      log.push("hook?");
      return HOOK_ANSWERS[answer]() as never;
    },
  });
}

function askGrant(answer: keyof typeof GRANT_ANSWERS, log: string[]): AskGrant | undefined {
  const given = GRANT_ANSWERS[answer];
  if (given === undefined) return undefined;
  return (_question, _options, { dir }) => {
    log.push(`grant ${dir}?`);
    return given() as never;
  };
}

async function recordsOf(given: NonNullable<GateCase["grants"]>["given"]): Promise<Records> {
  const records = memoryRecords();
  for (const one of given) await grantsIn({ records }).add({ ...one, granted_at: "2026-01-01T00:00:00Z" });
  return records;
}

async function grantsAnswer({ tool, path, grants }: GateCase): Promise<string> {
  if (grants === null) return "none";
  const log: string[] = [];
  const fs = await storage();
  const resolver = await createResolver(SandboxPolicy.allowList({ cwd: "/w", read: null, write: ["/"] }));
  const permissions = makePermissions({
    mode: "prompt",
    records: await recordsOf(grants.given),
    ask: askGrant(grants.answer, log),
  });
  const intent = tool === "read_file" || tool === "grep" ? "read" : "write";
  const entry = tool === "move" || tool === "delete";
  for (let call = 0; call < 2; call += 1) {
    const at = resolver.resolve(path, intent);
    const began = permissions.begin();
    try {
      await permissions.admit(fs, { at, intent, entry, tool, began, secret: resolver.secret }, undefined);
      log.push("ok");
    } catch (error) {
      log.push(String((error as { readonly code?: string }).code));
    }
  }
  return log.join(" ");
}

async function options(one: GateCase, log: string[]): Promise<object> {
  const { rules, approver, grants, hook, guard } = one;
  const reply = APPROVERS[approver];
  return {
    backend: await storage(),
    root: "/w",
    rules,
    guard,
    // With a history, the guard asks for no look before a deletion since these answers were recorded.
    history: false,
    requireApproval: approver === "required",
    hooks: hook === null ? [] : [hookOf(hook, log)],
    ...(grants === null
      ? {}
      : {
          records: await recordsOf(grants.given),
          permissions: { mode: "prompt", ask: askGrant(grants.answer, log) },
        }),
    ...(reply === undefined
      ? {}
      : {
          confirm: ({ tool, path }: { readonly tool: string; readonly path: string }) => {
            log.push(`${tool} ${path}?`);
            return reply;
          },
        }),
  };
}

/** Returns the order of questions and the results of two equal calls, after the file was seen or not. */
async function callAnswer(one: GateCase): Promise<string> {
  const log: string[] = [];
  const given = (await options(one, log)) as { readonly backend: MemoryBackend };
  await using ws = await openWorkspace(given as never);
  const { tool, path, seen } = one;
  if (seen !== "not" && path !== "/etc/x") {
    await ws.call("read_file", { path, ...(seen === "part" ? { limit: 1 } : {}) });
    log.length = 0;
    const file = path.replace("link", "vault").replace("vault/../", "");
    if (seen === "old" && Object.hasOwn(FILES, `/w/${file}`))
      await given.backend.writeText(`/w/${file}`, "one\nother\n");
  }
  for (let call = 0; call < 2; call += 1) {
    const { ok, error, data } = await ws.call(tool, TOOLS[tool]?.(path) ?? {});
    const { warnings = [] } = (data ?? {}) as { readonly warnings?: readonly string[] };
    const why = error?.details?.["reason"] ?? "";
    const text = error?.code === "APPROVAL_DENIED" || error?.code === "HOOK_BLOCKED" ? error.message : "";
    log.push(ok ? ["ok", ...warnings].join(" | ") : `${error?.code} ${why} ${text}`.trim());
  }
  return log.join("; ");
}

/** The digests of all answers, or the answers about one call. */
export type Recorded = Readonly<Record<Copy | "order", string>>;

/** The recording: `gates.jsonl`. */
export interface Gates {
  readonly header: {
    readonly seed: number;
    readonly count: number;
    readonly cases: string;
    readonly before: Recorded;
    readonly now: Recorded;
  };
  /** Cases that were answered otherwise before, by the answers. */
  readonly changes: readonly {
    readonly copy: Copy | "order";
    readonly before: string;
    readonly now: string;
    readonly rows: readonly number[];
  }[];
  /** 500 cases one by one. */
  readonly rows: readonly { readonly row: number; readonly now: Recorded }[];
}

/** Reads the recording. */
export function readGates(): Gates {
  const text = readFileSync(join(import.meta.dirname, "gates.jsonl"), "utf8");
  const [header, ...lines] = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  return {
    header: header as Gates["header"],
    changes: lines.filter((line) => "rows" in line) as unknown as Gates["changes"],
    rows: lines.filter((line) => "row" in line) as unknown as Gates["rows"],
  };
}
