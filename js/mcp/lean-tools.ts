/** The modules that the preset `lean` needs, loaded when the first workspace is opened. */
export { toolsFor } from "../workspace/workspace.ts";
export { ANSWERED_NAMES, LEAN_TOOLS, leanPreset } from "./lean-preset.ts";
export { chosenTools } from "./tool-list.ts";
