/** `delete`: removes a file, a link or a directory. */
import { EMPTY_BYTES } from "../engine/wire/bytes.ts";
import { entryPathVia, lstatOrNull, lstatVia } from "../backends/fallback/fallback.ts";
import { deleteVia, removeTreeVia } from "../backends/fallback/fallback-tree.ts";
import { currentVersion } from "./lib/contents.ts";
import {
  previewDiff,
  readBytesForPreview,
  incompleteTreeReason,
  formatTreeCounts,
  textIfDecodableAsync,
  readTreeFacts,
} from "./render/preview.ts";
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
import { withoutUndefined } from "../schema/without-undefined.ts";
import { escapeControls } from "../engine/escape.ts";
import { type ChangingTool, type Preview, locationError } from "./lib/tool.ts";
import { assertNotRoot } from "./lib/transfer.ts";
import { plural } from "./lib/text.ts";

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

interface DeleteTodo {
  readonly isDir: boolean;
  /**
   * The version of a file or link when the call was planned: the deletion fails with CONFLICT if it has
   * changed since. Undefined for a directory, and where the backend has no versions of links.
   */
  readonly version?: string | undefined;
}

/** Removes a file, a link or a directory. */
export const deletePath: ChangingTool<CheckedArgs["delete"], DeleteData, DeleteTodo> = {
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
    const there = await lstatOrNull(call.fs, at.path);
    if (there === null) {
      if (!args.missing_ok) throw locationError("NOT_FOUND", at);
      return {
        settled: { data: { path: call.reader.display(at.path), files: 0, directories: 0 } },
        todo: { isDir: false },
        base: [],
      };
    }
    // `link/` names the target directory of a link, but a deletion would remove the link.
    if (at.directory && !there.isDir) throw locationError("NOT_DIRECTORY", at);
    if (there.isDir && !args.recursive && (await call.fs.listDir(at.path)).length > 0)
      throw locationError("NOT_EMPTY", at);
    const version = await currentVersion(call.fs, at.path, true);
    const hasVersion = there.isFile || (!there.isDir && there.version !== undefined);
    return {
      todo: { isDir: there.isDir, version: hasVersion ? (version ?? undefined) : undefined },
      base: [{ path: at.path, version, entry: true }],
    };
  },
  async preview({ todo }, args, call): Promise<Preview> {
    const at = call.locations[0]!;
    if (todo.isDir) {
      const tree = await readTreeFacts(call, await entryPathVia(call.fs, at.path));
      const incomplete = incompleteTreeReason(tree);
      return withoutUndefined({
        title: `Delete directory ${args.path} (${formatTreeCounts(tree)})`,
        location: 0,
        diff: "",
        originalContent: null,
        newContent: null,
        risk: tree.base.length > 1 ? ("high" as const) : ("low" as const),
        base: tree.base,
        changes: tree.entries.map(({ path: gone, type }) => ({ path: gone, kind: "delete" as const, type })),
        incomplete,
      });
    }
    const isLink = (await lstatVia(call.fs, at.path)).type === "symlink";
    const bytes = isLink ? null : await readBytesForPreview(call, at.path);
    return {
      title: `Delete ${isLink ? "link " : ""}${args.path}`,
      location: 0,
      diff: bytes === null ? "" : await previewDiff(bytes, EMPTY_BYTES, args.path),
      originalContent: bytes === null ? null : await textIfDecodableAsync(bytes),
      newContent: null,
      risk: isLink ? "low" : "medium",
      changes: [{ path: at.path, kind: "delete", type: isLink ? "symlink" : "file" }],
    };
  },
  async apply({ todo }, args, call) {
    const at = call.locations[0]!;
    if (!todo.isDir || !args.recursive) {
      await deleteVia(call.fs, at.path, { ifVersion: todo.version });
      const [files, directories] = todo.isDir ? [0, 1] : [1, 0];
      return { data: { path: call.reader.display(at.path), files, directories } };
    }
    const counts = await removeTreeVia(call.fs, at.path, { signal: call.signal });
    return {
      data: { path: call.reader.display(at.path), files: counts.files, directories: counts.directories },
    };
  },
  render: (data, args) =>
    data.files + data.directories === 0
      ? `Nothing to delete: ${escapeControls(args.path)} does not exist`
      : `Deleted ${escapeControls(args.path)} (${plural(data.files, "file")})`,
};
