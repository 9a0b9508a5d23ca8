/** `edit_file`: replaces text in one file, right or not at all. */
import type { WriteOptions } from "../backends/backend.ts";
import { writeVia } from "../backends/fallback.ts";
import { engine } from "../engine/current.ts";
import type { AppliedEdit, BytesPlan, EditInput, EditOptions, MatchMode } from "../engine/edit.ts";
import { FilewrightError } from "../engine/errors.ts";
import { expectHash, isTextKind, movedOn, normalHash, readWhole } from "./contents.ts";
import { diffOf } from "./difference.ts";
import { contentPreview, encodeLike } from "./preview.ts";
import { type Arguments, compile, object, type Schema } from "./schema.ts";
import { choice, EXPECTED_HASH, flag, integer, PATH_ALIASES, path, text } from "./shared.ts";
import { escapeControls, isWellFormed } from "./text.ts";
import { type Answer, type Call, type ChangingTool, type Plan, refuse } from "./tool.ts";

/** One replacement. */
export interface EditArgs {
  readonly old_text: string;
  readonly new_text?: string;
  readonly replace_all?: boolean;
  readonly expected_matches?: number;
  readonly near_line?: number;
}

/** The arguments of `edit_file`: a list of edits, or the fields of one. */
export interface EditFileArgs extends Partial<EditArgs> {
  readonly path: string;
  readonly edits?: readonly EditArgs[];
  readonly dry_run?: boolean;
  readonly match?: MatchMode;
  readonly on_multiple?: "error" | "first";
  readonly expected_hash?: string;
}

/** What became of one edit. Lines are 1-based, of the text that the edit was applied to. */
export interface EditOutcome {
  readonly index: number;
  readonly matches: number;
  readonly tier: MatchMode;
  readonly start_line: number;
  readonly end_line: number;
}

/** What `edit_file` did. */
export interface EditFileData {
  readonly path: string;
  /** False for a dry run. */
  readonly applied: boolean;
  readonly replacements: number;
  readonly edits: readonly EditOutcome[];
  readonly diff: string;
  /** Of the whole file. */
  readonly bytes_written: number;
  /** Of the whole file after the edit. */
  readonly hash: string;
  /** Whether the diff is cut. */
  readonly truncated?: boolean;
}

interface Args extends Pick<EditFileArgs, "path" | "expected_hash"> {
  readonly edits: readonly EditArgs[];
  readonly dry_run: boolean;
  readonly match: MatchMode;
  readonly on_multiple: "error" | "first";
}

interface Todo {
  readonly before: Uint8Array;
  readonly bytes: Uint8Array;
  readonly version: string;
  readonly data: EditFileData;
}

const OLD_TEXT =
  "The text to replace, copied from the file without line numbers; with enough lines around it to be there only once.";

const editFields: Readonly<Record<string, Schema>> = {
  old_text: text(OLD_TEXT, { minLength: 1 }),
  new_text: text("The text to put there; leave it out to delete.", { default: "" }),
  replace_all: flag("Replace every occurrence instead of refusing more than one.", false),
  expected_matches: integer("Replace exactly this many occurrences, or refuse.", { minimum: 1 }),
  near_line: integer("Of several occurrences take the one nearest to this line.", { minimum: 1 }),
};

const inputSchema = object(
  {
    path: path("The file to edit"),
    edits: {
      type: "array",
      minItems: 1,
      items: object(editFields, ["old_text"]),
      description:
        "The replacements, applied in order, each on the result of those before; all of them or none. For one alone its fields may stand at the top level instead.",
    },
    old_text: text(`For a single edit: ${OLD_TEXT}`, { minLength: 1 }),
    new_text: text("For a single edit: the text to put there."),
    replace_all: { type: "boolean", description: "For a single edit: replace every occurrence." },
    expected_matches: integer("For a single edit: replace exactly this many occurrences, or refuse.", {
      minimum: 1,
    }),
    near_line: integer("For a single edit: take the occurrence nearest to this line.", { minimum: 1 }),
    dry_run: flag("Only show the diff; nothing is written.", false),
    match: choice(
      "How strictly old_text must match: exact (line ends aside), whitespace (indentation and blanks may differ), or fuzzy (small slips too).",
      ["exact", "whitespace", "fuzzy"],
      "whitespace",
    ),
    on_multiple: choice("What to do where an edit fits in several places.", ["error", "first"], "error"),
    expected_hash: EXPECTED_HASH,
  },
  ["path"],
);

const outputSchema = object(
  {
    path: text("The file, relative to the workspace."),
    applied: { type: "boolean", description: "False for a dry run." },
    replacements: integer("Places replaced."),
    edits: {
      type: "array",
      description: "What became of each edit.",
      items: object(
        {
          index: integer("Position in the list, from 0."),
          matches: integer("Places replaced."),
          tier: {
            type: "string",
            enum: ["exact", "whitespace", "fuzzy"],
            description: "How they were found.",
          },
          start_line: integer("First line replaced, before this edit."),
          end_line: integer("Last line replaced, before this edit."),
        },
        ["index", "matches", "tier", "start_line", "end_line"],
      ),
    },
    diff: text("Unified diff of the whole change."),
    bytes_written: integer("Bytes of the file now."),
    hash: text("Hash of the file now, for expected_hash."),
    truncated: { type: "boolean", description: "Whether the diff is cut." },
  },
  ["path", "applied", "replacements", "edits", "diff", "bytes_written", "hash"],
);

