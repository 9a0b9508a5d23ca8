/**
 * The definition of a tool: its name, its schemas, and the steps by which the pipeline runs it.
 *
 * A tool only computes. Opening files, locking, asking for approvals and wording errors is done elsewhere. A
 * reading tool has one step, `run`. A changing tool has `plan`, which reads the current state without a lock and
 * proposes a list of changes; the pipeline shows the list to a reviewer and makes it under the lock, if what the
 * plan read is unchanged. `render` converts data to the text for the model; a preset replaces nothing else.
 */
import type { Files } from "../../backends/files.ts";
import type { NamedSource, Grant, Intent, Location } from "../../policy/index.ts";
import type { SandboxProvider, SandboxStatus } from "../../backends/sandbox/sandbox.ts";
import type { StateDirectory } from "../../backends/state-directory.ts";
import type { AllowedBy } from "../../backends/transaction/step.ts";
import type { CommitList } from "../../backends/transaction/recorded-list.ts";
import type { Durability, MaybePromise } from "../../backends/backend.ts";
import type { EngineInfo } from "../../engine/engine.ts";
import {
  type Code,
  type ErrorInit,
  type FilewrightError,
  makeError,
  type Signalled,
} from "../../engine/errors.ts";
import type { ContentBlock, Readers } from "../../readers/index.ts";
import type { MatchMode } from "../../engine/text/edit.ts";
import type { ToolTrait } from "../../schema/tool-facts.ts";
import type { ActedPath, BaseVersion, Change, Heading, Outcome, PreviewChange } from "../change/change.ts";
import type { RenderingCache } from "../render/rendering-cache.ts";
import type { Limits } from "./limits.ts";
import type { UndoableHistory } from "./past.ts";
import type { SeenFiles } from "./seen.ts";
import type { CountTokens } from "./tokens.ts";
import type { Aliases, Arguments, ObjectSchema } from "./schema.ts";

export type { ContentBlock, DocumentBlock, ImageBlock } from "../../readers/index.ts";

/** A path that a call names, and what the call does with it. */
export interface PathUse {
  readonly argument: string;
  readonly typed: string;
  readonly intent: Intent;
  /** True when the path means the entry itself: if it is a link, the link is not followed. */
  readonly entry?: boolean;
  /** True when everything below the path may change, too, so that the lock must cover it. */
  readonly tree?: boolean;
  /** True when content is written to the target of an existing link, although `entry` is true. */
  readonly writesThrough?: boolean;
  /**
   * True when the call makes a directory of an entry above the path: what is above it now does not count, so the path
   * is taken as it is.
   */
  readonly belowReplaced?: boolean;
  /**
   * What the call does where nothing has this name. `refuse`: it fails, so a path that looks the same may be meant.
   * `create`: it makes the entry, so nothing may look the same. `create_or_replace`: as `create`, or it replaces the
   * entry. `accept`: the name is only a name.
   */
  readonly missing: "refuse" | "create" | "create_or_replace" | "accept";
  /**
   * The further effects of the call on this path, as calls of other tools, so that the rules for those tools
   * apply, too.
   */
  readonly effects?: readonly PathEffect[];
}

/** Something that a call does to one of its paths and for which another tool exists. */
export interface PathEffect {
  readonly tool: "delete" | "move" | "copy";
  /** The arguments with which that tool would be called. */
  readonly args: object;
  /**
   * Present when the effect happens only if the call replaces something: `entry`, whatever exists there; `non-directory`,
   * because a directory is merged.
   */
  readonly ifThere?: "entry" | "non-directory";
}

