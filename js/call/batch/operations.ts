/**
 * The operations of a batch. Each is a call on the files of the trial: it passes the hooks before it and is judged as any
 * other call. Nothing is changed for the operations here.
 */
import type { Files } from "../../backends/files.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { Facts } from "../../pipeline/facts.ts";
import { failedEarly, failureResult } from "../../pipeline/answer.ts";
import { BatchFailed, type ToolResult, unknownToolFailure } from "../../pipeline/result.ts";
import type { Session } from "../../pipeline/session.ts";
import { nameCallPaths } from "../../pipeline/staged.ts";
import type { Location } from "../../policy/index.ts";
import { type BatchArgs, type BatchData, TOOL_BY_NAME } from "../../tools/index.ts";
import { withCanonicalKeys } from "../../tools/lib/schema.ts";
import type { BaseVersion } from "../../tools/change/change.ts";
import type { AnyChangingTool, AnyReadingTool, Call, PathUse, Tool } from "../../tools/lib/tool.ts";
import type { ApprovedChange } from "../change.ts";
import { argumentsAfterHooks } from "../before-hooks.ts";
import type { CallRequest, MeantCall, RunCall } from "../call.ts";
import { type JudgedCall, judgeNow, previewOfSent } from "../steps.ts";
import type { Decision } from "./question.ts";

/** The call of a batch: as it was made, and what happens in it. */
export interface BatchCall {
  /** The workspace for the operations. */
  readonly session: Session;
  readonly request: CallRequest;
  readonly args: Required<BatchArgs>;
  readonly call: Call;
  /** Returns the function that runs an operation as a call of its own, where the batch is not atomic. */
  callsOf(session: Session): RunCall;
}

/** The record of the trial of a batch on the overlay about one operation, so that it can be repeated as approved. */
export interface OperationTrial {
  /** The real path of each path of the operation. */
  readonly places: readonly string[];
  /** The versions of those entries of the operation that no earlier operation changes. */
  readonly ownVersions: readonly BaseVersion[];
  /** True when the operation had nothing to change. */
  readonly settled: boolean;
  /** The digest of the question about it without versions; undefined when no reviewer was asked. */
  readonly outline: string | undefined;
}

/** An operation that may be made, if need be after an approval. */
export interface JudgedOperation extends Omit<JudgedCall, "early"> {
  readonly call: Call;
}

/** One operation of a batch, as far as it came. */
export interface Operation {
  readonly tool: AnyReadingTool | AnyChangingTool;
  /** The operation as its hooks leave it, once they have run. */
  meant: MeantCall;
  /** Undefined until its paths are checked. */
  judged: JudgedOperation | undefined;
  /** The decision about the change of the trial; undefined where there is none. */
  decision: Decision | undefined;
  /** The record of the trial; undefined for a read, and where no operation can be asked about. */
  trial: OperationTrial | undefined;
  result: ToolResult | undefined;
}

/** The paths of an operation, as far as they are resolved. */
interface OperationPaths {
  readonly uses: readonly PathUse[];
  readonly locations: readonly Location[];
}

const NO_PATHS: OperationPaths = { uses: [], locations: [] };

/** Returns the paths of an operation. */
export function pathsOf({ meant }: Operation): OperationPaths {
  return meant.request.facts.last("located") ?? NO_PATHS;
}

/** Returns an operation that was judged. */
export function judgedOf({ judged }: Operation): JudgedOperation {
  if (judged === undefined)
    throw new FilewrightError("INTERNAL", "an operation was begun before it was judged");
  return judged;
}

/** Returns the change of an operation that may be made; undefined for one that changes nothing or is left out. */
export function approvedOf({ decision }: Operation): ApprovedChange | undefined {
  return decision === undefined || "leftOut" in decision ? undefined : decision;
}

