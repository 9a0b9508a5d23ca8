/**
 * What a tool is: a name, schemas, and the steps the pipeline takes it through.
 *
 * A tool never opens, locks, asks or words an error: it computes. A reading tool
 * has one step, `run`. A changing tool has `plan` (reads what is there and
 * computes what should be, no lock held), `preview` (what a reviewer is shown)
 * and `apply` (under the lock, and only if what the plan read is still there).
 * `render` turns data into the text for the model and is all that a preset
 * replaces.
 */
import type { Grant, Intent, Location } from "../access/index.ts";
import type { SandboxProvider, SandboxStatus } from "../backends/sandbox.ts";
import type { Durability, EntryType, FsBackend, MaybePromise } from "../backends/backend.ts";
import { type Code, type ErrorInit, type FilewrightError, makeError } from "../engine/errors.ts";
import type { ContentBlock, Readers } from "../readers/index.ts";
import type { MatchMode } from "../engine/edit.ts";
import type { Limits } from "./limits.ts";
import type { Names } from "./names.ts";
import type { Past } from "./past.ts";
import type { Seen } from "./seen.ts";
import type { Aliases } from "./arguments.ts";
import type { Arguments, ObjectSchema } from "./schema.ts";

/** One path that a call names, and what it is for. */
export interface PathUse {
  readonly argument: string;
  readonly typed: string;
  readonly intent: Intent;
  /** The entry itself is meant: a link is not followed. */
  readonly entry?: boolean;
  /** Everything below it changes too, so that the lock covers it. */
  readonly tree?: boolean;
  /** Although the entry is meant, a file's content goes through a link that is there. */
  readonly writesThrough?: boolean;
  /** What the call does there besides, in terms of other tools: rules on those hold too. */
  readonly effects?: readonly PathEffect[];
}

/** Another tool's work that a call does on one of its paths. */
export interface PathEffect {
  readonly tool: "delete" | "move" | "copy";
  /** As that tool would be given them. */
  readonly args: object;
  /** Only where something is there already: what the call replaces. */
  readonly ifThere?: boolean;
}

/** Where the workspace may read and write: what `access_info` tells. */
export interface AccessSummary {
  readonly cwd: string;
  /** Null where everything may be read. */
  readonly readRoots: readonly string[] | null;
  readonly writeRoots: readonly string[];
  readonly deny: readonly string[];
  readonly readOnly: boolean;
  /** Of the threads that touch files, and of commands where there are any. */
  readonly sandbox: {
    /** Whether they are kept to the files that the workspace allows. */
    readonly fs: "enforced" | "partial" | "none";
    /** Whether they are kept off the network. */
    readonly net: "enforced" | "partial" | "none";
    /** What holds for commands, where they are run. */
    readonly commands?: SandboxStatus;
  };
}

/** How edits are made where a call does not say. */
export interface EditDefaults {
  /** How strictly old text must match. */
  readonly match: MatchMode;
}

