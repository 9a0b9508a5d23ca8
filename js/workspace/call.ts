/**
 * One call, from arguments to result: the only way in.
 *
 * arguments → before hooks → locations → run, or plan…apply → render → after
 * hooks. MCP, the command line, adapters and the typed methods all come through
 * here. It answers with a result; it rejects only with what a hook raised.
 */
import type { Location } from "../access/index.ts";
import { FilewrightError } from "../engine/errors.ts";
import { plainArguments } from "../tools/arguments.ts";
import type { Meant, PresetTool } from "../presets/preset.ts";
import { OWN_NAMES } from "../tools/names.ts";
import type { Arguments } from "../tools/schema.ts";
import { cutToBytes, fits, linesThatFit } from "../tools/text.ts";
import type { Answer, Call, ChangingTool, PathUse, Progress, ReadingTool, Tool } from "../tools/tool.ts";
import { change, stopIfCancelled } from "./change.ts";
import { ask, denied, mustAsk } from "./confirm.ts";
import { type BeforeOutcome, hooksFor, Raised, runAfter, runBefore, type Subject } from "./hooks.ts";
import { word } from "./messages.ts";
import { errorData, type Failure, type Meta, type Success, type ToolResult } from "./result.ts";
import { type Decision, type Place, placeOf } from "./rules.ts";
import type { Session } from "./session.ts";

/** What a caller may say besides the arguments. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** The host's own record of the call, handed to hooks. */
  readonly toolCall?: unknown;
}

/** Beyond the budget for the line that says what was cut. */
const GRACE_BYTES = 500;

type AnyReading = ReadingTool<object, unknown>;
type AnyChanging = ChangingTool<object, unknown, unknown>;

/** A call in the words of a preset. */
export interface Spoken {
  readonly tool: PresetTool;
  /** What it means. @throws FilewrightError INVALID_ARGUMENT in the preset's names */
  meaning(): Meant;
}

/** Runs one call of a known tool, or of what a preset means by another. */
export async function runCall(
  session: Session,
  known: Tool,
  given: unknown,
  options: CallOptions,
  spoken?: Spoken,
): Promise<ToolResult> {
  const started = performance.now();
  const began = session.permissions?.begin() ?? 0;
  // A tool only ever receives what it made itself: its own arguments, plans and data.
  let tool = known as unknown as AnyReading | AnyChanging;
  let meant: Meant | undefined;
  const uses: PathUse[] = [];
  const locations: Location[] = [];
  const calledAs = spoken?.tool.name;
  let raw: Arguments = {};
  let result: ToolResult;
  try {
    stopIfCancelled(options.signal);
    if (spoken !== undefined) {
      meant = spoken.meaning();
      tool = meant.tool as unknown as AnyReading | AnyChanging;
    }
    raw = plainArguments(tool.name, meant === undefined ? given : meant.args, tool.aliases);
    let args = tool.parse(raw);
    let modified: readonly string[] = [];
    const before = session.hooks.length === 0 ? [] : hooksFor(session.hooks, "before", tool.name, calledAs);
    if (before.length > 0) {
      const subject = subjectOf(tool.name, calledAs, options);
      const outcome = await runBefore(before, subject, raw, session.limits.hookTimeoutMs);
      modified = outcome.modified;
      if (modified.length > 0) {
        raw = plainArguments(tool.name, inOurNames(outcome, meant), tool.aliases);
        args = tool.parse(raw);
      }
    }
    uses.push(...tool.paths(args));
    for (const use of uses) locations.push(judge(session, use));
    const ruled = await rule(session, tool.name, uses, locations, args);
    if (session.permissions !== undefined) {
      for (const [index, use] of uses.entries())
        await admit(session, tool.name, use, locations[index] as Location, began, options.signal);
    }
    const call = makeCall(session, tool, args, locations, began, options, meant);
    let answer: Answer<unknown>;
    let modifiedByUser = false;
    if (tool.kind === "read") {
      if (ruled === "ask") await permit(session, tool, locations[0], options.signal);
      answer = await tool.run(args, call);
    } else {
      ({ answer, modifiedByUser } = await change(session, tool, args, uses, call, ruled));
    }
    const text = meant?.text ?? tool.render;
    result = await success(tool, text, answer, args, call, modified, modifiedByUser, started);
  } catch (thrown) {
    if (thrown instanceof Raised) throw thrown.what;
    result = await failure(session, tool, thrown, uses, locations, started, meant);
  }
  if (session.hooks.length === 0) return result;
  const subject = subjectOf(tool.name, calledAs, options);
  const { duration_ms } = result.meta;
  const after = hooksFor(session.hooks, "after", tool.name, calledAs);
  return runAfter(after, subject, raw, result, session.onHookError, duration_ms);
}

/** A path argument becomes a location, or a refusal that names the argument. */
function judge(session: Session, use: PathUse): Location {
  try {
    return session.resolver.resolve(use.typed, use.intent);
  } catch (error) {
    if (!(error instanceof FilewrightError) || error.code !== "INVALID_ARGUMENT") throw error;
    throw new FilewrightError("INVALID_ARGUMENT", `Invalid argument '${use.argument}': ${error.message}.`, {
      complete: true,
      path: use.typed,
      details: { argument: use.argument },
    });
  }
}

/** What the rules say of these paths. @throws FilewrightError APPROVAL_DENIED where one forbids it */
async function rule(
  session: Session,
  tool: string,
  uses: readonly Pick<PathUse, "entry">[],
  locations: readonly Location[],
  args: object,
): Promise<Decision | undefined> {
  const { rules, fs, resolver } = session;
  const places: Place[] = [];
  if (rules.byPath) {
    for (const [index, at] of locations.entries())
      places.push(await placeOf(fs, at, uses[index]?.entry === true, resolver.display));
  }
  const decision = rules.decide(tool, places, args);
  // Before anything is read: a refusal must not tell what is in the file.
  if (decision === "deny") throw denied(`A rule forbids ${tool} here.`);
  return decision;
}