/** Replaces text in one file. */
export const editFile: ChangingTool<Args, EditFileData, Todo> = {
  kind: "change",
  name: "edit_file",
  title: "Edit file",
  description: `Replaces text in an existing file: each edit gives old_text as it stands in the file and the new_text for it. An old_text that is missing, or there more than once, is refused with the line that comes nearest or the lines where it stands, and nothing is written; several edits are made all or none. Returns the diff.
Read the place first and copy old_text exactly, without the line numbers. Give a few lines around the change rather than one common line. Line ends, encoding and untouched bytes of the file are kept. dry_run shows the diff only. For a new file, or to rewrite one, use write_file.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  aliases: PATH_ALIASES,
  parse: oneForm(compile<Omit<Args, "edits"> & EditFileArgs>("edit_file", inputSchema)),
  paths: (args) => [{ argument: "path", typed: args.path, intent: "write" }],
  plan,
  preview: ({ todo }, args) =>
    contentPreview(
      { title: `Edit ${args.path}`, location: 0, risk: "low" },
      todo.before,
      todo.bytes,
      args.path,
    ),
  revise({ todo, base }, args, newContent) {
    const bytes = encodeLike(newContent, todo.before);
    const data = {
      ...todo.data,
      diff: diffOf(todo.before, bytes, args.path),
      bytes_written: bytes.length,
      hash: engine().sha256(bytes),
    };
    return { todo: { ...todo, bytes, data }, base };
  },
  apply,
  render(data, args) {
    const head = data.applied
      ? `Edited ${escapeControls(args.path)}: ${data.replacements} replacement(s)`
      : "Dry run, nothing written";
    return `${head}\n${data.diff.replace(/\n$/u, "")}`;
  },
};

/** One edit at the top level becomes a list of one. */
function oneForm(parse: (args: Arguments) => Omit<Args, "edits"> & EditFileArgs): (args: Arguments) => Args {
  return (given) => {
    const { old_text, new_text, replace_all, expected_matches, near_line, edits, ...rest } = parse(given);
    const single = { old_text, new_text, replace_all, expected_matches, near_line };
    const stray = Object.entries(single).find(([, value]) => value !== undefined)?.[0];
    const refused = (argument: string, what: string): FilewrightError =>
      new FilewrightError("INVALID_ARGUMENT", `Invalid argument '${argument}': ${what}.`, {
        complete: true,
        details: { tool: "edit_file", argument },
      });
    if (edits !== undefined) {
      if (stray !== undefined) throw refused(stray, "give edits, or one edit at the top level, not both");
      return { ...rest, edits };
    }
    if (old_text === undefined) {
      throw stray === undefined
        ? refused("edits", "is required: a list of {old_text, new_text}")
        : refused("old_text", "is required beside the other fields of an edit");
    }
    return { ...rest, edits: [{ ...single, old_text } as EditArgs] };
  };
}

async function plan(args: Args, call: Call): Promise<Plan<EditFileData, Todo>> {
  const at = call.locations[0]!;
  const { bytes: before, version } = await readWhole(call, at, call.limits.grepFileBytes);
  if (args.expected_hash !== undefined) {
    expectHash(at, normalHash(args.expected_hash), engine().sha256(before));
  }
  const planned = await replaced(before, args, call);
  if (!planned.ok) throw planned.error;
  const { bytes, diff, edits, replacements } = planned;
  const data: EditFileData = {
    path: call.display(at.path),
    applied: !args.dry_run,
    replacements,
    edits: edits.map(outcome),
    diff: diff.text,
    bytes_written: bytes.length,
    hash: engine().sha256(bytes),
    ...(diff.truncated ? { truncated: true } : {}),
  };
  const todo = { before, bytes, version, data };
  const base = [{ path: at.path, version }];
  return args.dry_run ? { settled: { data }, todo, base } : { todo, base };
}

/** The bytes after the edits, in the file's own encoding. @throws BINARY_FILE, ENCODING_ERROR */
async function replaced(before: Uint8Array, args: Args, call: Call): Promise<BytesPlan> {
  const at = call.locations[0]!;
  const edits = args.edits.map((edit): EditInput => {
    if (!isWellFormed(edit.old_text) || !isWellFormed(edit.new_text ?? "")) {
      throw refuse("ENCODING_ERROR", at, {
        message: "an edit holds an unpaired surrogate, which has no encoding",
        hint: "send well-formed text",
      });
    }
    return {
      oldText: edit.old_text,
      newText: edit.new_text ?? "",
      replaceAll: edit.replace_all,
      expectedMatches: edit.expected_matches,
      nearLine: edit.near_line,
    };
  });
  const options: EditOptions = {
    match: args.match,
    onMultiple: args.on_multiple,
    path: args.path,
    limits: { bytes: call.limits.outputBytes },
  };
  const { kind, mime, encoding } = engine().inspect(before, { name: at.path });
  if (!isTextKind(kind)) {
    throw refuse("BINARY_FILE", at, { details: { kind, mime, size: before.length } });
  }
  return engine().planEditsBytesAsync(before, edits, { ...options, encoding: encoding ?? "utf-8" });
}

async function apply(
  { todo }: Plan<EditFileData, Todo>,
  _args: Args,
  call: Call,
): Promise<Answer<EditFileData>> {
  const condition: WriteOptions = {
    ifVersion: todo.version,
    durability: call.durability,
    signal: call.signal,
  };
  try {
    await writeVia(call.fs, call.locations[0]!.path, todo.bytes, condition);
  } catch (error) {
    throw movedOn(error, condition, true);
  }
  return { data: todo.data };
}

function outcome(edit: AppliedEdit): EditOutcome {
  return {
    index: edit.index,
    matches: edit.matches,
    tier: edit.tier,
    start_line: edit.startLine,
    end_line: edit.endLine,
  };
}
