/** `write_file`: creates, replaces or extends one file, whole or not at all. */
import type { WriteOptions } from "../backends/backend.ts";
import { writeVia } from "../backends/fallback.ts";
import { encodeText } from "../backends/text.ts";
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import {
  expectHash,
  movedOn,
  normalHash,
  readWhole,
  readWholeOrNull,
  statOrNull,
  wantFile,
} from "./contents.ts";
import { diffOf } from "./difference.ts";
import { compile, object } from "./schema.ts";
import { choice, EXPECTED_HASH, flag, integer, path, PATH_ALIASES, text } from "./shared.ts";
import { countLines, escapeControls, isWellFormed } from "./text.ts";
import { type Answer, type Call, type ChangingTool, type Plan, refuse } from "./tool.ts";

/** The arguments of `write_file`. */
export interface WriteFileArgs {
  readonly path: string;
  readonly content: string;
  readonly overwrite?: boolean;
  readonly create_dirs?: boolean;
  readonly append?: boolean;
  readonly encoding?: string;
  readonly content_encoding?: "text" | "base64";
  readonly eol?: "as_is" | "lf" | "crlf" | "keep";
  readonly mode?: string;
  readonly expected_hash?: string;
}

/** What `write_file` did. */
export interface WriteFileData {
  readonly path: string;
  readonly operation: "create" | "update" | "append";
  /** Of the given content, once encoded. */
  readonly bytes_written: number;
  readonly lines_written: number;
  /** Of the whole file. */
  readonly hash: string;
  /** Against the content before, where both are text of moderate size. */
  readonly diff?: string;
}

interface Todo {
  /** The whole new content. */
  readonly bytes: Uint8Array;
  readonly before: Uint8Array | null;
  readonly condition: WriteOptions;
  readonly data: WriteFileData;
}

type Args = Required<Omit<WriteFileArgs, "mode" | "expected_hash">> &
  Pick<WriteFileArgs, "mode" | "expected_hash">;

/** Both sides up to this many bytes are compared for `data.diff`. */
const MAX_DIFF_BYTES = 1024 * 1024;

const inputSchema = object(
  {
    path: path("The file to write"),
    content: text("The whole new content, written as it is: no line ending or final newline is added."),
    overwrite: flag("Replace an existing file. When false an existing file is ALREADY_EXISTS.", true),
    create_dirs: flag("Make missing parent directories.", true),
    append: flag("Add the content to the end of the file instead of replacing it.", false),
    encoding: text("Encoding of a text file, such as utf-8, utf-16le or latin1.", { default: "utf-8" }),
    content_encoding: choice(
      "How `content` is given; base64 writes the decoded bytes.",
      ["text", "base64"],
      "text",
    ),
    eol: choice(
      "Line endings: as given, all LF, all CRLF, or those of the file being replaced.",
      ["as_is", "lf", "crlf", "keep"],
      "as_is",
    ),
    mode: text(
      "Permission bits in octal, such as 0755. Default: kept, or the system's default for a new file.",
      { pattern: "^0?[0-7]{3,4}$" },
    ),
    expected_hash: EXPECTED_HASH,
  },
  ["path", "content"],
);

const outputSchema = object(
  {
    path: text("The file, relative to the workspace."),
    operation: choice("What happened.", ["create", "update", "append"], "update"),
    bytes_written: integer("Bytes of the given content."),
    lines_written: integer("Lines of the given content."),
    hash: text("Hash of the whole file now, for expected_hash."),
    diff: text("Unified diff against the content before."),
  },
  ["path", "operation", "bytes_written", "lines_written", "hash"],
);