/** Sees to the grant of a path. @throws FilewrightError GRANT_DENIED and others */
async function admit(
  session: Session,
  tool: string,
  { intent, entry = false }: Pick<PathUse, "intent" | "entry">,
  at: Location,
  began: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  await session.permissions?.admit(session.fs, { at, intent, entry, tool, began }, signal);
}

function subjectOf(tool: string, calledAs: string | undefined, { toolCall }: CallOptions): Subject {
  return { tool_name: tool, tool_call: toolCall, ...(calledAs === undefined ? {} : { called_as: calledAs }) };
}

/** Arguments that a hook changed under a preset's names, under ours. */
function inOurNames({ args, modified }: BeforeOutcome, meant: Meant | undefined): Arguments {
  const ours = meant?.ours ?? {};
  const result = { ...args };
  for (const key of modified) {
    const name = ours[key];
    if (name === undefined || !Object.hasOwn(result, key)) continue;
    result[name] = result[key];
    delete result[key];
  }
  return result;
}

function makeCall(
  session: Session,
  tool: AnyReading | AnyChanging,
  args: object,
  locations: readonly Location[],
  began: number,
  options: CallOptions,
  meant: Meant | undefined,
): Call {
  return {
    fs: session.fs,
    limits: session.limits,
    durability: session.durability,
    signal: options.signal,
    locations,
    async locate(typed, intent) {
      const at = session.resolver.resolve(typed, intent);
      const ruled = await rule(session, tool.name, [], [at], args);
      if (ruled === "ask" && tool.kind === "read") await permit(session, tool, at, options.signal);
      await admit(session, tool.name, { intent }, at, began, options.signal);
      return at;
    },
    found: session.resolver.resolve,
    grants: async () => (await session.permissions?.list()) ?? [],
    display: session.resolver.display,
    access: session.access,
    names: meant?.names ?? OWN_NAMES,
    readers: session.readers,
    onProgress: options.onProgress,
  };
}

/** A reading tool is only asked about where a rule says so. */
async function permit(
  session: Session,
  tool: AnyReading,
  at: Location | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { confirm, approvals } = session;
  if (!mustAsk("ask", "allow", confirm, approvals, tool.name, at === undefined ? [] : [at])) return;
  const { outcome } = await ask(
    confirm as NonNullable<Session["confirm"]>,
    {
      type: "info",
      title: `${tool.title}: ${at?.typed ?? tool.name}`,
      tool: tool.name,
      fileName: at?.typed ?? "",
      fileDiff: "",
      originalContent: null,
      newContent: null,
      path: at?.path ?? "",
    },
    signal,
  );
  if (outcome === "cancel" || outcome === "modify_with_editor")
    throw denied("The reviewer refused the call.");
  approvals.remember(outcome, tool.name, at?.root ?? "/");
}

async function success(
  tool: AnyReading | AnyChanging,
  render: (data: unknown, args: object, call: Call) => string,
  answer: Answer<unknown>,
  args: object,
  call: Call,
  modifiedByHook: readonly string[],
  modifiedByUser: boolean,
  started: number,
): Promise<Success<unknown>> {
  let { data } = answer;
  let text = render(data, args, call);
  let cut = false;
  const budget = call.limits.outputBytes;
  if (!fits(text, budget)) {
    const { lines } = linesThatFit(text, budget);
    if (tool.shrink !== undefined && lines > 0) {
      data = await tool.shrink(data, args, lines, call);
      text = render(data, args, call);
    }
    if (!fits(text, budget + GRACE_BYTES)) {
      cut = true;
      text = cutText(text, budget);
      data = { ...(data as object), truncated: true };
    }
  }
  if (modifiedByHook.length > 0) text += `\n[arguments modified by a hook: ${modifiedByHook.join(", ")}]`;
  if (modifiedByUser) text += "\n[content modified by the reviewer before it was approved]";
  const meta: Meta = {
    duration_ms: performance.now() - started,
    truncated: cut || (data as { readonly truncated?: unknown }).truncated === true,
    ...(modifiedByHook.length > 0 ? { modified_by_hook: true } : {}),
    ...(modifiedByUser ? { modified_by_user: true } : {}),
  };
  return answer.content === undefined
    ? { ok: true, text, data, meta }
    : { ok: true, text, data, content: answer.content, meta };
}

/** The beginning of a text that no tool knows how to shorten, with a line that says so. */
function cutText(text: string, budget: number): string {
  const { end } = linesThatFit(text, budget);
  const kept = end > 0 ? text.slice(0, end) : cutToBytes(text, budget);
  return `${kept}\n[output cut at ${budget} bytes; truncated]`;
}

async function failure(
  session: Session,
  tool: AnyReading | AnyChanging,
  thrown: unknown,
  uses: readonly PathUse[],
  locations: readonly Location[],
  started: number,
  meant: Meant | undefined,
): Promise<Failure> {
  const { error, told } = await word(thrown, {
    tool: tool.name,
    uses,
    locations,
    fs: session.fs,
    display: session.resolver.display,
    names: meant?.names ?? OWN_NAMES,
  });
  const message = meant?.refuse?.(error, told) ?? told;
  const verbatim = error.code === "HOOK_BLOCKED" && error.details?.["verbatim"] === true;
  return {
    ok: false,
    text: verbatim ? error.message : `Error: ${message}`,
    error: errorData(error),
    meta: { duration_ms: performance.now() - started, truncated: false },
  };
}
