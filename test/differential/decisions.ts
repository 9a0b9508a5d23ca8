/**
 * Decisions about calls, as a table: every combination of rules, tool, form of the path and answer of an approver,
 * each call made twice so that answers which last are seen.
 */
import fc from "fast-check";
import {
  type Confirmation,
  headlessApprover,
  MemoryBackend,
  openWorkspace,
  type Rule,
} from "../../js/index.node.ts";

type Decision = Rule["decision"];

const DECISIONS: readonly Decision[] = ["allow", "deny", "ask"];
const RULES: readonly (readonly Rule[])[] = [
  [],
  ...DECISIONS.map((decision) => [{ decision }]),
  ...["vault/**", "/w/vault/**", "**/*.sql"].flatMap((path) =>
    DECISIONS.map((decision) => [{ path, decision }]),
  ),
  ...["delete", "read_file", "write_file"].flatMap((tool) =>
    DECISIONS.map((decision) => [{ tool, path: "vault", decision }]),
  ),
  [{ args: { path: "vault/a.sql" }, decision: "deny" }],
  [{ path: "vault/**", decision: "allow" }, { decision: "ask" }],
  [{ path: "vault/**", decision: "ask" }, { decision: "allow" }],
  [{ path: "vault/**", decision: "deny" }, { decision: "ask" }],
];
const PATHS = [
  "vault/a.sql",
  "/w/vault/a.sql",
  "vault/../vault/a.sql",
  "link/a.sql",
  "vault",
  "other.txt",
  "/etc/x",
];
const TOOLS: Readonly<Record<string, (path: string) => object>> = {
  read_file: (path) => ({ path }),
  list_directory: (path) => ({ path }),
  grep: (path) => ({ path, pattern: "one" }),
  write_file: (path) => ({ path, content: "new\n" }),
  edit_file: (path) => ({ path, old_text: "one", new_text: "two" }),
  mkdir: (path) => ({ path: `${path}/new`, parents: true }),
  move: (path) => ({ source: path, destination: "moved" }),
  copy: (path) => ({ source: path, destination: "copied" }),
  delete: (path) => ({ path, recursive: true }),
  batch: (path) => ({ operations: [{ tool: "write_file", args: { path, content: "new\n" } }] }),
};
const APPROVERS = {
  none: undefined,
  required: undefined,
  once: { outcome: "proceed_once" },
  always: { outcome: "proceed_always" },
  tool: { outcome: "proceed_always_tool" },
  cancel: { outcome: "cancel", payload: { reason: "not now" } },
  unknown: { outcome: "perhaps" },
} as const;

/** One combination. */
export interface DecisionCase {
  readonly rules: readonly Rule[];
  readonly tool: string;
  readonly args: object;
  readonly approver: keyof typeof APPROVERS;
}

/** Returns all combinations. */
export function decisionCases(): readonly DecisionCase[] {
  const cases: DecisionCase[] = [];
  for (const rules of RULES)
    for (const [tool, argsOf] of Object.entries(TOOLS))
      for (const path of PATHS)
        for (const approver of Object.keys(APPROVERS) as (keyof typeof APPROVERS)[])
          cases.push({ rules, tool, args: argsOf(path), approver });
  return cases;
}

/** Returns what two equal calls are answered, and how many questions they ask. */
export async function decided({ rules, tool, args, approver }: DecisionCase): Promise<string> {
  let questions = 0;
  const answer = APPROVERS[approver];
  const backend = new MemoryBackend({ "/w/vault/a.sql": "one\n", "/w/other.txt": "one\n" });
  await backend.symlink?.("vault", "/w/link");
  await using ws = await openWorkspace({
    backend,
    root: "/w",
    rules,
    requireApproval: approver === "required",
    ...(answer === undefined
      ? {}
      : {
          confirm: () => {
            questions += 1;
            return answer as never;
          },
        }),
  });
  const said: string[] = [];
  for (let call = 0; call < 2; call += 1) {
    const { ok, error } = await ws.call(tool, args);
    said.push(ok ? "ok" : `${error.code} ${error.code === "APPROVAL_DENIED" ? error.message : ""}`.trim());
    said.push(`${questions} asked`);
  }
  return said.join("; ");
}

const SEED = 20_261_126;
const COUNT = 20_000;

const glob = fc.constantFrom(
  "/repo/src/**",
  "/repo/src",
  "/repo/src/*",
  "/repo/**",
  "/**",
  "**/*.md",
  "*.md",
  "/repo/*.md",
  "**/src/**",
  "src",
  "/repo/{src,doc}/**",
  "/",
  "**",
);
const path = fc.constantFrom(
  "/repo/src/f",
  "/repo/src",
  "/repo/src/deep/f.md",
  "/repo/a.md",
  "/repo/doc/b",
  "/repo",
  "/etc/x",
  "/",
  "/repo/src2/f",
  "/md/x.md/y",
);
const rule = fc.record(
  {
    tool: fc.constantFrom("*", "edit_file", "delete"),
    path: glob,
    when: fc.constantFrom("low", "high", "throws"),
    decision: fc.constantFrom<"allow" | "deny">("allow", "deny"),
  },
  { requiredKeys: ["decision"], noNullPrototype: true },
);
const question = fc.record({
  rules: fc.array(rule, { maxLength: 4 }),
  tool: fc.constantFrom("edit_file", "delete", "move"),
  paths: fc.array(path, { maxLength: 2 }),
  path,
  risk: fc.constantFrom<"low" | "high">("low", "high"),
});
/** Rules for unattended answers, and a question. */
export type HeadlessCase = Readonly<typeof question extends fc.Arbitrary<infer Case> ? Case : never>;

/** Returns questions to rules for unattended answers. */
export function headlessCases(): readonly HeadlessCase[] {
  return fc.sample(question, { seed: SEED, numRuns: COUNT });
}

/** Returns the answer to a question by rules alone, or the code of a refusal of the rules. */
export async function answered(given: HeadlessCase): Promise<string> {
  try {
    return await answerOf(given);
  } catch (error) {
    return String((error as { readonly code?: unknown }).code);
  }
}

async function answerOf({ rules, ...shown }: HeadlessCase): Promise<string> {
  const { confirm } = headlessApprover({
    rules: rules.map(({ when, ...rest }) => ({
      ...rest,
      ...(when === undefined
        ? {}
        : {
            when: ({ risk }: Confirmation) => {
              if (when === "throws") throw new Error("a defect");
              return risk === when;
            },
          }),
    })),
  });
  const reply = await confirm(shown as unknown as Confirmation);
  return `${reply?.outcome} ${reply?.payload?.reason ?? ""}`.trim();
}
