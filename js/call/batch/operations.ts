/**
 * Prepares the operations of a batch: checks them, runs their hooks, applies the rules to their
 * paths, and finds their reviewers. Nothing is read or changed for the operations here.
 */
import type { AllowedBy } from "../../backends/transaction/step.ts";
import type { Location } from "../../policy/index.ts";
import type { FsBackend } from "../../backends/backend.ts";
import { FilewrightError, type Signalled } from "../../engine/errors.ts";
import { withCanonicalKeys, type Arguments } from "../../tools/lib/schema.ts";
import type { BatchArgs, BatchData } from "../../tools/index.ts";
import type {
  AnyChangingTool,
  AnyReadingTool,
  BaseVersion,
  Call,
  PathUse,
  Tool,
} from "../../tools/lib/tool.ts";
import type { Revision } from "../../pipeline/parts.ts";
import { failedEarly, failureResult } from "../../pipeline/answer.ts";
import { argumentsAfterHooks } from "../../pipeline/before-hooks.ts";
import { BatchFailed, type ToolResult, unknownToolFailure } from "../../pipeline/result.ts";
import { type BegunCallOptions, admitCall, type AdmittedCall } from "../../pipeline/enter.ts";
import type { GuardSettings } from "../../pipeline/guard.ts";
import type { RuleResult } from "../../pipeline/permit.ts";
import type { Session } from "../../pipeline/session.ts";
import { nameCallPaths } from "../../pipeline/staged.ts";
import { TOOLS } from "../../tools/index.ts";

/** The record of the trial of a batch on the overlay about one operation, so that it can be repeated as approved. */
export interface OperationTrial {
  /** The real path of each path of the operation. */
  readonly places: readonly string[];
  /** The versions of those entries of the operation that no earlier operation changes. */
  readonly own: readonly BaseVersion[];
  /** True when the operation had nothing to change. */
  readonly settled: boolean;
  /** The digest of the question without versions; undefined when no reviewer was asked. */
  readonly outline: string | undefined;
}

/** One operation of a batch, with its state. */
export interface Operation {
  readonly tool: AnyReadingTool | AnyChangingTool;
  raw: Arguments;
  args: object;
  modified: readonly string[];
  uses: PathUse[];
  locations: Location[];
  /** The changes of the reviewer, in order. */
  revisions: readonly Revision[];
  /** True when the change goes ahead without a question, and is unreviewed until a person keeps it. */
  isUnreviewed: boolean;
  /** The reason why the change was allowed; undefined for a read, and where the workspace does not ask. */
  allowedBy: AllowedBy | undefined;
  /** A sentence for the model about what the reviewer left out; undefined when nothing was. */
  reviewNote: string | undefined;
  /** The result of the trial; undefined for a read. */
  trial: OperationTrial | undefined;
  /** How the guard holds for the operation; undefined until its paths are checked. */
  guarding: GuardSettings | undefined;
  /** The call; undefined until its paths are checked. */
  call: Call | undefined;
  /** Returns the storage as the operation may see it. */
  view: AdmittedCall["view"];
  result: ToolResult | undefined;
}

/** Returns the tool of an operation. @throws FilewrightError UNKNOWN_TOOL, INVALID_ARGUMENT */
export function toolOfOperation(name: string): AnyReadingTool | AnyChangingTool {
  const tool = toolNamed(name);
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
  return tool as unknown as AnyReadingTool | AnyChangingTool;
}

/** The data of a batch that is refused before its first operation. */
const NOTHING_DONE_DATA: BatchData = Object.freeze({ results: [], applied: false, rolled_back: true });

/** Checks the arguments of every operation before the first one begins. */
export async function prepareOperations(
  args: Required<BatchArgs>,
  session: Session,
  later: Signalled,
): Promise<readonly Operation[]> {
  const operations: Operation[] = [];
  for (const [index, { tool: name, args: given }] of args.operations.entries()) {
    try {
      const tool = toolOfOperation(name);
      const raw = withCanonicalKeys(tool.name, given, tool.aliases);
      const parsed = await tool.parse(raw, later);
      nameOperationPaths(session, tool, parsed);
      const [call, result] = [undefined, undefined];
      operations.push({
        tool,
        raw,
        args: parsed,
        modified: [],
        uses: [],
        locations: [],
        revisions: [],
        isUnreviewed: false,
        allowedBy: undefined,
        reviewNote: undefined,
        trial: undefined,
        view: refuseEarlyAccess,
        guarding: undefined,
        call,
        result,
      });
    } catch (thrown) {
      const failed = await failureResult(session, failedEarly({ name, title: name }, thrown));
      throw new BatchFailed(index, name, failed.error, NOTHING_DONE_DATA);
    }
  }
  return operations;
}

/** Names the paths of an operation for the stage of the batch, so that one read is enough for all operations. */
function nameOperationPaths(session: Session, tool: AnyReadingTool | AnyChangingTool, args: object): void {
  if (session.staging.stage === undefined) return;
  const uses: PathUse[] = [];
  const locations: Location[] = [];
  for (const use of tool.paths(args)) {
    try {
      locations.push(session.files.resolver.resolve(use.typed, use.intent));
      uses.push(use);
    } catch (error) {
      // The operation itself reports it, in its turn.
      if (!(error instanceof FilewrightError)) throw error;
    }
  }
  nameCallPaths(session, { tool, args, uses, locations });
}

/**
 * Takes the place of the view of an operation until its paths are checked. Throws, because the storage must not be
 * accessed before.
 */
function refuseEarlyAccess(): never {
  throw new FilewrightError("INTERNAL", "an operation was begun before it was judged");
}

/** Runs the hooks of an operation, checks the resulting paths, and returns the result of the rules. */
export async function admitOperation(
  session: Session,
  operation: Operation,
  options: BegunCallOptions,
  overlay: FsBackend,
): Promise<RuleResult> {
  const { tool, raw } = operation;
  const began = session.gates.permissions?.begin() ?? 0;
  const shared = { tool, began, options, meant: undefined, storage: overlay };
  const hooked = await argumentsAfterHooks(session, { ...shared, raw, calledAs: undefined });
  if (hooked !== undefined) {
    operation.modified = hooked.modified;
    if (hooked.modified.length > 0) {
      operation.raw = hooked.raw;
      operation.args = await tool.parse(operation.raw, options);
    }
  }
  operation.uses = [];
  operation.locations = [];
  const { args, uses, locations } = operation;
  const admitted = await admitCall(session, { ...shared, args, uses, locations });
  const { call, sources, ruled, isKept, view } = admitted;
  operation.view = view;
  // The repetition reuses the locations of further paths, because it must not ask while locks are held.
  const known = new Map<string, Location>();
  operation.call = {
    ...call,
    reach: {
      ...call.reach,
      async locate(typed, intent) {
        const key = `${intent} ${typed}`;
        const at = known.get(key) ?? (await call.reach.locate(typed, intent));
        known.set(key, at);
        return at;
      },
    },
  };
  return { sources, ruled, isKept };
}

const TOOL_BY_NAME: ReadonlyMap<string, Tool> = new Map(TOOLS.map((tool) => [tool.name, tool]));

/** Returns the tool with a name. @throws FilewrightError UNKNOWN_TOOL naming the nearest one */
function toolNamed(name: string): Tool {
  const tool = TOOL_BY_NAME.get(name);
  if (tool !== undefined) return tool;
  const { code, message } = unknownToolFailure(name, TOOL_BY_NAME.keys()).error;
  throw new FilewrightError(code, message, { complete: true });
}
