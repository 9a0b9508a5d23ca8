/**
 * Describes a call before it is made: a title for people, the paths that it names and, for a change,
 * its effect. Nothing is changed, no hook runs, and no question is asked except for the grant of a
 * directory. The result is no promise: the call itself is checked again.
 */
import { FilewrightError } from "../engine/errors.ts";
import type { HookPreview } from "../hooks/hook.ts";
import type { CanonicalCall } from "../presets/preset.ts";
import { withCanonicalKeys } from "../tools/lib/schema.ts";
import { escapeControls } from "../engine/escape.ts";
import type { AnyChangingTool, AnyTool, Tool } from "../tools/lib/tool.ts";
import type { CallOptions } from "../pipeline/enter.ts";
import { type ErrorData, toErrorData } from "../pipeline/result.ts";
import type { Session } from "../pipeline/session.ts";
import type { PresetCall } from "./call.ts";
import { requestOf } from "./stages.ts";
import { mean, previewOfMeant } from "./steps.ts";

/** One path that a call names. */
export interface CallLocation {
  /** Absolute. */
  readonly path: string;
  /** The access of the call to the path. */
  readonly intent: "read" | "write";
}

/** The outline of a call, or the reason for its refusal. */
export type CallOutline =
  | {
      /** True when the arguments are valid. */
      readonly ok: true;
      /** The call in one line, for people. */
      readonly title: string;
      /** The paths that it names. */
      readonly locations: readonly CallLocation[];
      /** Absent, because there is no error. */
      readonly error?: undefined;
    }
  | {
      /** False when the arguments are invalid, or a path is outside the roots. */
      readonly ok: false;
      /** The error of the arguments. */
      readonly error: ErrorData;
    };

/** Returns the outline of a call. `meant` converts a preset's call to the canonical one. */
export function outlineOfCall(
  session: Session,
  known: Tool,
  given: unknown,
  meant?: () => CanonicalCall,
): CallOutline {
  try {
    const { tool, args } = toolAndArguments(known, given, meant?.());
    const parsed = tool.parse(args);
    const uses = tool.paths(parsed);
    const locations = uses.map(({ typed, intent }): CallLocation => {
      const { path } = session.files.resolver.resolve(typed, intent);
      return { path, intent };
    });
    const named = uses.map(({ typed }) => escapeControls(typed)).join(", ");
    return { ok: true, title: named === "" ? tool.title : `${tool.title}: ${named}`, locations };
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    return { ok: false, error: toErrorData(error) };
  }
}

/** A call to describe. */
interface DescribedCall {
  readonly known: Tool;
  readonly given: unknown;
  /** Undefined for a canonical call. */
  readonly presetCall: PresetCall | undefined;
}

/**
 * Returns the effect of a change; undefined for a call that changes nothing, and for a batch.
 * @throws FilewrightError as the call itself would
 */
export async function previewOfCall(
  session: Session,
  { known, given, presetCall }: DescribedCall,
  options: CallOptions,
): Promise<HookPreview | undefined> {
  const canonical = presetCall?.meaning();
  if ((canonical?.tool ?? known).kind !== "change") return undefined;
  const hookless = { ...session, hooks: { ...session.hooks, bound: [] } };
  const meaning = presetCall && { ...presetCall, meaning: () => canonical as CanonicalCall };
  const request = requestOf({ session: hookless, known, given, options, presetCall: meaning });
  const meant = await mean(request);
  return previewOfMeant(meant, meant.tool as AnyChangingTool);
}

function toolAndArguments(
  known: Tool,
  given: unknown,
  meant: CanonicalCall | undefined,
): { readonly tool: AnyTool; readonly args: Readonly<Record<string, unknown>> } {
  // The cast is safe: a tool only receives its own arguments, plans and data.
  const tool = (meant?.tool ?? known) as unknown as AnyTool;
  return { tool, args: withCanonicalKeys(tool.name, meant === undefined ? given : meant.args, tool.aliases) };
}
