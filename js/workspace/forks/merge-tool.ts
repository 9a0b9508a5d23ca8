/**
 * The merge of a fork as a changing call, so that the policy, rules, hooks, approvals, locks, observers and the
 * history of the parent apply to it as to any other change of these paths. It is no tool for models.
 */
import { isBelowAny } from "../../backends/paths.ts";
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { EMPTY_BYTES } from "../../engine/wire/bytes.ts";
import type { PlannedMerge } from "../../storage/storage.ts";
import { previewDiff, textIfDecodable } from "../../tools/render/preview.ts";
import { object } from "../../tools/lib/schema.ts";
import { MERGE } from "../../tools/host-calls.ts";
import { text, texts } from "../../tools/lib/shared.ts";
import type { ActedPath, PreviewChange } from "../../tools/change/change.ts";
import { type Call, type ChangingTool, locationOf, type PathUse } from "../../tools/lib/tool.ts";
import { changedError, type ForkFiles, type ForkPlan, type PlanOptions } from "./files.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { plural } from "../../engine/escape.ts";

/** The arguments of the call, which hooks see. */
interface MergeArgs {
  readonly fork: string;
  readonly paths: readonly string[];
}

interface MergeData {
  readonly paths: readonly string[];
}

/** What the call did: the plan that was made, or one with conflicts. */
export interface MergeOutcome {
  plan: ForkPlan;
}

/** The largest contents whose diff a reviewer sees. */
const MAX_PREVIEW_BYTES = 2 * 1024 * 1024;

const inputSchema = object(
  { fork: text("The name of the fork."), paths: texts("The paths that the merge changes.") },
  ["fork", "paths"],
);
const outputSchema = object({ paths: texts("The paths that were changed.") }, ["paths"]);

/** A merge of a fork. */
export interface AskedMerge {
  /** The name of the fork. */
  readonly name: string;
  readonly files: ForkFiles;
  readonly planning: PlanOptions;
  readonly outcome: MergeOutcome;
}

/** Makes the call of one merge. `outcome` has the plan that was computed before, and gets the one that was made. */
export function mergeTool(
  { name, files, planning: options, outcome }: AskedMerge,
  display: (path: string) => string,
): { readonly tool: ChangingTool<MergeArgs, MergeData>; readonly args: MergeArgs } {
  const approved = new Set(pathsOf(outcome.plan.merge));
  const args: MergeArgs = { fork: name, paths: [...approved].map(display) };
  let planned: ForkPlan | undefined = outcome.plan;
  const tool: ChangingTool<MergeArgs, MergeData> = {
    ...MERGE,
    title: "Merge fork",
    traits: files.isCommit ? [...MERGE.traits, "recordsItself"] : MERGE.traits,
    description: "Brings the changes of a fork into its workspace.",
    inputSchema,
    outputSchema,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    parse(given) {
      // A hook may refuse the merge. It cannot make another one of it.
      if (JSON.stringify(given) === JSON.stringify(args)) return args;
      throw new FilewrightError("INVALID_ARGUMENT", "The arguments of a merge cannot be changed.", {
        complete: true,
      });
    },
    paths: () => usesOf(outcome.plan.merge, display),
    async plan(_args, call) {
      const plan = planned ?? (await files.plan({ ...options, signal: call.signal }));
      planned = undefined;
      outcome.plan = plan;
      const { merge } = plan;
      if (merge.conflicts.length > 0 || merge.ops.length === 0)
        return { kind: "settled", answer: { data: { paths: [] } } };
      // The fork went on while it was merged: rules and approvals were applied to other paths.
      if (pathsOf(merge).some((path) => !approved.has(path))) throw changedError();
      return {
        kind: "act",
        of: "contents",
        undoes: undefined,
        heading: {
          title: `Merge ${plural(shownOps(merge).length, "path")} of the fork ${name}`,
          location: locationOf(merge.ops[0] && pathOf(merge.ops[0]), call),
          risk: merge.ops.some(({ op }) => op === "remove") ? "medium" : "low",
        },
        base: [...new Set(pathsOf(merge))],
        showsContent: false,
        changes: (own) => changesOf(merge, own),
        async make(own) {
          await files.apply(merge, options, own);
          return { data: { paths: [...new Set(pathsOf(merge))].map(own.reader.display) } };
        },
      };
    },
    texts: {
      render: ({ paths }) => `Merged ${plural(paths.length, "path")} of ${name}`,
    },
  };
  return { tool, args };
}

type MergeOp = PlannedMerge["ops"][number];

