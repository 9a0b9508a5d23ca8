/**
 * A rewind as a changing call, so that the policy, rules, hooks, approvals, locks, observers and the history apply to
 * it as to any other change of these paths. It is no tool for models.
 */
import { isBelowAny } from "../../backends/paths.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { type RewindPlan, rollBackPlan } from "../../log/past.ts";
import type { HistoryChange } from "../../pipeline/past/file-change.ts";
import { putBackPath } from "../../pipeline/past/put-back.ts";
import { object } from "../../tools/lib/schema.ts";
import { REWIND } from "../../tools/host-calls.ts";
import { text, texts } from "../../tools/lib/shared.ts";
import { effectsOfPutBack, putBackUse } from "../../tools/lib/put-back.ts";
import { type Call, type ChangingTool, locationOf, type PathUse } from "../../tools/lib/tool.ts";
import { plural } from "../../engine/escape.ts";

/** The arguments of the call, which hooks see. */
interface RewindArgs {
  readonly to: string;
  readonly paths: readonly string[];
}

interface RewindData {
  readonly paths: readonly string[];
}

/** A rewind whose result is known. */
export interface PlannedRewind {
  readonly plan: RewindPlan;
  readonly changes: readonly HistoryChange[];
  /** `sha256:` of the undone calls, the present states of the paths and the restored ones. */
  readonly digest: string;
}

/** The rewind that was planned last, which is the one that the call made. */
export interface RewindOutcome {
  planned: PlannedRewind;
}

const inputSchema = object(
  { to: text("The place in the history."), paths: texts("The paths that the rewind changes.") },
  ["to", "paths"],
);
const outputSchema = object({ paths: texts("The paths that were changed.") }, ["paths"]);

/** A rewind. */
interface AskedRewind {
  /** The place in the history, as people read it. */
  readonly to: string;
  readonly outcome: RewindOutcome;
  /** False for a rewind that must be the one that was shown. */
  readonly mayDiffer: boolean;
  /** Plans again with the files that a call sees. */
  replan(call: Pick<Call, "fs" | "signal">): Promise<PlannedRewind>;
}

/** Creates the call of one rewind. */
export function rewindTool(
  { to, outcome, mayDiffer, replan }: AskedRewind,
  display: (path: string) => string,
): { readonly tool: ChangingTool<RewindArgs, RewindData>; readonly args: RewindArgs } {
  const uses = usesOf(outcome.planned.plan, display);
  const named = new Set(pathsOf(outcome.planned.plan));
  const args: RewindArgs = { to, paths: uses.map(({ typed }) => typed) };
  let first: PlannedRewind | undefined = outcome.planned;
  let failure: unknown;
  const tool: ChangingTool<RewindArgs, RewindData> = {
    ...REWIND,
    title: "Rewind",
    description: "Takes back later changes.",
    inputSchema,
    outputSchema,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    parse(given) {
      // A hook may refuse the rewind. It cannot make another one of it.
      if (JSON.stringify(given) === JSON.stringify(args)) return args;
      throw new FilewrightError("INVALID_ARGUMENT", "The arguments of a rewind cannot be changed.", {
        complete: true,
      });
    },
    paths: () => uses,
    async plan(_args, call) {
      // Another attempt would fail alike.
      if (failure !== undefined) throw failure;
      const planned = first ?? (await replan(call));
      first = undefined;
      if (!mayDiffer && planned.digest !== outcome.planned.digest) throw otherRewindError();
      // Rules and approvals were applied to other paths.
      if (pathsOf(planned.plan).some((path) => !named.has(path))) throw otherRewindError();
      outcome.planned = planned;
      if (planned.changes.length === 0) return { kind: "settled", answer: { data: { paths: [] } } };
      return {
        kind: "act",
        of: "entries",
        undoes: planned.plan.whole,
        heading: {
          title: titleOf(to, planned.plan),
          location: locationOf(planned.changes[0]?.path, call),
          risk: "medium",
        },
        base: pathsOf(planned.plan),
        showsContent: false,
        changes: () => planned.changes.map(putBackPath),
        async make(own) {
          const now = await replan(own);
          if (now.digest !== planned.digest) throw otherRewindError();
          try {
            await rollBackPlan(own.fs, now.plan, own.signal, "rewind the other paths, with the option paths");
          } catch (error) {
            failure = error;
            throw error;
          }
          return { data: { paths: planned.changes.map((change) => change.display) } };
        },
      };
    },
    texts: {
      render: ({ paths }) => `Rewound ${plural(paths.length, "path")}`,
    },
  };
  return { tool, args };
}

/** Creates the error of a rewind that would no longer be the one that was planned or shown. */
export function otherRewindError(): FilewrightError {
  return new FilewrightError(
    "CONFLICT",
    "The files or the history have changed since the rewind was planned.",
    {
      complete: true,
      hint: "preview it again",
      details: { reason: "planned_before" },
    },
  );
}

function titleOf(to: string, { calls, paths }: RewindPlan): string {
  return `Rewind to ${to}: undo ${plural(calls.length, "call")} in ${plural(paths.length, "path")}`;
}

/** Returns every path that a rewind changes, with those from which an entry is moved. */
function pathsOf({ paths }: RewindPlan): readonly string[] {
  return [...new Set(paths.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from])))];
}

/** Returns the paths of the call, with what the rewind does to them as calls of other tools. */
function usesOf(plan: RewindPlan, display: (path: string) => string): readonly PathUse[] {
  const effects = effectsOfPutBack(plan.paths, display);
  const replaced = new Set(
    plan.paths.flatMap(({ path, now, image }) =>
      now !== null && now.type !== "dir" && image?.type === "dir" ? [path] : [],
    ),
  );
  return pathsOf(plan).map((path): PathUse => {
    const typed = display(path);
    return {
      ...putBackUse("paths", typed),
      belowReplaced: isBelowAny(path, replaced),
      effects: effects.get(typed) ?? [],
    };
  });
}
