/**
 * The statements of a server about the presets `lean`, `canonical` and `mcp` before it loads any tool: names of their
 * tools, and words about them.
 */

/** The tools that `filewright mcp` lists by default. */
export const LEAN_TOOLS: readonly string[] = [
  "read_file",
  "write_file",
  "edit_file",
  "apply_patch",
  "grep",
  "glob",
  "list_directory",
  "move",
  "delete",
  "batch",
  "undo",
  "history",
  "access_info",
];

/** The tools that tell which directories may be used: ours, and that of the reference server. */
export const DIRECTORY_TOOLS: readonly string[] = ["access_info", "list_allowed_directories"];

/** The tool of the reference server that answers with the bytes of a file. */
export const MEDIA_TOOL = "read_media_file";

/** The tools of preset `mcp` that change files, besides those that have the names of ours. */
export const CHANGING_TOOLS_OF_MCP: readonly string[] = ["move_file", "create_directory"];

/** Sentences about tools of `lean`, for where they are offered. */
export const WORDS_OF_LEAN: readonly (readonly [tool: string, sentence: string])[] = [
  ["undo", "undo takes your last change back."],
];

const OUR_FINDERS: readonly (readonly [tool: string, does: string])[] = [
  ["glob", "finds names"],
  ["grep", "finds contents"],
  ["access_info", "tells the directories"],
];

/** The finding tools of a preset, each with what it finds. */
export const FINDERS_BY_PRESET: Readonly<Partial<Record<string, typeof OUR_FINDERS>>> = {
  lean: OUR_FINDERS,
  canonical: OUR_FINDERS,
  mcp: [
    ["search_files", "finds names, not contents"],
    ["list_allowed_directories", "tells the directories"],
  ],
};