function pathOf(op: MergeOp): string {
  return op.op === "move" ? op.to : op.path;
}

function pathsOf({ ops }: PlannedMerge): readonly string[] {
  return ops.map(pathOf);
}

/** Returns the paths of the call. What is removed counts as deleted for the rules, too. */
function usesOf(plan: PlannedMerge, display: (path: string) => string): readonly PathUse[] {
  const made = new Set(plan.ops.filter(({ op }) => op !== "remove").map(pathOf));
  const replaced = new Set(
    plan.states.flatMap(({ path, ours, theirs }) =>
      ours !== null && ours.type !== "dir" && theirs?.type === "dir" ? [path] : [],
    ),
  );
  return [...new Set(pathsOf(plan))].map((path) => {
    const typed = display(path);
    const args = { path: typed, recursive: false, missing_ok: false };
    return {
      argument: "paths",
      typed,
      intent: "write",
      missing: "accept",
      entry: true,
      ...(isBelowAny(path, replaced) ? { belowReplaced: true } : {}),
      effects: made.has(path) ? [] : [{ tool: "delete", args }],
    };
  });
}

/** Returns the operations that a reviewer sees. What is removed and made is replaced by an entry of another kind. */
function shownOps({ ops }: PlannedMerge): readonly MergeOp[] {
  const made = new Set(ops.filter(({ op }) => op !== "remove").map(pathOf));
  return ops.filter((op) => op.op !== "remove" || !made.has(op.path));
}

/** Returns what becomes of the paths of a merge. */
async function changesOf(plan: PlannedMerge, { reader: { display } }: Call): Promise<readonly ActedPath[]> {
  const states = new Map(plan.states.map((state) => [state.path, state]));
  const changes: ActedPath[] = [];
  for (const op of shownOps(plan)) {
    const state = states.get(pathOf(op)) ?? { ours: null, theirs: null };
    changes.push(await changeOf(plan, op, state, display(pathOf(op))));
  }
  return changes;
}

/** Returns what one operation makes of its path. */
async function changeOf(
  plan: PlannedMerge,
  op: MergeOp,
  { ours, theirs }: Pick<PlannedMerge["states"][number], "ours" | "theirs">,
  name: string,
): Promise<ActedPath> {
  const path = pathOf(op);
  const entry = theirs ?? ours;
  const type = entry === null || entry.type === "gone" ? "other" : entry.type;
  if (op.op === "remove") return { change: { path, kind: "delete", type }, text: `removes ${name}\n` };
  const kind = ours === null ? "create" : "edit";
  const bits = "mode" in op && op.mode !== ours?.mode ? op.mode : undefined;
  const mode = withoutUndefined({ mode: bits?.toString(8).padStart(4, "0") });
  if (op.op !== "put" && op.op !== "link") {
    const target = op.op === "symlink" ? ` -> ${op.target}` : "";
    const text = `${kind === "create" ? "makes" : "changes"} ${name}${target}\n`;
    return { change: { path, kind, type, ...mode }, text };
  }
  const [before, after] = await contentsOf(plan, op, ours);
  const change: PreviewChange = { path, kind, type: "file", hash: engine().sha256(after), ...mode };
  return { change, text: await textOfContents(before, after, name) };
}

/** Returns the contents of a file before and after an operation that writes it. */
async function contentsOf(
  plan: PlannedMerge,
  op: Extract<PlannedMerge["ops"][number], { readonly op: "put" | "link" }>,
  ours: PlannedMerge["states"][number]["ours"],
): Promise<readonly [before: Uint8Array | null, after: Uint8Array]> {
  const before = ours?.type === "file" ? await bodyOf(plan, "ours", op.path) : null;
  if (op.op === "put") return [before, op.body];
  return [before, await bodyOf(plan, op.hash === ours?.hash ? "ours" : "theirs", op.path)];
}

async function bodyOf(plan: PlannedMerge, side: "ours" | "theirs", path: string): Promise<Uint8Array> {
  return (await plan.bodies(side, [path]))[0] ?? EMPTY_BYTES;
}

async function textOfContents(before: Uint8Array | null, after: Uint8Array, name: string): Promise<string> {
  const isSmall = Math.max(before?.length ?? 0, after.length) <= MAX_PREVIEW_BYTES;
  const isText =
    isSmall && textIfDecodable(before ?? EMPTY_BYTES) !== null && textIfDecodable(after) !== null;
  if (isText) return await previewDiff(before, after, name);
  return `writes ${plural(after.length, "byte")} to ${name}\n`;
}
