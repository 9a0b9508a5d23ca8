/** `write_file`: creates, replaces or extends one file, whole or not at all. */
import type { Location } from "../access/index.ts";
import type { WriteOptions } from "../backends/backend.ts";
import { lstatOrNull, realpathVia, writeVia } from "../backends/fallback.ts";
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import { expectHash, movedOn, normalHash, readWhole, wantFile } from "./contents.ts";
import { diffOf } from "./difference.ts";
import { contentPreview, encodeLike } from "./preview.ts";
import { compile, object } from "./schema.ts";
import { choice, EXPECTED_HASH, flag, integer, path, PATH_ALIASES, text, WARNINGS } from "./shared.ts";
import { countLines, escapeControls, isWellFormed, utf8 } from "./text.ts";
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
  /** What to know besides, such as that a file was written which decides what programs run. */
  readonly warnings?: readonly string[];
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
  readonly found: Found;
  /** The whole new content. */
  readonly bytes: Uint8Array;
  readonly condition: WriteOptions;
  readonly data: WriteFileData;
}

type Optional = "mode" | "expected_hash" | "encoding";
type Args = Required<Omit<WriteFileArgs, Optional>> & Pick<WriteFileArgs, Optional>;

/** Both sides up to this many bytes are compared for `data.diff`. */
const MAX_DIFF_BYTES = 1024 * 1024;

