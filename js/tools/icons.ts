/** The icons of the tools, for the user interfaces of hosts. */

/** The icon of a tool, by the names of Gemini CLI. */
export type ToolIcon = "fileSearch" | "folder" | "hammer" | "lightBulb" | "pencil" | "regex" | "terminal";

const ICON_BY_TOOL: Readonly<Record<string, ToolIcon>> = {
  write_file: "pencil",
  edit_file: "pencil",
  apply_patch: "pencil",
  undo: "pencil",
  list_directory: "folder",
  mkdir: "folder",
  copy: "folder",
  move: "folder",
  delete: "folder",
  grep: "regex",
  batch: "hammer",
  access_info: "lightBulb",
  history: "lightBulb",
  run_command: "terminal",
};

/** Returns the icon of a canonical tool. */
export function iconOfTool(name: string): ToolIcon {
  return ICON_BY_TOOL[name] ?? "fileSearch";
}
