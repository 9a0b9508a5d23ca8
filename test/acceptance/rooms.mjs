/**
 * The folders of `dist`, each after those that it imports. Node opens all modules of an import at once; a program
 * with few file descriptors imports the folders one by one.
 */
export const ROOMS = [
  "engine/index.node",
  "backends/index",
  "backends/index.node",
  "policy/index",
  "hooks/index",
  "storage/index.node",
  "readers/index",
  "tools/index",
  "journal/index",
  "presets/index.node",
  "pipeline/enter",
  "call/stages",
  "workspace/session",
  "workspace/past-methods",
];
