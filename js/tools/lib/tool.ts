/**
 * The definition of a tool: a name, schemas, and the steps of the pipeline.
 *
 * A tool never opens, locks, asks or words an error: it computes. A reading tool has one step,
 * `run`. A changing tool has `plan` (reads the current state and computes the new one, without a
 * lock), `preview` (for a reviewer) and `apply` (under the lock, and only if the state that the
 * plan read is unchanged). `render` turns data into the text for the model and is the only part
 * that a preset replaces.
 */
import type { NamedSource, Grant, Intent, Location } from "../../policy/index.ts";
import type { SandboxProvider, SandboxStatus } from "../../backends/sandbox/sandbox.ts";
import type { Durability, EntryType, FsBackend, MaybePromise } from "../../backends/backend.ts";
import { type Code, type ErrorInit, type FilewrightError, makeError } from "../../engine/errors.ts";
import type { ContentBlock, Readers } from "../../readers/index.ts";
import type { MatchMode } from "../../engine/text/edit.ts";
import type { Limits } from "./limits.ts";
import type { Past } from "./past.ts";
import type { Seen } from "./seen.ts";
import type { Aliases, Arguments, ObjectSchema } from "./schema.ts";

export type { ContentBlock, DocumentBlock, ImageBlock } from "../../readers/index.ts";

/** One path that a call names, and its use. */
export interface PathUse {
  readonly argument: string;
  readonly typed: string;
  readonly intent: Intent;
  /** True for the entry itself: a link is not followed. */
  readonly entry?: boolean;
  /** True when everything below it changes too, so that the lock covers it. */
  readonly tree?: boolean;
  /** True when, although the call addresses the entry, content is written through an existing link. */
  readonly writesThrough?: boolean;
  /** True when the call creates the entry, false when it needs it; undefined when the argument alone decides. */
  readonly creates?: boolean;
  /**
   * Additional effects of the call on this path, as calls of other tools, so that rules for those
   * apply.
   */
  readonly effects?: readonly PathEffect[];
}

/** The effect of another tool that a call has on one of its paths. */
export interface PathEffect {
  readonly tool: "delete" | "move" | "copy";
  /** The arguments that the other tool would get. */
  readonly args: object;
  /** True when the effect applies only to an existing entry, which the call replaces. */
  readonly ifThere?: boolean;
}

/** The accessible paths of the workspace, as `access_info` shows them. */
export interface AccessSummary {
  readonly cwd: string;
  /** Null when everything may be read. */
  readonly readRoots: readonly string[] | null;
  readonly writeRoots: readonly string[];
  readonly deny: readonly string[];
  readonly readOnly: boolean;
  /** The confinement of the threads that touch files, and of commands where they exist. */
  readonly sandbox: {
    /** How far they are restricted to the files that the workspace allows. */
    readonly fs: "enforced" | "partial" | "none";
    /** How far they are kept off the network. */
    readonly net: "enforced" | "partial" | "none";
    /** The sandbox of commands, when they are available. */
    readonly commands?: SandboxStatus;
  };
}

/** A source of decisions about a change; see `policy/decide.ts`. */
export type DecidingSource = NamedSource;

/** The defaults of edits. */
export interface EditDefaults {
  /** How strictly old text must match. */
  readonly match: MatchMode;
}

