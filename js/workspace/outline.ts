/**
 * What a call would be, before it is made: what people are told of it, which paths it names, and of a change what
 * it would do. Nothing is changed here, no hook runs, nobody is asked but for a directory that has to be granted, and
 * nothing is promised: the call is judged again when it is made.
 */
import { FilewrightError } from "../engine/errors.ts";
import type { HookPreview } from "../hooks/hook.ts";
import type { Meant } from "../presets/preset.ts";
import { plainArguments } from "../tools/arguments.ts";
import { escapeControls } from "../engine/escape.ts";
import type { Tool } from "../tools/tool.ts";
import { type AnyChanging, type AnyTool, type CallOptions, previewed } from "./enter.ts";
import { type ErrorData, errorData } from "./result.ts";
import type { Session } from "./session.ts";

/** A picture for a tool, by the names that Gemini CLI gives them. */
export type ToolIcon = "fileSearch" | "folder" | "hammer" | "lightBulb" | "pencil" | "regex" | "terminal";

/** One path that a call names. */
export interface CallLocation {
  /** Absolute. */
  readonly path: string;
  /** What the call does there. */
  readonly intent: "read" | "write";
}

/** What a call would be, or why it would be refused. */
export type CallOutline =
  | {
      /** True: the arguments fit. */
      readonly ok: true;
      /** The call in a line, for people. */
      readonly title: string;
      /** The paths that it names. */
      readonly locations: readonly CallLocation[];
      /** There is no error. */
      readonly error?: undefined;
    }
  | {
      /** False: the arguments do not fit, or a path is out of bounds. */
      readonly ok: false;
      /** What is wrong with them. */
      readonly error: ErrorData;
    };

const ICONS: Readonly<Record<string, ToolIcon>> = {
  write_file: "pencil",
  edit_file: "pencil",
  apply_patch: "pencil",
  undo: "pencil",
  list_directory: "folder",
  mkdir: "folder",
  copy: "folder",
  move: "folder",
  delete: "folder",
  grep: "regex",
  batch: "hammer",
  access_info: "lightBulb",
  history: "lightBulb",
  run_command: "terminal",
};

/** The picture of a tool of ours. */
export function iconOf(name: string): ToolIcon {
  return ICONS[name] ?? "fileSearch";
}

/** Looks at a call. `meant`: what it means, under a preset's names. */
export function outlineOf(session: Session, known: Tool, given: unknown, meant?: () => Meant): CallOutline {
  try {
    const { tool, args } = meaning(known, given, meant?.());
    const parsed = tool.parse(args);
    const uses = tool.paths(parsed);
    const locations = uses.map(({ typed, intent }): CallLocation => {
      const { path } = session.resolver.resolve(typed, intent);
      return { path, intent };
    });
    const named = uses.map(({ typed }) => escapeControls(typed)).join(", ");
    return { ok: true, title: named === "" ? tool.title : `${tool.title}: ${named}`, locations };
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    return { ok: false, error: errorData(error) };
  }
}

/**
 * What a change would do; undefined of a call that changes nothing, and of a batch.
 * @throws FilewrightError what the call itself would fail with
 */
export async function previewOf(
  session: Session,
  known: Tool,
  given: unknown,
  options: CallOptions,
  meant?: () => Meant,
): Promise<HookPreview | undefined> {
  const call = meant?.();
  const { tool, args } = meaning(known, given, call);
  if (tool.kind !== "change") return undefined;
  return previewed(session, tool as AnyChanging, args, session.permissions?.begin() ?? 0, options, call);
}

function meaning(
  known: Tool,
  given: unknown,
  meant: Meant | undefined,
): { readonly tool: AnyTool; readonly args: Readonly<Record<string, unknown>> } {
  // A tool only ever receives what it made itself: its own arguments, plans and data.
  const tool = (meant?.tool ?? known) as unknown as AnyTool;
  return { tool, args: plainArguments(tool.name, meant === undefined ? given : meant.args, tool.aliases) };
}