/** Which paths the workspace allows to read and write, as `access_info` reports them. */
export interface AccessSummary {
  readonly cwd: string;
  /** `windows` when absolute paths are shown as `C:\\repo\\a.ts`, and here have the form `/C:/repo/a.ts`. */
  readonly paths?: "windows" | undefined;
  /** Null when everything may be read. */
  readonly readRoots: readonly string[] | null;
  readonly writeRoots: readonly string[];
  readonly deny: readonly string[];
  readonly readOnly: boolean;
  /** The loaded engine, and the reason why no other was loaded. */
  readonly engine: EngineInfo;
  /** `native`: the storage resolves and opens in one step. `checked`: paths are checked before they are used. */
  readonly confinement: "native" | "checked";
  /** How the operating system confines the threads that access files, and commands if there are any. */
  readonly sandbox: {
    /** How far these threads are confined to the files that the workspace allows. */
    readonly fs: "enforced" | "partial" | "none";
    /** How far these threads are kept from using the network. */
    readonly net: "enforced" | "partial" | "none";
    /** How commands are confined; absent when the workspace runs none. */
    readonly commands?: SandboxStatus;
  };
  /** The directory of locks and history; absent when the workspace keeps nothing on the disk. */
  readonly state?: StateDirectory | undefined;
}

/** A source that decides about calls; see `policy/decide.ts`. */
export type DecidingSource = NamedSource;

/** The defaults of edits. */
export interface EditDefaults {
  /** How exactly the old text must match. */
  readonly match: MatchMode;
}

/** Who makes a call, and how it is recorded. */
interface CallAbout {
  /** The id under which the history records the call; empty for a tool that only reads. */
  readonly callId: string;
  /** The turn of the call, with which an approval for a turn ends. */
  readonly turn: string;
  /** The name of the caller; undefined when it is not known. */
  readonly agent: string | undefined;
  /** True for a change that goes ahead without a question, and is unreviewed until a person keeps it. */
  readonly isUnreviewed: boolean;
  /** The reasons why a change was allowed, for a tool that records it itself. */
  readonly allowedBy: readonly AllowedBy[] | undefined;
}

/** The time limit of a call; both undefined for a call without one. */
interface CallTimer {
  /** Returns the remaining milliseconds of the call's `timeout_ms`; 0 when the time is over. */
  readonly timeLeft: (() => number) | undefined;
  /** Ends the time limit of the call, because it waits for a person or begins to write. */
  readonly untimed: (() => void) | undefined;
}

/** What a call may reach beyond the paths that it named at its beginning. */
interface CallReach {
  /**
   * Checks a further path, such as one in a list or a patch, and asks for its grant if it needs one.
   * @throws FilewrightError OUTSIDE_ALLOWED, GRANT_DENIED and others
   */
  locate(typed: string, intent: Intent): Promise<Location>;
  /**
   * Returns the location of a path that was found below a located directory, whose grant covers it. @throws
   * as {@link CallReach.locate}
   */
  found(path: string, intent: Intent): Location;
  /** Returns true while grants cover a located path, or none are needed. Nobody is asked. */
  isGranted(at: Location, intent: Intent): Promise<boolean>;
  /**
   * Returns the existing path that looks the same as a missing one, for example in another Unicode form, with
   * a note about it; undefined when there is none. Undefined where the answer names paths as they were asked for.
   */
  readonly alike:
    | ((typed: string, at: Location) => Promise<{ readonly path: string; readonly note: string } | undefined>)
    | undefined;
  /** Returns the directories that the user has granted and whose grants have not expired. */
  grants(): Promise<readonly Grant[]>;
  /** Returns the sources that decide whether a change is allowed, in the order in which they are consulted. */
  decidedBy(): readonly DecidingSource[];
  readonly summary: AccessSummary;
  /**
   * Returns true when the caller may learn an absolute path, such as the target of a link: it is inside the
   * workspace, and no rule hides it.
   */
  mayTell(path: string): boolean;
  /**
   * True when searches leave out paths for which a rule requires an approval, because a search cannot ask
   * about each.
   */
  readonly leavesOut: boolean;
}

