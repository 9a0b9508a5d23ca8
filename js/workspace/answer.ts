/** What a caller is given back: a result within its budget, or a failure that is worded. */
import type { Location } from "../access/index.ts";
import type { FsBackend } from "../backends/backend.ts";
import { tell } from "../hooks/events.ts";
import type { Meant } from "../presets/preset.ts";
import { displayOf } from "../tools/display.ts";
import { answerBytes } from "../tools/limits.ts";
import { OWN_NAMES } from "../tools/names.ts";
import { countLines, cutToBytes, fits, linesThatFit } from "../tools/text.ts";
import type { Call, PathUse } from "../tools/tool.ts";
import { BatchFailed } from "./batch-failed.ts";
import type { Changed } from "./change.ts";
import type { AnyReading, AnyTool } from "./enter.ts";
import { readableRoots } from "./look-alikes.ts";
import { word } from "./messages.ts";
import { errorData, type Failure, type Meta, type Success } from "./result.ts";
import type { Session } from "./session.ts";

/** Failures that somebody, or something put in the way by somebody, decided. */
const REFUSALS: ReadonlySet<string> = new Set(["APPROVAL_DENIED", "HOOK_BLOCKED", "GRANT_DENIED"]);

/** Beyond the budget for the line that says what was cut. */
const GRACE_BYTES = 500;

const LEFT_OUT = "what a rule wants to be asked about is left out: name a path to be asked";

/** What may be added to a text: lines; nothing, because its form is fixed; or nothing, because it is JSON. */
export type TextForm = "lines" | "fixed" | "json";

/** How often a text that is too long is made of fewer results, until it fits. */
const MAX_SHRINKS = 8;

/** The result of a call that worked. */
export async function success(
  tool: AnyTool,
  render: (data: unknown, args: object, call: Call) => string,
  { answer, modifiedByUser, approval }: Changed<unknown>,
  args: object,
  call: Call,
  modifiedByHook: readonly string[],
  started: number,
  form: TextForm = "lines",
): Promise<Success<unknown>> {
  let { data } = answer;
  const warnings = [...(call.leavesOut ? [LEFT_OUT] : []), ...(answer.warnings ?? [])];
  // JSON has no place for further lines: what is to be known besides is rendered with the data.
  if (form === "json" && warnings.length > 0) data = withWarnings(data, warnings);
  let text = render(data, args, call);
  let cut = false;
  const budget = tool.maxTextBytes?.(args as never, call.limits) ?? answerBytes(call.limits);
  if (!fits(text, budget)) {
    await turnOfOthers();
    let { lines } = linesThatFit(text, budget);
    const { shrink } = tool as AnyReading;
    for (let round = 0; shrink !== undefined && lines > 0 && round < MAX_SHRINKS; round++) {
      data = await shrink.call(tool, data, args, lines, call);
      await turnOfOthers();
      text = render(data, args, call);
      if (fits(text, budget + GRACE_BYTES)) break;
      // A result may take several lines of this text.
      const { lines: fitting } = linesThatFit(text, budget);
      lines = Math.min(lines - 1, Math.floor((lines * fitting) / countLines(text)));
    }
    if (!fits(text, budget + GRACE_BYTES)) {
      cut = true;
      text = cutText(text, budget);
      data = { ...(data as object), truncated: true };
    }
  }
  if (form !== "json" && warnings.length > 0) {
    data = withWarnings(data, warnings);
    if (form === "lines") text += notesBelow(warnings);
  }
  const notes = [
    ...(modifiedByHook.length > 0 ? [`arguments modified by a hook: ${modifiedByHook.join(", ")}`] : []),
    ...(modifiedByUser ? ["content modified by the reviewer before it was approved"] : []),
  ];
  text += notesBelow(notes);
  const display = displayOf(tool, data, args) + notesBelow([...warnings, ...notes]);
  const meta: Meta = {
    duration_ms: performance.now() - started,
    truncated: cut || (data as { readonly truncated?: unknown }).truncated === true,
    ...(tool.kind === "read" ? {} : { call_id: call.callId }),
    ...(modifiedByHook.length > 0 ? { modified_by_hook: true } : {}),
    ...(modifiedByUser ? { modified_by_user: true } : {}),
    ...(approval === undefined ? {} : { approval }),
  };
  return answer.content === undefined
    ? { ok: true, text, display, data, meta }
    : { ok: true, text, display, data, content: answer.content, meta };
}

/** Lines in brackets below a text. */
function notesBelow(notes: readonly string[]): string {
  return notes.map((note) => `\n[${note}]`).join("");
}

function withWarnings(data: unknown, warnings: readonly string[]): unknown {
  const { warnings: others = [] } = data as { readonly warnings?: readonly string[] };
  return { ...(data as object), warnings: [...others, ...warnings] };
}

/** Lets what else waits on the event loop run: a text beyond the budget took some milliseconds. */
function turnOfOthers(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/** The beginning of a text that no tool knows how to shorten, with a line that says so. */
function cutText(text: string, budget: number): string {
  const { end } = linesThatFit(text, budget);
  const kept = end > 0 ? text.slice(0, end) : cutToBytes(text, budget);
  return `${kept}\n[output cut at ${budget} bytes; truncated]`;
}

/**
 * What may be told to a call that nobody was asked about, whatever its arguments are. Where every call of the tool is
 * asked about, that is what may be looked at.
 */
function unaskedView({ rules, views }: Session, tool: string): FsBackend {
  const own = rules.forCall(tool);
  return views.of({
    rules: own.decide([]) === "ask" ? rules.forCall("stat") : own,
    hidden: ["deny", "ask"],
  });
}

/** The result of a call that did not work. `fs`: the storage as the call saw it, where it came to that. */
export async function failure(
  session: Session,
  tool: Pick<AnyTool, "name" | "title">,
  thrown: unknown,
  uses: readonly PathUse[],
  locations: readonly Location[],
  started: number,
  meant: Meant | undefined,
  fs: FsBackend = unaskedView(session, tool.name),
): Promise<Failure> {
  const meta: Meta = { duration_ms: performance.now() - started, truncated: false };
  if (thrown instanceof BatchFailed) {
    const { verbatim, data } = thrown;
    return {
      ok: false,
      text: verbatim ? thrown.message : `Error: ${thrown.message}`,
      display: verbatim ? thrown.message : `${tool.title} failed: ${thrown.message}`,
      error: errorData(thrown),
      // Left out of the type, so that `data` of a result has one type for each tool.
      data: data as unknown as undefined,
      meta,
    };
  }
  const { error, told, shown } = await word(thrown, {
    tool: tool.name,
    uses,
    locations,
    fs,
    cwd: session.resolver.policy.cwd,
    roots: readableRoots(session.resolver.policy),
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
    display: verbatim ? error.message : `${tool.title} failed: ${shown}`,
    error: errorData(error),
    meta,
  };
}
