/**
 * What a tool of a preset means: the canonical call for the arguments that were sent, and the texts of its
 * answer. A preset says it in one place, `ToolSpec.means`:
 *
 *     means: calls("edit_file", { fixed: { match: "exact" }, text: ({ data }) => data.diff })
 *
 * or, where the call depends on the arguments,
 *
 *     means: byArguments(["edit_file", "write_file"], ({ args, given }) =>
 *       given["old"] === "" ? call("write_file", { args: { path: given["file"] } }) : call("edit_file", { args }))
 */
import type { Code, FilewrightError } from "../engine/errors.ts";
import {
  anything,
  callback,
  choiceOf,
  flag,
  mapOf,
  optionChecker,
  options,
  required,
} from "../schema/option.ts";
import { type ToolArgs, type ToolData, type ToolName, TOOLS } from "../tools/index.ts";
import type { Arguments } from "../tools/lib/schema.ts";
import type { Call, ReaderNames } from "../tools/lib/tool.ts";

/** The arguments of a function that creates the text of an answer. */
export interface RenderInput<Args = object, Data = unknown> {
  readonly data: Data;
  /** The checked canonical arguments. */
  readonly args: Args;
  /** The checked arguments of the preset. */
  readonly given: Arguments;
  readonly call: Call;
  /** Returns the canonical text. */
  plain(): string;
}

/** The arguments of a function that creates the text of an error. */
export interface Refused {
  readonly code: Code;
  readonly error: FilewrightError;
  /** The path as the caller typed it, with control characters escaped. */
  readonly path: string;
  /** The canonical message, with the names of the preset's tools and arguments. */
  readonly told: string;
  readonly given: Arguments;
  readonly names: ReaderNames;
}

/** The texts of a canonical call. */
export interface Wording<Name extends ToolName = ToolName> {
  /** Returns the text of a successful call. Default: the canonical text. */
  readonly text?: (told: RenderInput<ToolArgs[Name], ToolData[Name]>) => string;
  /**
   * Returns the message of a failed call. If it is missing or returns undefined, the canonical message is
   * used, with the preset's names.
   */
  readonly refuse?: (refused: Refused) => string | undefined;
  /** True when the text does not need the facts that `Call.brief` allows to omit. Default false. */
  readonly brief?: boolean;
  /** True when the text is JSON, so that no note is appended to it. Default false. */
  readonly json?: boolean;
}

/** The arguments of one call of a preset's tool, checked. */
export interface Sent {
  /** The arguments of the preset. */
  readonly given: Arguments;
  /** The canonical arguments for which those stand that name one (`Param.to`). */
  readonly args: Arguments;
}

/** The canonical call that a call of a preset's tool means. */
export interface Meant {
  /** The canonical tool. */
  readonly of: ToolName;
  /** Its arguments, before they are checked. */
  readonly args: Arguments;
  /** See `Wording.text`; undefined for the canonical text. */
  readonly text: ((told: RenderInput<never, never>) => string) | undefined;
  /** See `Wording.refuse`; undefined for the canonical message. */
  readonly refuse: ((refused: Refused) => string | undefined) | undefined;
  /** See `Wording.brief`. */
  readonly brief: boolean;
  /** See `Wording.json`. */
  readonly json: boolean;
  /** Returns the names of the ignore files to respect, given those of the workspace; undefined for these. */
  readonly ignoreFiles: ((files: readonly string[]) => readonly string[]) | undefined;
  /** A regular expression; a search leaves out lines that match it. Undefined excludes none. */
  readonly excludeLines: string | undefined;
  /** Returns the call to make if this one failed with a code; undefined for none. */
  readonly instead: ((code: Code) => Meant | undefined) | undefined;
}

/** What the calls of a preset's tool mean. */
export interface Meaning {
  /**
   * The canonical tools of its calls. Aliases, hints, and the schema of data are those of the first one; the
   * tool is offered in a read-only workspace if one of them reads.
   */
  readonly tools: readonly ToolName[];
  /** Canonical arguments that `Sent.args` has beside those of the parameters. */
  readonly fixed: Arguments;
  /** Returns the canonical call for the arguments that were sent. @throws FilewrightError INVALID_ARGUMENT */
  readonly call: (sent: Sent) => Meant;
}

const WORDING = { text: callback(), refuse: callback(), brief: flag(), json: flag() };
const checkTool = optionChecker("call", required(choiceOf(TOOLS.map(({ name }) => name as ToolName))));
const checkCall = optionChecker(
  "call",
  options("CanonicalCall", { ...WORDING, args: required(mapOf(anything())), instead: callback() }),
);
const checkUsual = optionChecker("calls", options("UsualMeaning", { ...WORDING, fixed: mapOf(anything()) }));

/**
 * Defines a canonical call. Its tool determines the types that its texts receive.
 * @throws FilewrightError INVALID_ARGUMENT for an unknown tool or option
 */
export function call<Name extends ToolName>(
  of: Name,
  how: Wording<Name> & Pick<Meant, "args"> & Partial<Pick<Meant, "instead">>,
): Meant {
  checkTool(of);
  checkCall(how);
  const { args, text, refuse, brief = false, json = false, instead } = how;
  return { of, args, text, refuse, brief, json, instead, ignoreFiles: undefined, excludeLines: undefined };
}

/** The usual meaning: always a call of one canonical tool. */
export interface UsualMeaning<Name extends ToolName = ToolName> extends Wording<Name> {
  /** Canonical arguments that always have this value. Default: none. */
  readonly fixed?: Partial<ToolArgs[Name]>;
}

/**
 * Defines the meaning of a tool whose calls are always those of one canonical tool.
 * @throws FilewrightError INVALID_ARGUMENT for an unknown tool or option
 */
export function calls<Name extends ToolName>(of: Name, usual: UsualMeaning<Name> = {}): Meaning {
  checkUsual(usual);
  const { fixed = {}, ...wording } = usual;
  const made = call(of, { ...wording, args: {} });
  return { tools: [of], fixed, call: ({ args }) => ({ ...made, args }) };
}

/** Defines the meaning of a tool whose arguments decide about the call. `tools` are all that it may call. */
export function byArguments(tools: readonly ToolName[], meant: Meaning["call"]): Meaning {
  return { tools, fixed: {}, call: meant };
}