const inputSchema = object(
  {
    path: path("The file to write"),
    content: text("The whole new content, written as it is: no line ending or final newline is added."),
    overwrite: flag("Replace an existing file. When false an existing file is ALREADY_EXISTS.", true),
    create_dirs: flag("Make missing parent directories.", true),
    append: flag("Add the content to the end of the file instead of replacing it.", false),
    encoding: text(
      "Encoding of the file, such as utf-8, utf-16le or latin1. Default: utf-8; that of the file when appending.",
    ),
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
    warnings: WARNINGS,
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
  aliases: PATH_ALIASES,
  parse: compile<Args>("write_file", inputSchema),
  paths: (args) => [{ argument: "path", typed: args.path, intent: "write" }],
  plan,
  async preview({ todo: { found, bytes } }, args, call) {
    // A large file was not read for the plan; its reviewer sees it all the same.
    const unread = found.exists && found.bytes === null;
    const before = unread
      ? (await readWhole(call, call.locations[0]!, call.limits.grepFileBytes)).bytes
      : found.bytes;
    const title = `${!found.exists ? "Create" : args.append ? "Add to" : "Replace"} ${args.path}`;
    const risk = found.exists && !args.append ? "medium" : "low";
    const { path } = call.locations[0]!;
    return contentPreview({ title, location: 0, risk }, before, bytes, {
      typed: args.path,
      path,
      mode: args.mode,
    });
  },
  revise: ({ todo }, args, newContent, call) =>
    planned(
      { ...args, append: false, content_encoding: "base64" },
      call,
      todo.found,
      encodeLike(newContent, todo.bytes),
    ),
  apply,
  render(data, args) {
    const verb = data.operation === "create" ? "Created" : "Updated";
    return `${verb} ${escapeControls(args.path)} (${data.lines_written} lines, ${data.bytes_written} bytes)`;
  },
};

/** What is at the path before the write. */
interface Found {
  readonly exists: boolean;
  /** Null where there is nothing, or where it was not worth reading. */
  readonly bytes: Uint8Array | null;
  readonly version: string | null;
  /** Where the write goes: the path, or what a link to nothing leads to. */
  readonly target: string;
}

async function plan(args: Args, call: Call): Promise<Plan<WriteFileData, Todo>> {
  const at = call.locations[0]!;
  const found = await look(args, call, at);
  if (found.exists && !args.overwrite && !args.append) throw refuse("ALREADY_EXISTS", at);
  if (args.expected_hash !== undefined) {
    expectHash(
      at,
      normalHash(args.expected_hash),
      found.bytes === null ? null : engine().sha256(found.bytes),
    );
  }
  return planned(args, call, found);
}

async function look(args: Args, call: Call, at: Location): Promise<Found> {
  await wantFile(call.fs, at).catch((error: unknown) => {
    if (!(error instanceof FilewrightError) || error.code !== "NOT_FOUND") throw error;
    throw refuse("INVALID_ARGUMENT", at, {
      complete: true,
      message: "Invalid argument 'path': it ends in '/', which names a directory, not a file.",
    });
  });
  const needed = args.append || args.eol === "keep" || args.expected_hash !== undefined;
  const limit = needed ? call.limits.grepFileBytes : MAX_DIFF_BYTES;
  try {
    const { bytes, version } = await readWhole(call, at, limit);
    return { exists: true, bytes, version, target: at.path };
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    if (error.code === "NOT_FOUND") return lookAtNothing(args, call, at);
    // Without a need for the old content a file that is huge, or closed to readers, is replaced unread.
    if (needed || (error.code !== "TOO_LARGE" && error.code !== "PERMISSION_DENIED")) throw error;
    const { version } = await call.fs.stat(at.path);
    return { exists: true, bytes: null, version: version ?? null, target: at.path };
  }
}

/** A link to nothing is written through: its target is what is made. */
async function lookAtNothing(args: Args, call: Call, at: Location): Promise<Found> {
  const link = await lstatOrNull(call.fs, at.path);
  if (link !== null && !args.overwrite) throw refuse("ALREADY_EXISTS", at);
  const target = link === null ? at.path : await realpathVia(call.fs, at.path);
  return { exists: false, bytes: null, version: null, target };
}

/** The plan once the old content is known. */
function planned(args: Args, call: Call, found: Found, content?: Uint8Array): Plan<WriteFileData, Todo> {
  const at = call.locations[0]!;
  const { exists, bytes: before, version } = found;
  const given = content ?? encode(args, call, before);
  const bytes = args.append && before !== null ? engine().joined(before, given) : given;
  const data: WriteFileData = {
    path: call.display(at.path),
    operation: !exists ? "create" : args.append ? "append" : "update",
    bytes_written: given.length,
    lines_written: args.content_encoding === "base64" ? lineCount(given) : countLines(args.content),
    hash: engine().sha256(bytes),
    ...(before !== null && isShown(before) && isShown(bytes)
      ? { diff: diffOf(before, bytes, args.path) }
      : {}),
  };
  const condition: WriteOptions = {
    createDirs: args.create_dirs,
    durability: call.durability,
    signal: call.signal,
    ...(exists ? (version === null ? {} : { ifVersion: version }) : { ifAbsent: true }),
    ...(args.mode === undefined ? {} : { mode: Number.parseInt(args.mode, 8) }),
  };
  return { todo: { found, bytes, condition, data }, base: [{ path: at.path, version }] };
}

/** Whether a content is text of a size worth comparing. */
function isShown(bytes: Uint8Array): boolean {
  return bytes.length <= MAX_DIFF_BYTES && !bytes.includes(0);
}

async function apply(
  { todo }: Plan<WriteFileData, Todo>,
  args: Args,
  call: Call,
): Promise<Answer<WriteFileData>> {
  try {
    const { version } = await writeVia(call.fs, todo.found.target, todo.bytes, {
      ...todo.condition,
      hash: todo.data.hash,
    });
    // What is before an addition may never have been read.
    const seen = args.append ? [undefined, undefined] : [version, todo.data.hash];
    call.seen.note(call.locations[0]!.path, seen[0], seen[1]);
  } catch (error) {
    throw movedOn(error, todo.condition, args.overwrite || args.append);
  }
  return { data: todo.data };
}

/** The given content as bytes. @throws INVALID_ARGUMENT, ENCODING_ERROR */
function encode(args: Args, call: Call, before: Uint8Array | null): Uint8Array {
  if (args.content_encoding === "base64") return fromBase64(args.content);
  if (!isWellFormed(args.content)) {
    throw refuse("ENCODING_ERROR", call.locations[0], {
      message: "content holds an unpaired surrogate, which has no encoding",
      hint: "send well-formed text",
    });
  }
  const eol = args.eol === "keep" ? (before === null ? "as_is" : dominantEol(before)) : args.eol;
  const content = eol === "as_is" ? args.content : withEol(args.content, eol);
  const encoding = args.encoding ?? (args.append && before !== null ? encodingOf(before) : "utf-8");
  return /^utf-?8$/iu.test(encoding) ? utf8(content) : engine().encodeText(content, encoding);
}

/** What is added to a file is in the file's own encoding. */
function encodingOf(before: Uint8Array): string {
  return engine().inspect(before).encoding ?? "utf-8";
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

function fromBase64(given: string): Uint8Array {
  let binary: string;
  try {
    binary = atob(given);
  } catch {
    throw new FilewrightError("INVALID_ARGUMENT", "Invalid argument 'content': it is not base64.", {
      complete: true,
      details: { argument: "content" },
    });
  }
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