/** Returns why a reviewer left an operation out of the batch; undefined for one that is made. */
export function refusalOf({ decision }: Operation): FilewrightError | undefined {
  return decision !== undefined && "leftOut" in decision ? decision.leftOut : undefined;
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

/** Checks the arguments of every operation before the first one begins. `storage` has the files of the trial. */
export async function prepareOperations(batch: BatchCall, storage: Files): Promise<readonly Operation[]> {
  const { session } = batch;
  // The files of the trial are no snapshot of a moment.
  const files = { ...session.files, enterMoment: undefined };
  const trial: BatchCall = { ...batch, session: { ...session, files } };
  const operations: Operation[] = [];
  for (const [index, { tool: name, args: given }] of batch.args.operations.entries()) {
    try {
      const tool = toolOfOperation(name);
      const meant = await meantOperation(trial, tool, given, storage);
      nameOperationPaths(session, tool, meant.args);
      operations.push({
        tool,
        meant,
        judged: undefined,
        decision: undefined,
        trial: undefined,
        result: undefined,
      });
    } catch (thrown) {
      const failed = await failureResult(session, failedEarly({ name, title: name }, thrown));
      throw new BatchFailed(index, name, failed.error, NOTHING_DONE_DATA);
    }
  }
  return operations;
}

/** Returns an operation as the batch has it. It has the id and the turn of the batch. */
async function meantOperation(
  { session, request, call }: BatchCall,
  tool: AnyReadingTool | AnyChangingTool,
  given: unknown,
  storage: Files,
): Promise<MeantCall> {
  const { options } = request;
  const { callId, agent, turn } = call.about;
  const raw = withCanonicalKeys(tool.name, given, tool.aliases);
  const args = await tool.parse(raw, options);
  const facts = new Facts();
  facts.tell({ what: "meant", tool, meant: undefined, raw, callId });
  const own: CallRequest = {
    ...request,
    session,
    known: tool,
    given,
    presetCall: undefined,
    callId,
    facts,
    replaced: undefined,
    storage,
  };
  return {
    request: own,
    tool,
    canonical: undefined,
    begun: { ...options, callId, agent, turn, onRule: undefined },
    args,
    modified: [],
  };
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

/** Runs the hooks before an operation, and judges it. @throws FilewrightError; HookException */
export async function judgeOperation(operation: Operation): Promise<JudgedOperation> {
  const began = operation.meant.request.session.gates.permissions?.begin() ?? 0;
  operation.meant = await hookedOperation({
    ...operation.meant,
    request: { ...operation.meant.request, began },
  });
  const judged = await judgeNow(operation.meant, undefined);
  const { call } = judged.admitted;
  // The repetition reuses the locations of further paths, because it must not ask while locks are held.
  const known = new Map<string, Location>();
  const locate: Call["reach"]["locate"] = async (typed, intent) => {
    const key = `${intent} ${typed}`;
    const at = known.get(key) ?? (await call.reach.locate(typed, intent));
    known.set(key, at);
    return at;
  };
  operation.judged = {
    ...judged,
    call: { ...call, reach: { ...call.reach, locate } },
  };
  return operation.judged;
}

/** Returns an operation as the hooks before it leave it. */
async function hookedOperation(meant: MeantCall): Promise<MeantCall> {
  const { request, tool, begun } = meant;
  const { facts } = request;
  const sent = facts.last("meant")?.raw ?? {};
  const hooked = await argumentsAfterHooks(meant, sent, previewOfSent);
  if (hooked === undefined || hooked.modified.length === 0) return meant;
  const { raw, modified } = hooked;
  facts.tell({ what: "meant", tool, meant: undefined, raw, callId: begun.callId });
  return { ...meant, args: await tool.parse(raw, begun), modified };
}

/** Returns the tool with a name. @throws FilewrightError UNKNOWN_TOOL naming the nearest one */
function toolNamed(name: string): Tool {
  const tool = TOOL_BY_NAME.get(name);
  if (tool !== undefined) return tool;
  const { code, message } = unknownToolFailure(name, TOOL_BY_NAME.keys()).error;
  throw new FilewrightError(code, message, { complete: true });
}
