/**
 * The three steps of a call. The tool and the arguments that it means, as the hooks before it leave them. Its paths, and
 * whether policy, rules and grants allow it: the tool gets no content before, though a storage may send it with the first
 * look. Then the tool reads, or changes files once that is approved, and the answer is made. The preview of a change, for a
 * hook or a host that decides about it, is judged by itself and writes nothing.
 */
import { lazily, lazilyEarly } from "../engine/lazy.ts";
import type { Confirm } from "../hooks/confirm.ts";
import type { HookPreview } from "../hooks/hook.ts";
import type { Made } from "../log/index.ts";
import { successResult } from "../pipeline/answer.ts";
import { admitCall, type AdmittedCall, beginCall } from "../pipeline/enter.ts";
import { Facts } from "../pipeline/facts.ts";
import { historyForCaller } from "../pipeline/past/caller-history.ts";
import type { ReplacedPath } from "../pipeline/paths/look-alikes.ts";
import { type EarlyLocks, lockContendedPaths, mayLockEarly } from "../pipeline/path-locks.ts";
import type { ToolResult } from "../pipeline/result.ts";
import { sessionAtMoment } from "../pipeline/staged.ts";
import type { Session } from "../pipeline/session.ts";
import { makeGates } from "../pipeline/sources.ts";
import type { Location } from "../policy/index.ts";
import type { BatchData } from "../tools/index.ts";
import { type Arguments, withCanonicalKeys } from "../tools/lib/schema.ts";
import type { AnyChangingTool, AnyTool, Answer, Call, PathUse } from "../tools/lib/tool.ts";
import { argumentsAfterHooks } from "./before-hooks.ts";
import type { CallRequest, MeantCall, SentCall } from "./call.ts";
import { takeScan, takeSlot } from "./fairness.ts";

const changes = lazilyEarly("changes of files", () => import("./change.ts"));
const previews = lazily("previews of changes", () => import("../tools/change/show.ts"));

/** Returns what a call means. @throws FilewrightError INVALID_ARGUMENT, HOOK_BLOCKED and others; HookException */
export async function mean(request: CallRequest): Promise<MeantCall> {
  const { session, given, options, presetCall, facts, replaced } = request;
  const meant = presetCall?.meaning();
  // The cast is safe: a tool only receives its own arguments, plans and data.
  const tool = (meant?.tool ?? request.known) as unknown as AnyTool;
  const begun = beginCall(session, tool, options, request.callId);
  const sent = withCanonicalKeys(tool.name, meant === undefined ? given : meant.args, tool.aliases);
  const raw = replaced === undefined ? sent : withReplacedArguments(tool, sent, replaced);
  facts.tell({ what: "meant", tool, meant, raw, callId: begun.callId });
  let parsed = await tool.parse(raw, options);
  let modified: readonly string[] = [];
  if (session.hooks.bound.length > 0) {
    const hooked = await argumentsAfterHooks({ request, tool, canonical: meant, begun }, raw, previewOfSent);
    // A hook may have changed what its preview has read.
    if (hooked !== undefined) session.staging.stage?.refresh();
    if (hooked !== undefined && hooked.modified.length > 0) {
      facts.tell({ what: "meant", tool, meant, raw: hooked.raw, callId: begun.callId });
      parsed = await tool.parse(hooked.raw, options);
      ({ modified } = hooked);
    }
  }
  let args = replaced === undefined ? parsed : withReplacedNames(tool, parsed, replaced);
  if (tool.kind === "change" && tool.prepare !== undefined)
    args = await tool.prepare(args, historyForCaller(session, options.agent));
  return { request, tool, canonical: meant, args, modified, begun };
}

/** Returns the arguments with the paths that replace missing ones. The paths in a text are replaced once it is parsed. */
function withReplacedArguments(tool: AnyTool, raw: Arguments, replaced: readonly ReplacedPath[]): Arguments {
  if (tool.kind === "change" && tool.withPaths !== undefined) return raw;
  return { ...raw, ...Object.fromEntries(replaced.map(({ argument, path }) => [argument, path])) };
}

function withReplacedNames(tool: AnyTool, parsed: object, replaced: readonly ReplacedPath[]): object {
  if (tool.kind !== "change" || tool.withPaths === undefined) return parsed;
  return tool.withPaths(parsed, new Map(replaced.map(({ typed, path }) => [typed, path])));
}

/** A call that may be made, if need be after an approval of its change. */
export interface JudgedCall {
  readonly meant: MeantCall;
  /** The workspace as the call sees it from now on. */
  readonly session: Session;
  readonly uses: readonly PathUse[];
  readonly admitted: AdmittedCall;
  /** The locks that the call has taken already; undefined for none. */
  readonly early: EarlyLocks | undefined;
}

/** Returns a call that may be made. @throws FilewrightError for a denial */
export function judge(meant: MeantCall): Promise<JudgedCall> {
  const { request, tool, args } = meant;
  return request.session.staging.stage !== undefined && mayLockEarly(request.session, tool, args)
    ? judgeLocked(meant)
    : judgeNow(meant, undefined);
}

/** Judges a call that has locked its paths, because another replica changes one of them as well. */
async function judgeLocked(meant: MeantCall): Promise<JudgedCall> {
  const { request, tool, args } = meant;
  // A call with locks must not wait for a slot that another call keeps while it waits for these locks.
  await takeSlot(request);
  const early = await lockContendedPaths(request.session, tool, args, request.limited.signal);
  try {
    return await judgeNow(meant, early);
  } catch (error) {
    await early?.locks.release();
    throw error;
  }
}

