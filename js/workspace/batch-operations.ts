/**
 * The operations of a batch: what they are, what hooks make of them, what the
 * rules say of their paths, and who is to be asked. Nothing is done here.
 */
import type { Decision, Location } from "../access/index.ts";
import type { FsBackend } from "../backends/backend.ts";
import { FilewrightError } from "../engine/errors.ts";
import { mustAsk } from "../hooks/approvals.ts";
import type { Confirm } from "../hooks/confirm.ts";
import { hooksFor, runBefore } from "../hooks/run.ts";
import { plainArguments } from "../tools/arguments.ts";
import type { BatchArgs, BatchData } from "../tools/batch.ts";
import type { Arguments } from "../tools/schema.ts";
import type { BaseVersion, Call, PathUse } from "../tools/tool.ts";
import { failure } from "./answer.ts";
import { BatchFailed } from "./batch-failed.ts";
import {
  type AnyChanging,
  type AnyReading,
  type CallOptions,
  enter,
  type Entered,
  previewed,
} from "./enter.ts";
import { knownTool } from "./known.ts";
import type { Ruled } from "./permit.ts";
import type { ToolResult } from "./result.ts";
import { rootsOf } from "./review.ts";
import type { Session } from "./session.ts";
import { type AskedPlace, withPlaces } from "./written-places.ts";

/** What the trial of an operation found. */
export interface Trial {
  /** Where each path of the operation leads. */
  readonly places: readonly string[];
  /** The versions of what earlier operations neither change nor change anything in. */
  readonly own: readonly BaseVersion[];
  /** Whether there was nothing to do. */
  readonly settled: boolean;
  /** The digest of what a reviewer was shown, but for versions; undefined where nobody was asked. */
  readonly outline: string | undefined;
}

/** One operation on its way. */
export interface Operation {
  readonly tool: AnyReading | AnyChanging;
  raw: Arguments;
  args: object;
  modified: readonly string[];
  uses: PathUse[];
  locations: Location[];
  /** What the reviewer put in place of the planned content. */
  revisions: readonly string[];
  /** What its trial came upon; undefined for a reading one. */
  trial: Trial | undefined;
  /** Once its paths are judged. */
  call: Call | undefined;
  /** Storage as the operation may see it. */
  view: Entered["view"];
  result: ToolResult | undefined;
}

/** The tool of an operation. @throws FilewrightError UNKNOWN_TOOL, INVALID_ARGUMENT */
export function single(name: string): AnyReading | AnyChanging {
  const tool = knownTool(name);
  if (tool.kind === "batch") {
    throw new FilewrightError(
      "INVALID_ARGUMENT",
      "Invalid argument 'operations': batches cannot be nested.",
      {
        complete: true,
        details: { argument: "operations" },
      },
    );
  }
  return tool as unknown as AnyReading | AnyChanging;
}

/** The result of a batch that is refused before its first operation begins. */
const NOTHING_DONE: BatchData = Object.freeze({ results: [], applied: false, rolled_back: true });

/** Looks at every operation before the first one begins: what makes no sense is told at once. */
export async function prepare(args: Required<BatchArgs>, session: Session): Promise<readonly Operation[]> {
  const operations: Operation[] = [];
  for (const [index, { tool: name, args: given }] of args.operations.entries()) {
    try {
      const tool = single(name);
      const raw = plainArguments(tool.name, given, tool.aliases);
      const parsed = tool.parse(raw);
      const [call, result] = [undefined, undefined];
      operations.push({
        tool,
        raw,
        args: parsed,
        modified: [],
        uses: [],
        locations: [],
        revisions: [],
        trial: undefined,
        view: unseen,
        call,
        result,
      });
    } catch (thrown) {
      const failed = await failure(
        session,
        { name, title: name },
        thrown,
        [],
        [],
        performance.now(),
        undefined,
      );
      throw new BatchFailed(index, name, failed.error, NOTHING_DONE);
    }
  }
  return operations;
}

/** Before its paths are judged an operation sees nothing. */
function unseen(): never {
  throw new FilewrightError("INTERNAL", "an operation was begun before it was judged");
}

/** Runs the hooks of an operation, judges the paths it ends up with, and tells what the rules say. */
export async function admitted(
  session: Session,
  operation: Operation,
  options: CallOptions,
  overlay: FsBackend,
): Promise<Ruled> {
  const { tool } = operation;
  const began = session.permissions?.begin() ?? 0;
  const before = hooksFor(session.hooks, "before", tool.name);
  if (before.length > 0) {
    const { toolCall, signal } = options;
    const subject = {
      tool_name: tool.name,
      tool_call: toolCall,
      ...(signal === undefined ? {} : { signal }),
    };
    const previewer =
      tool.kind === "change"
        ? (args: Arguments) => previewed(session, tool, args, began, options, undefined, overlay)
        : undefined;
    const changed = await runBefore(before, subject, operation.raw, session.limits.hookTimeoutMs, previewer);
    operation.modified = changed.modified;
    if (changed.modified.length > 0) {
      operation.raw = plainArguments(tool.name, changed.args, tool.aliases);
      operation.args = tool.parse(operation.raw);
    }
  }
  operation.uses = [];
  operation.locations = [];
  const { args } = operation;
  const { call, ruled, isKept, view } = await enter(
    session,
    tool,
    args,
    operation,
    began,
    options,
    undefined,
    overlay,
  );
  operation.view = view;
  // What was asked about a further path holds for the repetition, which must not ask under locks.
  const known = new Map<string, Location>();
  operation.call = {
    ...call,
    async locate(typed, intent) {
      const key = `${intent} ${typed}`;
      const at = known.get(key) ?? (await call.locate(typed, intent));
      known.set(key, at);
      return at;
    },
  };
  return { ruled, isKept };
}

/** Who is to be asked about a change; undefined where nobody is. @throws FilewrightError APPROVAL_DENIED */
export function reviewerOf(
  session: Session,
  { tool, locations }: Operation,
  ruled: Decision | undefined,
  places: readonly AskedPlace[],
): Confirm | undefined {
  const { requireApproval, approvals } = session;
  const confirm = session.confirmFor(tool.name);
  const byDefault = requireApproval || confirm !== undefined ? "ask" : "allow";
  const decision = withPlaces(ruled ?? byDefault, places, confirm);
  const asked = mustAsk(decision, confirm, approvals, tool.name, rootsOf(locations));
  return asked ? confirm : undefined;
}
