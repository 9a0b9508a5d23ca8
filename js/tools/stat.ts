/** `stat`: returns the facts about one path. */
import { hashOf } from "../backends/fallback/fallback.ts";
import type { FsStat } from "../backends/backend.ts";
import { nameOf } from "../backends/paths.ts";
import { engine } from "../engine/current.ts";
import { HIDDEN_TARGET_TEXT, shownLinkTarget } from "./render/link-target.ts";
import type { StatData } from "./generated/types.ts";
import type { CheckedArgs } from "./generated/internal.ts";
import { compileArgumentCheck, object } from "./lib/schema.ts";
import { CHANGED_SCHEMA, flag, integer, path, PATH_ALIASES, text } from "./lib/shared.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { escapeControls, plural } from "../engine/escape.ts";
import { lazily } from "../engine/lazy.ts";
import { formatIsoTime } from "./lib/text.ts";
import { type Call, type ReadingTool, locationError } from "./lib/tool.ts";

const changes = lazily("changes since a read", () => import("./lib/changed.ts"));

const inputSchema = object(
  {
    path: path("The file, directory or link"),
    follow: flag("Tell about what a symbolic link leads to; false: about the link itself.", true),
    hash: flag("Also compute the sha256 of a file's content, for expected_hash.", false),
  },
  ["path"],
);

const outputSchema = object(
  {
    name: text("The last part of the path."),
    path: text("The path, relative to the workspace."),
    type: {
      type: "string",
      enum: ["file", "dir", "symlink", "other"],
      description: "`other` is a FIFO, socket or device.",
    },
    size: integer("Bytes."),
    mode: text("Permission bits in octal."),
    mode_string: text("Type and permissions as ls shows them."),
    created: text("ISO 8601, UTC."),
    modified: text("ISO 8601, UTC."),
    accessed: text("ISO 8601, UTC."),
    is_dir: { type: "boolean", description: "Whether it is a directory." },
    is_file: { type: "boolean", description: "Whether it is a regular file." },
    is_symlink: { type: "boolean", description: "Whether it is a symbolic link." },
    target: text("Where a link points, as written."),
    mime: text("Media type, from the first bytes and the name."),
    hash: text("sha256 of the content."),
    version: text("Opaque; changes with the content."),
    changed: CHANGED_SCHEMA,
  },
  ["name", "path", "type", "size", "modified", "is_dir", "is_file", "is_symlink"],
);

/**
 * The fields that the text contains, one on each line. It does not contain the version, which is for
 * programs; a model has the hash.
 */
const SHOWN_FIELDS = [
  "name",
  "path",
  "type",
  "size",
  "mode",
  "mode_string",
  "created",
  "modified",
  "accessed",
  "is_dir",
  "is_file",
  "is_symlink",
  "target",
  "hash",
  "mime",
  "changed",
] as const satisfies readonly (keyof StatData)[];

/** The number of bytes at the beginning of a file from which its type is detected. */
const MAX_DETECTION_BYTES = 8192;

