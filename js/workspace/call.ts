/**
 * One call, from arguments to result: the only way in.
 *
 * arguments → before hooks → locations → run, or plan…apply → render → after
 * hooks. MCP, the command line, adapters and the typed methods all come through
 * here. It answers with a result; it rejects only with what a hook raised.
 */
import type { Location } from "../access/index.ts";
import { tell } from "../hooks/events.ts";
import { hooksFor, Raised, runAfter, runBefore, type Subject } from "../hooks/run.ts";
import { plainArguments } from "../tools/arguments.ts";
import type { Meant, PresetTool } from "../presets/preset.ts";
import { OWN_NAMES } from "../tools/names.ts";
import type { Arguments } from "../tools/schema.ts";
import { cutToBytes, fits, linesThatFit } from "../tools/text.ts";
import type { Call, PathUse, Tool } from "../tools/tool.ts";
import { type Changed, change, stopIfCancelled } from "./change.ts";
import { type AnyChanging, type AnyReading, type CallOptions, enter, permit, previewed } from "./enter.ts";
import { word } from "./messages.ts";
import { errorData, type Failure, type Meta, type Success, type ToolResult } from "./result.ts";
import type { Session } from "./session.ts";

/** Failures that somebody, or something put in the way by somebody, decided. */
const REFUSALS: ReadonlySet<string> = new Set(["APPROVAL_DENIED", "HOOK_BLOCKED", "GRANT_DENIED"]);

/** Beyond the budget for the line that says what was cut. */
const GRACE_BYTES = 500;

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
      const previewer =
        tool.kind === "change"
          ? (current: Arguments, keys: readonly string[]) =>
              previewed(session, tool as AnyChanging, inOurNames(current, keys, meant), began, options, meant)
          : undefined;
      const subject = subjectOf(tool.name, calledAs, options);
      const outcome = await runBefore(before, subject, raw, session.limits.hookTimeoutMs, previewer);
      modified = outcome.modified;
      if (modified.length > 0) {
        raw = plainArguments(tool.name, inOurNames(outcome.args, outcome.modified, meant), tool.aliases);
        args = tool.parse(raw);
      }
    }
    const { call, ruled } = await enter(session, tool, args, { uses, locations }, began, options, meant);
    let changed: Changed<unknown>;
    if (tool.kind === "read") {
      if (ruled === "ask") await permit(session, tool, locations, options.signal);
      changed = { answer: await tool.run(args, call), modifiedByUser: false };
    } else {
      changed = await change(session, tool, args, uses, call, ruled);
    }
    const text = meant?.text ?? tool.render;
    result = await success(tool, text, changed, args, call, modified, started);
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

function subjectOf(tool: string, calledAs: string | undefined, options: CallOptions): Subject {
  const { toolCall, signal } = options;
  return {
    tool_name: tool,
    tool_call: toolCall,
    ...(calledAs === undefined ? {} : { called_as: calledAs }),
    ...(signal === undefined ? {} : { signal }),
  };
}

/** Arguments that a hook changed under a preset's names, under ours. */
function inOurNames(args: Arguments, modified: readonly string[], meant: Meant | undefined): Arguments {
  const ours = meant?.ours ?? {};
  const result: Record<string, unknown> = { ...args };
  for (const key of modified) {
    const name = ours[key];
    if (name === undefined || !Object.hasOwn(result, key)) continue;
    result[name] = result[key];
    delete result[key];
  }
  return result;
}

async function success(
  tool: AnyReading | AnyChanging,
  render: (data: unknown, args: object, call: Call) => string,
  { answer, modifiedByUser, approval }: Changed<unknown>,
  args: object,
  call: Call,
  modifiedByHook: readonly string[],
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
    ...(approval === undefined ? {} : { approval }),
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
  if (REFUSALS.has(error.code)) {
    const { code, message } = error;
    tell(session.notify, { type: "call_denied", tool: tool.name, code, message });
  }
  const verbatim = error.code === "HOOK_BLOCKED" && error.details?.["verbatim"] === true;
  return {
    ok: false,
    text: verbatim ? error.message : `Error: ${message}`,
    error: errorData(error),
    meta: { duration_ms: performance.now() - started, truncated: false },
  };
}