/** What a tool is given besides its arguments. */
export interface Call {
  /** Runs commands, where the host has set that up. */
  readonly commands?: SandboxProvider | undefined;
  /** What the call is known by in the history; empty where the tool only reads. */
  readonly callId: string;
  /** Who calls, where that is known. */
  readonly agent: string | undefined;
  /** The confined backend: it refuses every path the policy does not allow. */
  readonly fs: FsBackend;
  readonly limits: Limits;
  readonly durability: Durability;
  readonly signal: AbortSignal | undefined;
  /** Milliseconds that are left of the call's `timeout_ms`; 0 when it is over. */
  timeLeft?(): number;
  /** From now on the call's `timeout_ms` does not count: somebody is asked, or it begins to write. */
  untimed?(): void;
  /** The locations of the tool's `paths`, in that order. */
  readonly locations: readonly Location[];
  /**
   * Judges a further path, such as a member of a list, and sees to its grant.
   * @throws FilewrightError OUTSIDE_ALLOWED, GRANT_DENIED and others
   */
  locate(typed: string, intent: Intent): Promise<Location>;
  /** The path that is taken for a missing one that looks the same, and what is said of it. */
  alike?(typed: string, at: Location): Promise<{ readonly path: string; readonly note: string } | undefined>;
  /** A path that a walk found below a located directory, whose grant covers it. @throws as {@link Call.locate} */
  found(path: string, intent: Intent): Location;
  /** The directories that somebody granted, those in force. */
  grants(): Promise<readonly Grant[]>;
  /** A path as data carries it: relative to the cwd when inside it. Text escapes it first. */
  display(path: string): string;
  readonly access: AccessSummary;
  /** What the reader of the text calls things. */
  readonly names: Names;
  /**
   * Only the text is wanted, and it does not tell what needs a further look at the disk:
   * sizes and times of listed entries, the media type of a file. They may be left out.
   */
  readonly brief: boolean;
  /** The names of ignore files that searches mind, lowest precedence first; undefined: the usual ones. */
  readonly ignoreFiles: readonly string[] | undefined;
  /** Whether an absolute path may be told, such as the target of a link: it is neither outside nor kept by a rule. */
  mayTell(path: string): boolean;
  /** Whether a rule wants to be asked about what a search could reach, so that it was left out. */
  readonly leavesOut: boolean;
  /** How edits match where a call does not say. */
  readonly edit: EditDefaults;
  /** Whether an edit may change lines of a file that was never read, where it quotes them word for word. */
  readonly acceptsQuotes: boolean;
  /** Whether content that leaves lines out by a comment is refused; otherwise it is written, and the answer says so. */
  readonly refusesOmissions: boolean;
  /** The versions of files that the caller has seen. */
  readonly seen: Seen;
  /** Renders files that are not plain text. */
  readonly readers: Readers;
  /** Earlier changes; absent where there is no history to ask. */
  readonly past?: Past | undefined;
  /** Tells the caller how far a long call is. */
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/** How far a long call is. */
export interface Progress {
  /** Units done, such as files. */
  readonly done: number;
  readonly total?: number;
  readonly message?: string;
}

/** What a reading tool, or an applied change, gives. */
export interface Answer<Data> {
  readonly data: Data;
  /** What to know besides: added to `data.warnings`, and to texts that have no fixed form. */
  readonly warnings?: readonly string[];
  readonly content?: readonly ContentBlock[];
}

/** What a reviewer is shown before a change. Contents are text; null where there is no file yet, or no text. */
export interface Preview {
  readonly title: string;
  /** Index into the call's locations: the file concerned. */
  readonly location: number;
  readonly diff: string;
  readonly originalContent: string | null;
  readonly newContent: string | null;
  /** How much the change can destroy. */
  readonly risk: "low" | "medium" | "high";
  /** `sha256:` of the bytes that would be written; of several files, of their hashes, one a line. */
  readonly hash?: string;
  /** Further versions that the approval rests upon, such as those of everything below a directory. */
  readonly base?: readonly BaseVersion[];
  /** Every path that the change makes, replaces, moves or removes. */
  readonly changes: readonly PreviewChange[];
  /** The content that would be written, where it is not text. */
  readonly newBytes?: Uint8Array;
  /** Why `changes` is not all of it, in a few words; absent where it is. */
  readonly incomplete?: string;
}

/** One path of a preview. */
export interface PreviewChange {
  /** Absolute. */
  readonly path: string;
  readonly kind: "create" | "edit" | "delete" | "move" | "copy";
  readonly type: EntryType;
  /** Where it comes from, of what is moved or copied. */
  readonly from?: string;
  /** `sha256:` of the new content, where that is known. */
  readonly hash?: string;
  /** The new permission bits in octal, where they change. */
  readonly mode?: string;
}

/** A change that is computed but not made. */
export interface Plan<Data, Todo> {
  /** The answer where nothing is to be written: a dry run, or something already so. */
  readonly settled?: Answer<Data>;
  /** What `apply` needs. */
  readonly todo: Todo;
  /** The versions the plan was computed from; null where there was nothing. */
  readonly base: readonly BaseVersion[];
  /** The files that are changed in part, so that only the lines concerned must have been seen. */
  readonly touched?: readonly TouchedFile[];
}

/** A file that a plan changes in part. */
export interface TouchedFile {
  readonly path: string;
  /** The call quotes what it changes word for word, in the one place where it stands. */
  readonly quoted?: boolean;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

/** The version of one path when it was read. */
export interface BaseVersion {
  readonly path: string;
  readonly version: string | null;
  /** The version of the entry itself: a link is not followed. */
  readonly entry?: boolean;
}

/** Hints for hosts, as in the Model Context Protocol. */
export interface Annotations {
  /** Whether it changes nothing. */
  readonly readOnlyHint: boolean;
  /** Whether it can destroy what is there. */
  readonly destructiveHint: boolean;
  /** Whether the same call again changes nothing more. */
  readonly idempotentHint: boolean;
  /** Whether it reaches beyond the workspace; none does. */
  readonly openWorldHint: false;
}

export type { ContentBlock, DocumentBlock, ImageBlock } from "../readers/index.ts";

interface ToolBase<Args, Data> {
  /** `snake_case`. */
  readonly name: string;
  readonly title: string;
  /** For models: what it does, when to use it, its limits. */
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly annotations: Annotations;
  /** Other spellings of arguments, accepted silently. */
  readonly aliases?: Aliases;
  /** Checks and completes arguments. @throws FilewrightError INVALID_ARGUMENT */
  parse(args: Arguments): Args;
  /** Which arguments are paths. The first is the one that errors name. */
  paths(args: Args): readonly PathUse[];
  /** The text for the model. */
  render(data: Data, args: Args, call: Call): string;
  /** The same data reduced to the first `lines` lines of its text, saying so. */
  shrink?(data: Data, args: Args, lines: number, call: Call): MaybePromise<Data>;
  /** UTF-8 bytes that the text may have, where arguments can say so. Left out: those of a page. */
  maxTextBytes?(args: Args, limits: Limits): number;
}

/** A tool that changes nothing. */
export interface ReadingTool<Args, Data> extends ToolBase<Args, Data> {
  readonly kind: "read";
  /** Whether it finds paths that the call does not name. Its data has `warnings` then. */
  readonly searches?: boolean;
  /**
   * Whether a call walks a tree, and so waits for its turn where many do. Left out: never.
   * `partial`: when its time is up it gives what it has, by itself.
   */
  scans?(args: Args): boolean | "partial";
  run(args: Args, call: Call): MaybePromise<Answer<Data>>;
}

/** A tool that changes files. */
export interface ChangingTool<Args, Data, Todo> extends ToolBase<Args, Data> {
  readonly kind: "change";
  /** Completes arguments by what they mean, before their paths are judged. @throws FilewrightError NOT_FOUND */
  prepare?(args: Args, past: Past): Promise<Args>;
  /** Whether it records its change itself, as an undo does. */
  readonly recordsItself?: boolean;
  plan(args: Args, call: Call): MaybePromise<Plan<Data, Todo>>;
  preview(plan: Plan<Data, Todo>, args: Args, call: Call): MaybePromise<Preview>;
  /** The plan with the content a reviewer put in place of the planned one. */
  revise?(plan: Plan<Data, Todo>, args: Args, newContent: string, call: Call): MaybePromise<Plan<Data, Todo>>;
  /** Whether `apply` writes several things, of which all or none must happen. Default: one thing. */
  readonly several?: boolean;
  /**
   * Whatever it writes through `call.fs` is taken back when it throws, and when the process dies.
   * @throws FilewrightError CONFLICT where what the plan read is no longer there
   */
  apply(plan: Plan<Data, Todo>, args: Args, call: Call): MaybePromise<Answer<Data>>;
}

/** A tool made of calls of others; the workspace runs them. */
export interface BatchTool<Args, Data> extends ToolBase<Args, Data> {
  readonly kind: "batch";
}

/** Any tool, its own types forgotten. The pipeline hands each tool only what that tool made. */
export type Tool =
  | ReadingTool<never, unknown>
  | ChangingTool<never, unknown, unknown>
  | BatchTool<never, unknown>;

/** A failure at a location; the workspace words it from the code. */
export function refuse(
  code: Code,
  at: Location | undefined,
  init: Omit<ErrorInit, "path"> & { readonly message?: string } = {},
): FilewrightError {
  return makeError(code, init.message ?? "", { ...init, path: at?.path });
}