/** Returns the facts about one path. */
export const stat: ReadingTool<CheckedArgs["stat"], StatData> = {
  kind: "read",
  name: "stat",
  title: "File facts",
  traits: ["endsAtOnce", "readsContents", "standsForLooking"],
  otherNames: {
    names: /^(?:fileinfo|getfileinfo|metadata|exists)$/u,
    does: "tells about a path",
  },
  description: `Tells type, size, permissions, times and media type of one file, directory or symbolic link, without reading it whole. With hash: true also the sha256 of a file, which expected_hash of write_file and edit_file takes. For many entries at once use list_directory.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  aliases: PATH_ALIASES,
  parse: compileArgumentCheck("stat", inputSchema),
  paths: (args) => [
    { argument: "path", typed: args.path, intent: "read", entry: !args.follow, missing: "refuse" },
  ],
  async run(args, call) {
    const at = call.locations[0]!;
    const facts = args.follow ? await call.fs.stat(at.path) : await call.fs.lstat(at.path);
    if (at.directory && !facts.isDir) throw locationError("NOT_DIRECTORY", at);
    call.seen.noteListed([at.path]);
    // The content is read only if the hash or the media type is needed.
    const looked = facts.isFile && (args.hash || !call.reader.brief);
    const content = looked ? await contentFacts(at.path, facts, args.hash, call) : NOT_READ;
    const target = facts.type === "symlink" ? await shownLinkTarget(call, at.path, facts.target) : undefined;
    const changed = facts.isFile ? await changeOfFile(call, at.path, facts.version) : undefined;
    const data: StatData = withoutUndefined({
      name: nameOf(at.path) || "/",
      path: call.reader.display(at.path),
      type: facts.type,
      size: facts.size,
      mode: facts.mode === undefined ? undefined : formatOctalMode(facts.mode),
      mode_string: facts.mode === undefined ? undefined : formatModeLetters(facts),
      created: facts.birthtime === undefined ? undefined : formatIsoTime(facts.birthtime),
      modified: formatIsoTime(facts.mtime),
      accessed: facts.atime === undefined ? undefined : formatIsoTime(facts.atime),
      is_dir: facts.isDir,
      is_file: facts.isFile,
      is_symlink: facts.type === "symlink",
      target,
      ...content,
      version: facts.version,
      changed,
    });
    return { data };
  },
  texts: {
    render: (data) => {
      let text = "";
      for (const key of SHOWN_FIELDS) {
        const value = key === "target" && data.is_symlink ? (data.target ?? HIDDEN_TARGET_TEXT) : data[key];
        if (value === undefined) continue;
        const shown = typeof value === "string" ? escapeControls(value) : value;
        const name = key === "changed" ? "changed since you read it" : key;
        text += text === "" ? `${name}: ${shown}` : `\n${name}: ${shown}`;
      }
      return text;
    },
    display: ({ path, type, size }) =>
      `Looked at ${escapeControls(path)}: ${ENTRY_TYPE_NAMES[type]}${type === "file" ? `, ${plural(size, "byte")}` : ""}`,
  },
};

/** Facts for which the content is read. */
interface ContentFacts {
  readonly hash: string | undefined;
  readonly mime: string | undefined;
}

/** Returns what changed in a file since the caller read it, where the workspace knows; undefined for nothing. */
async function changeOfFile(
  call: Call,
  path: string,
  version: string | undefined,
): Promise<string | undefined> {
  return call.settings.knows ? (await changes()).changeAt(call, path, version) : undefined;
}

const NOT_READ: ContentFacts = { hash: undefined, mime: undefined };

async function contentFacts(path: string, facts: FsStat, hash: boolean, call: Call): Promise<ContentFacts> {
  const digest = { hash: hash ? await hashOf(call.fs, path, call.signal) : undefined, mime: undefined };
  if (facts.size > MAX_DETECTION_BYTES && !call.fs.abilities.ranges) return digest;
  try {
    const head = await call.fs.read(path, {
      range: { start: 0, end: MAX_DETECTION_BYTES },
      signal: call.signal,
    });
    return head === null ? digest : { ...digest, mime: mimeTypeOf(head.bytes, path, facts.size) };
  } catch {
    return digest; // Not readable: its facts are still returned.
  }
}

function mimeTypeOf(bytes: Uint8Array, path: string, size: number): string {
  const head = bytes.subarray(0, MAX_DETECTION_BYTES);
  return engine().inspect(head, { name: path, partial: size > head.length }).mime;
}

/** Returns the permission bits in octal, such as `0644`. */
function formatOctalMode(mode: number): string {
  return `0${(mode & 0o7777).toString(8).padStart(3, "0")}`;
}

/** Returns type and permissions as `ls` shows them, such as `-rw-r--r--`. */
function formatModeLetters({ type, mode = 0 }: Pick<FsStat, "type" | "mode">): string {
  const kind = { file: "-", dir: "d", symlink: "l", other: "?" }[type];
  const owner = permissionTriple(mode >> 6, (mode & 0o4000) !== 0, "s");
  const group = permissionTriple(mode >> 3, (mode & 0o2000) !== 0, "s");
  return kind + owner + group + permissionTriple(mode, (mode & 0o1000) !== 0, "t");
}

const PERMISSION_TRIPLES: readonly string[] = ["---", "--x", "-w-", "-wx", "r--", "r-x", "rw-", "rwx"];

/**
 * Returns the three letters for the last three permission bits. If the special bit (setuid, setgid or sticky)
 * is set, its `letter` replaces `x`: in lower case if `x` is set, otherwise in upper case.
 */
function permissionTriple(bits: number, special: boolean, letter: string): string {
  const plain = PERMISSION_TRIPLES[bits & 7] as string;
  return special ? plain.slice(0, 2) + (bits & 1 ? letter : letter.toUpperCase()) : plain;
}

const ENTRY_TYPE_NAMES = {
  file: "a file",
  dir: "a directory",
  symlink: "a link",
  other: "a special file",
} as const;