/** Creates, replaces or extends one file. */
export const writeFile: ChangingTool<Args, WriteFileData, Todo> = {
  kind: "change",
  name: "write_file",
  title: "Write file",
  description: `Creates a file, or replaces or extends one, atomically: readers see the old content or the new, never a part.
Use it for new files and for rewriting a file completely. To change parts of an existing file use edit_file, which is shorter and safer.
Missing directories are made. Existing files are replaced unless overwrite is false; pass expected_hash from read_file to be sure that nobody changed the file meanwhile. The content is written exactly as given; mode and owner of an existing file are kept.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  parse: compile<Args>("write_file", inputSchema, PATH_ALIASES),
  paths: (args) => [{ argument: "path", typed: args.path, intent: "write" }],
  plan,
  async preview({ todo: { before: read, bytes, data } }, args, call) {
    // A large file was not read for the plan; its reviewer sees it all the same.
    const before =
      read ??
      (data.operation === "create"
        ? null
        : (await readWhole(call, call.locations[0]!, call.limits.grepFileBytes)).bytes);
    return {
      title: `${data.operation === "create" ? "Create" : "Change"} ${args.path}`,
      location: 0,
      diff: data.diff ?? diffOf(before, bytes, args.path),
      originalContent: before === null ? null : new TextDecoder().decode(before),
      newContent: new TextDecoder().decode(bytes),
    };
  },
  revise: (plan, args, newContent, call) =>
    planned(
      { ...args, append: false, content_encoding: "text", eol: "as_is", content: newContent },
      call,
      plan.todo.before,
      plan.base[0]?.version ?? null,
      plan.todo.data.operation !== "create",
    ),
  apply,
  render(data, args) {
    const verb = data.operation === "create" ? "Created" : "Updated";
    return `${verb} ${escapeControls(args.path)} (${data.lines_written} lines, ${data.bytes_written} bytes)`;
  },
};

async function plan(args: Args, call: Call): Promise<Plan<WriteFileData, Todo>> {
  const at = call.locations[0]!;
  const { fs, limits } = call;
  if (at.directory) {
    await wantFile(fs, at).catch((error: unknown) => {
      if (!(error instanceof FilewrightError) || error.code !== "NOT_FOUND") throw error;
      throw refuse("INVALID_ARGUMENT", at, {
        message: "Invalid argument 'path': it ends in '/', which names a directory, not a file.",
      });
    });
  }
  const stat = await statOrNull(fs, at.path);
  if (stat?.isDir === true) throw refuse("IS_DIRECTORY", at);
  if (stat?.type === "other") throw refuse("NOT_REGULAR_FILE", at);
  if (stat !== null && !args.overwrite && !args.append) throw refuse("ALREADY_EXISTS", at);
  const needed = args.append || args.eol === "keep" || args.expected_hash !== undefined;
  const shown = stat !== null && stat.size <= MAX_DIFF_BYTES;
  // Without a need for the old content a huge file is replaced unread.
  const old =
    stat !== null && (needed || shown)
      ? await readWholeOrNull(call, at, needed ? limits.grepFileBytes : MAX_DIFF_BYTES)
      : null;
  if (args.expected_hash !== undefined) {
    expectHash(at, normalHash(args.expected_hash), old === null ? null : engine().sha256(old.bytes));
  }
  return planned(args, call, old?.bytes ?? null, old?.version ?? stat?.version ?? null, stat !== null);
}

/** The plan once the old content is known. */
function planned(
  args: Args,
  call: Call,
  before: Uint8Array | null,
  version: string | null,
  exists: boolean,
): Plan<WriteFileData, Todo> {
  const at = call.locations[0]!;
  const given = encode(args, call, before);
  const bytes = args.append && before !== null ? joined(before, given) : given;
  const operation = !exists ? "create" : args.append ? "append" : "update";
  const small = before !== null && before.length <= MAX_DIFF_BYTES && bytes.length <= MAX_DIFF_BYTES;
  const data: WriteFileData = {
    path: call.display(at.path),
    operation,
    bytes_written: given.length,
    lines_written: args.content_encoding === "base64" ? lineCount(given) : countLines(args.content),
    hash: engine().sha256(bytes),
    ...(small ? { diff: diffOf(before, bytes, args.path) } : {}),
  };
  const condition: WriteOptions = {
    createDirs: args.create_dirs,
    durability: call.durability,
    signal: call.signal,
    ...(exists ? (version === null ? {} : { ifVersion: version }) : { ifAbsent: true }),
    ...(args.mode === undefined ? {} : { mode: Number.parseInt(args.mode, 8) }),
  };
  return { todo: { bytes, before, condition, data }, base: [{ path: at.path, version }] };
}

async function apply(
  { todo }: Plan<WriteFileData, Todo>,
  args: Args,
  call: Call,
): Promise<Answer<WriteFileData>> {
  const at = call.locations[0]!;
  try {
    await writeVia(call.fs, at.path, todo.bytes, todo.condition);
  } catch (error) {
    throw movedOn(error, todo.condition, args.overwrite || args.append);
  }
  return { data: todo.data };
}

/** The given content as bytes. @throws INVALID_ARGUMENT, ENCODING_ERROR */
function encode(args: Args, call: Call, before: Uint8Array | null): Uint8Array {
  const at = call.locations[0]!;
  if (args.content_encoding === "base64") return fromBase64(args.content);
  if (!isWellFormed(args.content)) {
    throw refuse("ENCODING_ERROR", at, {
      message: "content holds an unpaired surrogate, which has no encoding",
      hint: "send well-formed text",
    });
  }
  const eol = args.eol === "keep" ? (before === null ? "as_is" : dominantEol(before)) : args.eol;
  const content = eol === "as_is" ? args.content : withEol(args.content, eol);
  return encodeText(content, args.encoding, at.path);
}

function withEol(content: string, eol: "lf" | "crlf"): string {
  return content.replace(/\r?\n/gu, eol === "lf" ? "\n" : "\r\n");
}

/** The line ending most lines of the file have. */
function dominantEol(bytes: Uint8Array): "lf" | "crlf" {
  let crlf = 0;
  let lf = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
    if (bytes[at - 1] === 13) crlf += 1;
    else lf += 1;
  }
  return crlf > lf ? "crlf" : "lf";
}

function lineCount(bytes: Uint8Array): number {
  let lines = bytes.length > 0 && bytes[bytes.length - 1] !== 10 ? 1 : 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines += 1;
  return lines;
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

function fromBase64(given: string): Uint8Array {
  let binary: string;
  try {
    binary = atob(given);
  } catch {
    throw new FilewrightError("INVALID_ARGUMENT", "Invalid argument 'content': it is not base64.", {
      details: { argument: "content" },
    });
  }
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
