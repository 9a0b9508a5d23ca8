/** `delete`: removes a file, a link or a directory. */
import type { FsStat } from "../backends/backend.ts";
import { lstatOrNull } from "../backends/fallback/fallback.ts";
import type { Heading } from "./change/change.ts";
import { currentVersion } from "./lib/contents.ts";
import type { DeleteData } from "./generated/types.ts";
import type { CheckedArgs } from "./generated/internal.ts";
import { compileArgumentCheck, object } from "./lib/schema.ts";
import {
  TIMEOUT_BEFORE_WRITING_TEXT,
  flag,
  integer,
  path,
  PATH_ALIASES,
  text,
  timeoutSchema,
  WARNINGS_SCHEMA,
} from "./lib/shared.ts";
import { escapeControls, plural } from "../engine/escape.ts";
import { type ChangingTool, type ShownList, locationError } from "./lib/tool.ts";
import { assertNotRoot } from "./lib/transfer.ts";

const inputSchema = object(
  {
    path: path("What to delete: a file, a link (its target stays) or a directory"),
    recursive: flag(
      "Delete a directory with everything in it. Without it only an empty directory goes.",
      false,
    ),
    missing_ok: flag("Nothing there is a success; when false it is NOT_FOUND.", false),
    timeout_ms: timeoutSchema(TIMEOUT_BEFORE_WRITING_TEXT),
  },
  ["path"],
);

const outputSchema = object(
  {
    path: text("What was deleted, relative to the workspace."),
    files: integer("Files and links removed."),
    directories: integer("Directories removed."),
    warnings: WARNINGS_SCHEMA,
  },
  ["path", "files", "directories"],
);

/** Removes a file, a link or a directory. */
export const deletePath: ChangingTool<CheckedArgs["delete"], DeleteData> = {
  kind: "change",
  name: "delete",
  title: "Delete",
  traits: ["actsOnLinks", "removes"],
  otherNames: {
    names: /^(?:rm|remove|unlink|del)(?:file|dir|directory)?$|^deletefile$|^trash$/u,
    does: "removes files and directories",
  },
  description: `Deletes a file, a symbolic link (never its target) or a directory. A directory that is not empty needs recursive: true and goes with everything in it; there is no undo by this tool, so look with list_directory first. The roots of the workspace cannot be deleted.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  aliases: PATH_ALIASES,
  parse: compileArgumentCheck("delete", inputSchema),
  paths: (args) => [
    { argument: "path", typed: args.path, intent: "write", entry: true, tree: true, missing: "refuse" },
  ],
  async plan(args, call) {
    const at = call.locations[0]!;
    assertNotRoot(call, at);
    const path = call.reader.display(at.path);
    const there = await lstatOrNull(call.fs, at.path);
    if (there === null) {
      if (!args.missing_ok) throw locationError("NOT_FOUND", at);
      return { kind: "settled", answer: { data: { path, files: 0, directories: 0 } } };
    }
    // `link/` names the target directory of a link, but a deletion would remove the link.
    if (at.directory && !there.isDir) throw locationError("NOT_DIRECTORY", at);
    if (there.isDir && !args.recursive && (await call.fs.listDir(at.path)).length > 0)
      throw locationError("NOT_EMPTY", at);
    const version = await currentVersion(call.fs, at.path, true);
    // A deletion depends on the version of a file, and of a link where the backend has one.
    const hasVersion = there.isFile || (!there.isDir && there.version !== undefined);
    return {
      kind: "changes",
      of: "entries",
      changes: [
        {
          do: "remove",
          path: at.path,
          name: args.path,
          type: there.type,
          tree: there.isDir && args.recursive,
          was: { version: hasVersion ? (version ?? undefined) : undefined, bytes: null, stat: undefined },
          isMoved: false,
        },
      ],
      base: [{ path: at.path, version, entry: true }],
      reading: "list",
      by: "call",
      about: (shown) => headingOf(there, args.path, shown),
      answer([outcome]) {
        const { files, directories } = outcome!;
        return { data: { path, files, directories } };
      },
    };
  },
  texts: {
    render: (data, args) =>
      data.files + data.directories === 0
        ? `Nothing to delete: ${escapeControls(args.path)} does not exist`
        : `Deleted ${escapeControls(args.path)} (${plural(data.files, "file")})`,
    display({ path, files, directories }) {
      const counts = [
        ...(directories === 0 ? [] : [plural(directories, "directory", "directories")]),
        ...(files === 0 ? [] : [plural(files, "file")]),
      ];
      return counts.length === 0
        ? `Nothing to delete at ${escapeControls(path)}`
        : `Deleted ${escapeControls(path)}: ${counts.join(", ")}`;
    },
  },
};

/** Returns the title of a deletion, and how much it can destroy. */
function headingOf({ type }: FsStat, path: string, { changes, counts }: ShownList): Heading {
  if (type === "symlink") return { title: `Delete link ${path}`, location: 0, risk: "low" };
  if (type !== "dir") return { title: `Delete ${path}`, location: 0, risk: "medium" };
  const risk = changes.length > 1 ? "high" : "low";
  return { title: `Delete directory ${path}${counts}`, location: 0, risk };
}