/** The reader of an answer: what it knows, and what it needs. */
interface CallReader {
  /** The names of tools and arguments that the reader of the text knows. */
  readonly names: ReaderNames;
  /**
   * Returns the path that data contains: relative to the working directory if it is inside, otherwise
   * absolute. Texts must escape it.
   */
  display(path: string): string;
  /**
   * True when only the text of the answer is used. Facts that need further access to the disk may then be
   * omitted: sizes and times of listed entries, the media type of a file.
   */
  readonly brief: boolean;
  /**
   * True when a search or a listing without a path includes every root. False for texts of a fixed form,
   * which describe one directory.
   */
  readonly coversRoots: boolean;
  /** A regular expression: a search of contents leaves out lines that match it. Undefined excludes none. */
  readonly excludeLines: string | undefined;
  /**
   * True when content is refused in which a comment stands for omitted lines. False to write it with a
   * warning.
   */
  readonly refusesOmissions: boolean;
  /** Called with the progress of a long call; undefined when nobody listens. */
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/** The settings of the workspace for the work of a tool. */
export interface CallSettings {
  readonly limits: Limits;
  /** True when answers tell what changed in a file since the caller read it. */
  readonly knows: boolean;
  /** Counts the tokens of an answer with `max_tokens`. */
  readonly tokens: CountTokens;
  readonly durability: Durability;
  /** The values that an edit has for options which a call does not set. */
  readonly edit: EditDefaults;
  /**
   * True when an edit that quotes the changed text needs no read. The guard of a preset accepts the
   * quote as knowledge, because models also learn of files in other ways, such as a shell or the
   * prompt. A guard that the host sets requires a read.
   */
  readonly acceptsQuotes: boolean;
  /** The names of the ignore files that searches respect, lowest precedence first; undefined for the default ones. */
  readonly ignoreFiles: readonly string[] | undefined;
  /** The readers of files that are not plain text. */
  readonly readers: Readers;
  /** The results of these readers. */
  readonly renderings: RenderingCache;
  /** Runs commands; undefined when the host has configured no sandbox for them. */
  readonly commands: SandboxProvider | undefined;
}

/** A call as its tool sees it: what it may use, and nothing else. */
export interface Call {
  readonly about: CallAbout;
  /** The storage within the policy: every path that the policy does not allow is refused. */
  readonly fs: Files;
  /** Makes the list of the change together with its record; undefined where the change is recorded by steps. */
  readonly commit: CommitList | undefined;
  /** The locations of the paths that the tool's `paths` returned, in the same order. */
  readonly locations: readonly Location[];
  readonly reach: CallReach;
  readonly reader: CallReader;
  readonly settings: CallSettings;
  /** The record of files that the caller has read or written. */
  readonly seen: SeenFiles;
  /** Returns the history of changes as the caller may see it. */
  past(): UndoableHistory;
  readonly signal: AbortSignal | undefined;
  readonly timer: CallTimer;
}

/** The progress of a long call. */
export interface Progress {
  /** The number of finished units, such as files. */
  readonly done: number;
  readonly total?: number;
  readonly message?: string;
}

/** The result of a successful call. */
export interface Answer<Data> {
  readonly data: Data;
  /** Notes for the caller. They are added to `data.warnings`, and to texts that have no fixed form. */
  readonly warnings?: readonly string[];
  readonly content?: readonly ContentBlock[];
  /**
   * The diff of the data as people and models see it, without the CRs that both sides of a line have. Absent where it is
   * the same: that of the data has every byte, because other tools could not apply it otherwise.
   */
  readonly shownDiff?: string | undefined;
}

/** A change that has been computed, but not made. */
export type Plan<Data> = Settled<Data> | Proposal<Data> | Act<Data>;

/** A call that does not need to write, such as a dry run or a change without a difference. */
export interface Settled<Data> {
  readonly kind: "settled";
  readonly answer: Answer<Data>;
}

/** A list of changes, which the pipeline shows to a reviewer, compares with what the caller has seen, and makes. */
export interface Proposal<Data> {
  readonly kind: "changes";
  /**
   * Which changes these are. `contents`: of files whose contents are all known, so that the guard compares their lines
   * and a reviewer can choose among them. `entries`: of entries as a whole, by their versions alone.
   */
  readonly of: "contents" | "entries";
  /** In the order in which they are made. */
  readonly changes: readonly Change[];
  /**
   * The versions of the entries from which the plan was computed; null for a missing entry. What a reviewer approved is
   * made only if all of them are unchanged. Without a review the conditions of the changes decide.
   */
  readonly base: readonly BaseVersion[];
  /** How a reviewer reads the list: in its own order with a diff made from it, or as the tool has it. */
  readonly reading: "list" | OwnReading;
  /** Whose list it is: that of the call, what a reviewer selected of it, or one with contents of a reviewer. */
  readonly by: "call" | "selection" | "reviewer";
  /** Returns the title of a list for a reviewer, who may have changed it. */
  about(shown: ShownList): Heading;
  /** Returns the answer of the call once the list is made. */
  answer(outcomes: readonly Outcome[], made: Proposal<unknown>): MaybePromise<Answer<Data>>;
}

/** The reading of a list by a tool that has made a diff of it for its answer. */
interface OwnReading {
  order(changes: readonly Change[]): readonly Change[];
  /** Returns the diff of the list; undefined where it is cut, so that a whole one is made from the list. */
  diff(changes: readonly Change[]): Promise<string | undefined>;
}

/** A list as a reviewer sees it. */
export interface ShownList {
  readonly changes: readonly PreviewChange[];
  /** The numbers of the files and directories of a tree, such as ` (2 files, 1 directory)`; empty for a single entry. */
  readonly counts: string;
}

/** A change that no list describes, such as a program that runs, or an undo. */
export interface Act<Data> {
  readonly kind: "act";
  /** As of {@link Proposal}: with the contents, a reviewer approves the hash of all of them. */
  readonly of: "contents" | "entries";
  /** The calls of which nothing is left after the change, for one that takes several back. */
  readonly undoes: readonly string[] | undefined;
  readonly heading: Heading;
  /** The paths that must be, when it is made, as they were when the reviewer was asked. */
  readonly base: readonly string[];
  /** True when a reviewer sees the new content of a single path besides its diff. */
  readonly showsContent: boolean;
  /** Returns what becomes of each path, in the order in which a reviewer reads it. */
  changes(call: Call): MaybePromise<readonly ActedPath[]>;
  /**
   * Makes the change. If it throws, or the process dies, everything that was written by `call.fs` is
   * rolled back.
   * @throws FilewrightError CONFLICT when the state that the plan read has changed
   */
  make(call: Call): MaybePromise<Answer<Data>>;
}

/** Hints for hosts, as in the Model Context Protocol. */
export interface Annotations {
  /** True when the tool changes nothing. */
  readonly readOnlyHint: boolean;
  /** True when the tool can destroy existing content. */
  readonly destructiveHint: boolean;
  /** True when repeating a call changes nothing further. */
  readonly idempotentHint: boolean;
  /** True when the tool accesses something outside the workspace, which no tool does. */
  readonly openWorldHint: false;
}

/** Checks the arguments of a call and fills in defaults. @throws FilewrightError INVALID_ARGUMENT */
interface ParseArguments<Args> {
  /** A tool may work on large arguments on another thread. @throws also CANCELLED */
  (args: Arguments, later: Signalled): MaybePromise<Args>;
  (args: Arguments): Args;
}

/** How a text that is too long is made to fit: by fewer results, or within a size of its own. */
type Fit<Args, Data> =
  | {
      /** Returns the data reduced to the first `lines` lines of its text, marked as truncated. */
      shrink(data: Data, args: Args, lines: number, call: Call): MaybePromise<Data>;
    }
  | {
      /** Returns the maximum size of the text in UTF-8 bytes, where arguments can change it. */
      maxTextBytes(args: Args, limits: Limits): number;
    };

/** The names of tools of other systems that do the same work. */
interface OtherNames {
  /** Matches the letters of such a name, in lower case. */
  readonly names: RegExp;
  /** The work, after the name of this tool in a sentence: `replaces text`. */
  readonly does: string;
}

/** The texts of a successful call. */
interface ToolTexts<Args, Data> {
  /** Returns the text for the model. `shownDiff` is that of the answer. */
  render(data: Data, args: Args, call: Call, shownDiff?: string): string;
  /**
   * Returns the text for people: a line about the effect, and the diff of a change. User interfaces show it. What was
   * read or found is only in the text for models. Without it people see the title. A batch
   * adds those of its operations.
   */
  display?(data: Data, args: Args, tools: ReadonlyMap<string, Tool>): string;
  /** How a text that is too long is made to fit. Without it the text is cut at the size of a page. */
  readonly fit?: Fit<Args, Data>;
}

interface ToolBase<Args, Data> {
  /** The name, in `snake_case`. */
  readonly name: string;
  readonly title: string;
  readonly traits: readonly ToolTrait[];
  /** The description for models: what the tool does, when to use it, and its limits. */
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly annotations: Annotations;
  /** Other accepted spellings of arguments: alias → argument. */
  readonly aliases?: Aliases;
  /** How other systems call the tool, for the refusal of a call by such a name. */
  readonly otherNames?: OtherNames;
  readonly parse: ParseArguments<Args>;
  /** Returns the arguments that are paths. Errors that concern no single path name the first one. */
  paths(args: Args): readonly PathUse[];
  readonly texts: ToolTexts<Args, Data>;
}

/** A tool that changes nothing. */
export interface ReadingTool<Args, Data> extends ToolBase<Args, Data> {
  readonly kind: "read";
  /**
   * Returns true when a call walks a tree, so that it has to wait for its turn when many do. `partial` means
   * that the call returns its partial result when its time is over. Default: never.
   */
  scans?(args: Args): boolean | "partial";
  run(args: Args, call: Call): MaybePromise<Answer<Data>>;
}

/** A tool that changes files. */
export interface ChangingTool<Args, Data> extends ToolBase<Args, Data> {
  readonly kind: "change";
  /**
   * Completes the arguments before their paths are checked, from the history. @throws FilewrightError
   * NOT_FOUND
   */
  prepare?(args: Args, past: UndoableHistory): Promise<Args>;
  /**
   * Returns the arguments with other entries in place of missing paths that look the same. Needed only for
   * paths inside a text such as a patch.
   */
  withPaths?(args: Args, taken: ReadonlyMap<string, string>): Args;
  /**
   * Returns the program that the call runs, with its arguments, for a tool that runs one. An approval covers the same
   * arguments alone. Nothing records what the program changes: the history names the call.
   */
  exactCommand?(args: Args): readonly string[];
  /** Computes the change. `outdated` is the plan of the same call before another writer changed a file. */
  plan(args: Args, call: Call, outdated?: Plan<Data>): MaybePromise<Plan<Data>>;
}

/** A tool that consists of calls of other tools, which the workspace runs. */
export interface BatchTool<Args, Data> extends ToolBase<Args, Data> {
  readonly kind: "batch";
}

/** Any tool, without the types of its arguments and data. The pipeline passes to each tool only its own. */
export type Tool = ReadingTool<never, unknown> | ChangingTool<never, unknown> | BatchTool<never, unknown>;

/** Returns the index of a path among the locations of a call; 0 for one that the call does not name. */
export function locationOf(path: string | undefined, { locations }: Pick<Call, "locations">): number {
  const at = locations.findIndex((one) => one.path === path);
  return Math.max(at, 0);
}

/** Creates an error about a location. The workspace adds the message that belongs to the code. */
export function locationError(
  code: Code,
  at: Location | undefined,
  init: Omit<ErrorInit, "path"> & { readonly message?: string } = {},
): FilewrightError {
  return makeError(code, init.message ?? "", { ...init, path: at?.path });
}

/**
 * The names that the reader of a text knows. Under a preset, tools and arguments have other names or do not
 * exist; advice that needs a missing one is left out.
 */
export interface ReaderNames {
  /** Returns the name of a tool; undefined when the reader cannot call it. */
  tool(name: string): string | undefined;
  /** Returns the name of an argument of the called tool; undefined when the reader cannot pass it. */
  argument(name: string): string | undefined;
  /** Converts a value of that argument to the unit or base that the reader uses. */
  value(name: string, value: number): number;
  /**
   * Returns how the reader gives an argument a value, for a reader who passes none by name, such as a command line;
   * undefined when the reader cannot. Absent when the reader writes `name: value`.
   */
  readonly option?: (name: string, value: SettingValue) => OptionOfSetting | undefined;
}

/** The value of an argument that a remedy names. */
export type SettingValue = boolean | number | string | null;

/** How a command line gives an argument a value: by an option, or by leaving one out. */
export type OptionOfSetting = { readonly add: string } | { readonly leaveOut: string };

/** A remedy as data: the call succeeds, or does what was meant, when the argument has this value. */
export interface Setting {
  readonly kind: "set";
  /** The canonical name of the argument. */
  readonly argument: string;
  readonly value: SettingValue;
}

/** Returns the remedy that gives an argument a value. */
export function set(argument: string, value: SettingValue): Setting {
  return { kind: "set", argument, value };
}

/** The names of the canonical tools and arguments themselves. */
export const CANONICAL_NAMES: ReaderNames = Object.freeze({
  tool: (name: string) => name,
  argument: (name: string) => name,
  value: (_name: string, value: number) => value,
});

/**
 * The names for texts that people read. People do not call tools, so all advice that names tools or arguments
 * is left out.
 */
export const NAMES_FOR_PEOPLE: ReaderNames = Object.freeze({
  tool: () => undefined,
  argument: () => undefined,
  value: (_name: string, value: number) => value,
});

/** Returns `what(name)`; an empty text when the name is undefined. */
export function phraseIfNamed(name: string | undefined, what: (name: string) => string): string {
  return name === undefined ? "" : what(name);
}

/**
 * Returns a setting as a noun in the names of the reader: `regex: false`, or `-F` for a command line; undefined when
 * the reader cannot make it.
 */
export function settingPhrase(names: ReaderNames, { argument, value }: Setting): string | undefined {
  if (names.option !== undefined) {
    const given = names.option(argument, value);
    return given && ("add" in given ? given.add : `no ${given.leaveOut}`);
  }
  const name = names.argument(argument);
  if (name === undefined) return undefined;
  // A preset may negate the argument: `no_ignore: true` is `respect_ignore: false`.
  const isNegated = /^no_/u.test(name) && typeof value === "boolean";
  return `${name}: ${JSON.stringify(isNegated ? !value : value)}`;
}

/**
 * Returns a setting as an imperative in the names of the reader: `set regex: false`, or `add -F` for a command line;
 * undefined when the reader cannot make it.
 */
export function setPhrase(names: ReaderNames, setting: Setting): string | undefined {
  if (names.option === undefined) {
    const shown = settingPhrase(names, setting);
    return shown === undefined ? undefined : `set ${shown}`;
  }
  const given = names.option(setting.argument, setting.value);
  return given && ("add" in given ? `add ${given.add}` : `leave out ${given.leaveOut}`);
}

/**
 * Returns `name=value` in the names and units of the reader, or the option of a command line; undefined when the
 * reader cannot pass the argument.
 */
export function assignmentPhrase(
  names: ReaderNames,
  argument: string,
  value: number | string,
): string | undefined {
  if (names.option !== undefined) return settingPhrase(names, set(argument, value));
  const name = names.argument(argument);
  if (name === undefined) return undefined;
  return typeof value === "string" ? `${name}="${value}"` : `${name}=${names.value(argument, value)}`;
}

/** A tool with its own types erased. This is safe, because it only receives values that it created itself. */
export type AnyReadingTool = ReadingTool<object, unknown>;
export type AnyChangingTool = ChangingTool<object, unknown>;
export type AnyTool = AnyReadingTool | AnyChangingTool | BatchTool<object, unknown>;
