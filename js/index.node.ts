/** Everything of every entry on Node, for what tests and measures Filewright: no entry of the package. */
export * from "./engine/index.node.ts";
export * from "./backends/index.ts";
export * from "./backends/local/local.node.ts";
export { NodeBackend, type NodeCapabilities, type NodeOptions } from "./backends/node/node.node.ts";
export { type SandboxOptions, sandboxFor } from "./backends/sandbox/sandbox-choice.node.ts";
export {
  linuxSandbox,
  type LinuxSandboxOptions,
  type SandboxFlags,
  sandboxOptionsOf,
} from "./backends/sandbox/sandbox.node.ts";
export * from "./policy/grants-file.node.ts";
export * from "./policy/index.ts";
export * from "./hooks/audit/audit-file.node.ts";
export * from "./hooks/audit/verify.node.ts";
export * from "./hooks/approval-server.node.ts";
export * from "./hooks/index.ts";
export * from "./hooks/terminal.node.ts";
export * from "./readers/index.ts";
export * from "./workspace/index.node.ts";