/** Judges a call that has the locks `early`; undefined for one that locks nothing now. @throws FilewrightError for a denial */
export async function judgeNow(meant: MeantCall, early: EarlyLocks | undefined): Promise<JudgedCall> {
  const { request, tool, args, canonical, begun } = meant;
  const { facts, options, began, storage } = request;
  let { session } = request;
  if (session.files.enterMoment !== undefined) {
    const moment = await sessionAtMoment(session, tool, args, options.signal);
    if (moment.version !== undefined) facts.tell({ what: "version", version: moment.version });
    ({ session } = moment);
  }
  const calledAs = request.presetCall?.tool.name;
  if (calledAs !== undefined && session.hooks.bound.length > 0)
    session = withApproversByName(session, calledAs);
  const uses: PathUse[] = [];
  const locations: Location[] = [];
  // Both lists are filled below, so that a failure can name what was resolved until then.
  facts.tell({ what: "located", args, uses, locations });
  const checked = { tool, args, uses, locations, began, options: begun, meant: canonical, storage };
  const admitted = await admitCall(session, checked);
  // Only for reads: a change is planned before its approval, so its failure must not reveal hidden paths.
  if (tool.kind === "read") facts.tell({ what: "sees", fs: admitted.call.fs });
  return { meant, session, uses, admitted, early };
}

/** Returns the workspace whose approvers are chosen by the preset's name of the tool, too. */
function withApproversByName(session: Session, calledAs: string): Session {
  const { gates, hooks, files } = session;
  const confirmFor = (name: string): Confirm | undefined => gates.confirmFor(name, calledAs);
  const settings = { hooks: hooks.bound, resolver: files.resolver };
  return { ...session, gates: makeGates({ ...gates, confirmFor }, settings) };
}

/** Returns the preview of a change with these arguments. @throws FilewrightError as the call itself would */
export async function previewOfSent(
  sent: SentCall,
  tool: AnyChangingTool,
  raw: Arguments,
): Promise<HookPreview> {
  const { session, options } = sent.request;
  const parsed = await tool.parse(raw, options);
  const args = (await tool.prepare?.(parsed, historyForCaller(session, options.agent))) ?? parsed;
  return previewOfMeant({ ...sent, args, modified: [] }, tool);
}

/** Returns the preview of a change whose arguments are checked. @throws FilewrightError as the call itself would */
export async function previewOfMeant(meant: MeantCall, tool: AnyChangingTool): Promise<HookPreview> {
  const { args } = meant;
  const request = { ...meant.request, facts: new Facts() };
  const { admitted } = await judgeNow({ ...meant, request }, undefined);
  const { call } = admitted;
  const { callId } = call.about;
  const plan = await tool.plan(args, call);
  const path = call.locations[0]?.path ?? "";
  if (plan.kind === "settled") {
    const title = `${tool.title}: nothing changes`;
    return { title, path, diff: "", originalContent: null, newContent: null, risk: "low", callId };
  }
  const { title, location, diff, originalContent, newContent, risk } = await (await previews()).show(
    plan,
    call,
  );
  const at = call.locations[location]?.path ?? path;
  return { title, path: at, diff, originalContent, newContent, risk, callId };
}

/** Runs the operations of a batch. */
export type BatchRunner = (judged: JudgedCall, call: Call) => Promise<Made<Answer<BatchData>>>;

/** Runs a call that may be made, and returns its answer. @throws FilewrightError as the tool does; HookException */
export async function run(judged: JudgedCall, runBatch: BatchRunner): Promise<ToolResult> {
  const { tool, args, request } = judged.meant;
  try {
    const { timeout_ms: timeoutMs } = args as { readonly timeout_ms?: unknown };
    const isTimed = typeof timeoutMs === "number" && !tool.traits.includes("keepsTime");
    const { call: untimed } = judged.admitted;
    const call = isTimed ? { ...untimed, timer: request.limited.limit(timeoutMs) } : untimed;
    // A call that locked early has its slot already.
    if (request.session.scheduling.slots !== undefined && request.taken.length === 0) await takeSlot(request);
    if (tool.kind === "change") {
      const { session, uses, admitted, early } = judged;
      const asked = { session, tool, args, uses, call, facts: request.facts, admitted, early };
      const { changeFiles } = await changes();
      return await answer(judged, call, await changeFiles(asked));
    }
    if (tool.kind === "batch") return await answer(judged, call, await runBatch(judged, call));
    const scans = tool.scans?.(args) ?? false;
    if (scans !== false) await takeScan(request, judged.session);
    // A call that gives a part when its time is over ends itself.
    if (scans === "partial") request.limited.untimed();
    return await answer(judged, call, { result: await tool.run(args, call), undo: "nothing" });
  } finally {
    await judged.early?.locks.release();
  }
}

/** Returns the answer of a call that has succeeded. */
function answer(judged: JudgedCall, call: Call, made: Made<Answer<unknown>>): Promise<ToolResult> {
  const { session, meant, uses } = judged;
  const { tool, args, canonical, modified } = meant;
  const { facts } = meant.request;
  if (session.hooks.bound.length > 0)
    facts.tell({ what: "ran", call: { tool, args, uses, call, fixedText: canonical?.fixedText === true } });
  const { started } = facts;
  const { result, undo } = made;
  const replacedNotes = (meant.request.replaced ?? []).map(({ note }) => note);
  return successResult({
    tool,
    args,
    call,
    answer: result,
    undo,
    facts,
    modifiedByHook: modified,
    replacedNotes,
    started,
    meant: canonical,
  });
}
