/**
 * `filewright/backends` on Node: with the engine loaded, and the local disk.
 *
 * @module filewright/backends
 */
import "../engine/index.node.ts";

export * from "./index.ts";
export * from "./local/local.node.ts";
export { NodeBackend, type NodeCapabilities, type NodeOptions } from "./node/node.node.ts";
export { containerSandbox, type ContainerSandboxOptions } from "./sandbox/container/container.node.ts";
export { remoteSandbox, type RemoteSandboxOptions, type SendRequest } from "./sandbox/remote/remote.node.ts";
export { linuxSandbox, type LinuxSandboxOptions } from "./sandbox/sandbox.node.ts";
export { type SandboxOptions, sandboxFor } from "./sandbox/sandbox-choice.node.ts";
