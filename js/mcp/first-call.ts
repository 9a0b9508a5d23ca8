/** What a server loads with its first call: the engine, the local disk, workspaces and the choice of tools. */
import "../workspace/index.node.ts";

export { openWorkspace } from "../workspace/open.ts";
export { describeRecovery } from "../pipeline/past/recovery-text.ts";
export { MemoryBackend } from "../backends/memory/memory.ts";
export { auditFile } from "../hooks/audit-file.node.ts";
export { toolsFor } from "../workspace/workspace.ts";
export { ANSWERED_NAMES, LEAN_TOOLS, leanPreset, chosenTools } from "./served-tools.ts";