/** The context of a tool call, in addition to its arguments. */
export interface Call {
  /** Runs commands, when the host has configured a sandbox. */
  readonly commands?: SandboxProvider | undefined;
  /** The id of the call in the history; empty for a tool that only reads. */
  readonly callId: string;
  /** The caller, when known. */
  readonly agent: string | undefined;
  /** The confined backend: it refuses every path the policy does not allow. */
  readonly fs: FsBackend;
  readonly limits: Limits;
  readonly durability: Durability;
  readonly signal: AbortSignal | undefined;
  /** Returns the milliseconds left of the call's `timeout_ms`; 0 when it has expired. */
  timeLeft?(): number;
  /** Stops the call's time limit: it waits for a person, or begins to write. */
  untimed?(): void;
  /** The locations of the tool's `paths`, in that order. */
  readonly locations: readonly Location[];
  /**
   * Checks a further path, such as a member of a list, and requests its grant.
   * @throws FilewrightError OUTSIDE_ALLOWED, GRANT_DENIED and others
   */
  locate(typed: string, intent: Intent): Promise<Location>;
  /** Returns the existing path that looks the same as a missing one, and a note about it. */
  alike?(typed: string, at: Location): Promise<{ readonly path: string; readonly note: string } | undefined>;
  /**
   * Returns the location of a path that a walk found below a located directory, whose grant covers
   * it. @throws as {@link Call.locate}
   */
  found(path: string, intent: Intent): Location;
  /** Returns the granted directories that are in force. */
  grants(): Promise<readonly Grant[]>;
  /** Returns the sources that decide about a change, in their order. */
  decidedBy(): readonly DecidingSource[];
  /** Returns a path for data: relative to the cwd when inside it. Texts escape it first. */
  display(path: string): string;
  readonly access: AccessSummary;
  /** The names of tools and arguments for the reader of the text. */
  readonly names: Names;
  /**
   * True when only the text is needed and facts that need a further access to the disk may be
   * omitted: sizes and times of listed entries, the media type of a file.
   */
  readonly brief: boolean;
  /**
   * True when a search or a listing without a path covers every root. Texts of a fixed form are
   * about one directory.
   */
  readonly coversRoots: boolean;
  /** The names of ignore files for searches, lowest precedence first; undefined for the default ones. */
  readonly ignoreFiles: readonly string[] | undefined;
  /** A regular expression: a search of contents leaves out lines that match it. */
  readonly excludeLines?: string | undefined;
  /**
   * Returns true when an absolute path may be shown, such as the target of a link: it is neither
   * outside nor hidden by a rule.
   */
  mayTell(path: string): boolean;
  /** True when searches leave out paths for which a rule requires an approval. */
  readonly leavesOut: boolean;
  /** The defaults of edits when a call does not set them. */
  readonly edit: EditDefaults;
  /** True when an edit may change lines of a file that was never read if it quotes them exactly. */
  readonly acceptsQuotes: boolean;
  /**
   * True when content that omits lines by a comment is refused; otherwise it is written with a
   * warning.
   */
  readonly refusesOmissions: boolean;
  /** The versions of files that the caller has seen. */
  readonly seen: Seen;
  /** Renders files that are not plain text. */
  readonly readers: Readers;
  /** Earlier changes; absent without a history. */
  readonly past?: Past | undefined;
  /** Reports the progress of a long call. */
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/** The progress of a long call. */
export interface Progress {
  /** The number of finished units, such as files. */
  readonly done: number;
  readonly total?: number;
  readonly message?: string;
}

/** The result of a reading tool, or of an applied change. */
export interface Answer<Data> {
  readonly data: Data;
  /** Further information, added to `data.warnings`, and to texts without a fixed form. */
  readonly warnings?: readonly string[];
  readonly content?: readonly ContentBlock[];
}

/**
 * The preview of a change for a reviewer. Contents are text; null for a new file, or content that
 * is no text.
 */
export interface Preview {
  readonly title: string;
  /** Index into the call's locations: the file concerned. */
  readonly location: number;
  readonly diff: string;
  readonly originalContent: string | null;
  readonly newContent: string | null;
  /** How much the change can destroy. */
  readonly risk: "low" | "medium" | "high";
  /** `sha256:` of the bytes to be written; of several files, of their hashes, one a line. */
  readonly hash?: string;
  /** Further versions that the approval requires, such as those of everything below a directory. */
  readonly base?: readonly BaseVersion[];
  /** Every path that the change creates, replaces, moves or removes. */
  readonly changes: readonly PreviewChange[];
  /** The content to be written, when it is not text. */
  readonly newBytes?: Uint8Array;
  /** The reason why `changes` is incomplete, in a few words; absent when it is complete. */
  readonly incomplete?: string;
}

/** One path of a preview. */
export interface PreviewChange {
  /** Absolute. */
  readonly path: string;
  readonly kind: "create" | "edit" | "delete" | "move" | "copy";
  readonly type: EntryType;
  /** The source of a moved or copied entry. */
  readonly from?: string;
  /** `sha256:` of the new content, when known. */
  readonly hash?: string;
  /** The new permission bits in octal, when they change. */
  readonly mode?: string;
}

/** A computed change that is not yet made. */
export interface Plan<Data, Todo> {
  /** The answer when nothing needs to be written: a dry run, or no difference. */
  readonly settled?: Answer<Data>;
  /** The input of `apply`. */
  readonly todo: Todo;
  /** The versions that the plan was computed from; null for a missing entry. */
  readonly base: readonly BaseVersion[];
  /** The files that are changed in part, of which only the affected lines must have been seen. */
  readonly touched?: readonly TouchedFile[];
}

/** A file that a plan changes in part. */
export interface TouchedFile {
  readonly path: string;
  /** True when the call quotes the changed text exactly, and it occurs once. */
  readonly quoted?: boolean;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

/** The version of one path when it was read. */
export interface BaseVersion {
  readonly path: string;
  readonly version: string | null;
  /** True for the version of the entry itself: a link is not followed. */
  readonly entry?: boolean;
}

/** Hints for hosts, as in the Model Context Protocol. */
export interface Annotations {
  /** True when it changes nothing. */
  readonly readOnlyHint: boolean;
  /** True when it can destroy existing files. */
  readonly destructiveHint: boolean;
  /** True when the same call again changes nothing more. */
  readonly idempotentHint: boolean;
  /** True when it reaches beyond the workspace; none does. */
  readonly openWorldHint: false;
}

interface ToolBase<Args, Data> {
  /** `snake_case`. */
  readonly name: string;
  readonly title: string;
  /** For models: its purpose, when to use it, its limits. */
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly annotations: Annotations;
  /** Other spellings of arguments, accepted silently. */
  readonly aliases?: Aliases;
  /** Checks and completes arguments. @throws FilewrightError INVALID_ARGUMENT */
  parse(args: Arguments): Args;
  /** Returns the arguments that are paths. Errors name the first one. */
  paths(args: Args): readonly PathUse[];
  /** The text for the model. */
  render(data: Data, args: Args, call: Call): string;
  /** Returns the same data reduced to the first `lines` lines of its text, with a note about it. */
  shrink?(data: Data, args: Args, lines: number, call: Call): MaybePromise<Data>;
  /** Returns the maximum UTF-8 bytes of the text, when arguments can set it. Default: those of a page. */
  maxTextBytes?(args: Args, limits: Limits): number;
}

/** A tool that changes nothing. */
export interface ReadingTool<Args, Data> extends ToolBase<Args, Data> {
  readonly kind: "read";
  /** True when it finds paths that the call does not name. Its data has `warnings` then. */
  readonly searches?: boolean;
  /**
   * Returns true when a call walks a tree, and so waits for its turn among many. Default: never.
   * `partial`: when its time is up it returns its partial result by itself.
   */
  scans?(args: Args): boolean | "partial";
  run(args: Args, call: Call): MaybePromise<Answer<Data>>;
}

/** A tool that changes files. */
export interface ChangingTool<Args, Data, Todo> extends ToolBase<Args, Data> {
  readonly kind: "change";
  /** Completes arguments before their paths are checked. @throws FilewrightError NOT_FOUND */
  prepare?(args: Args, past: Past): Promise<Args>;
  /** Returns arguments that use other entries for some paths, for paths inside a text such as a patch. */
  withPaths?(args: Args, taken: ReadonlyMap<string, string>): Args;
  /** True when it records its change itself, as an undo does. */
  readonly recordsItself?: boolean;
  plan(args: Args, call: Call): MaybePromise<Plan<Data, Todo>>;
  preview(plan: Plan<Data, Todo>, args: Args, call: Call): MaybePromise<Preview>;
  /** Returns the plan with a reviewer's content instead of the planned one. */
  revise?(plan: Plan<Data, Todo>, args: Args, newContent: string, call: Call): MaybePromise<Plan<Data, Todo>>;
  /** True when `apply` writes several files, all or none. Default: one. */
  readonly several?: boolean;
  /**
   * Applies the plan. Everything written through `call.fs` is rolled back when it throws or the
   * process dies.
   * @throws FilewrightError CONFLICT when the state that the plan read has changed
   */
  apply(plan: Plan<Data, Todo>, args: Args, call: Call): MaybePromise<Answer<Data>>;
}

/** A tool that consists of calls of others; the workspace runs them. */
export interface BatchTool<Args, Data> extends ToolBase<Args, Data> {
  readonly kind: "batch";
}

/** Any tool, without its own types. The pipeline passes each tool only its own plans and data. */
export type Tool =
  | ReadingTool<never, unknown>
  | ChangingTool<never, unknown, unknown>
  | BatchTool<never, unknown>;

/** Creates an error at a location; the workspace words it from the code. */
export function refuse(
  code: Code,
  at: Location | undefined,
  init: Omit<ErrorInit, "path"> & { readonly message?: string } = {},
): FilewrightError {
  return makeError(code, init.message ?? "", { ...init, path: at?.path });
}

/**
 * The names that a reader of a text knows. Under a preset a model knows other names, and lacks some: a remedy
 * that it cannot follow is omitted.
 */
export interface Names {
  /** Returns a tool's name; undefined when the tool is not offered. */
  tool(name: string): string | undefined;
  /** Returns the name of an argument of the called tool; undefined when it cannot be given. */
  argument(name: string): string | undefined;
  /** Converts a value of that argument to the reader's unit. */
  value(name: string, value: number): number;
}

/** The canonical names. */
export const OWN_NAMES: Names = Object.freeze({
  tool: (name: string) => name,
  argument: (name: string) => name,
  value: (_name: string, value: number) => value,
});

/** Returns `what(name)`, or an empty text without a name. */
export function where(name: string | undefined, what: (name: string) => string): string {
  return name === undefined ? "" : what(name);
}

/** Returns `name=value` as the reader would write it; undefined when it cannot be given. */
export function assign(names: Names, argument: string, value: number | string): string | undefined {
  const name = names.argument(argument);
  if (name === undefined) return undefined;
  return typeof value === "string" ? `${name}="${value}"` : `${name}=${names.value(argument, value)}`;
}
