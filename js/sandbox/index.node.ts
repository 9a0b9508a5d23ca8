/**
 * `filewright/sandbox` on Node: with the engine loaded, containers, and another server.
 *
 * @module filewright/sandbox
 */
import "../engine/index.node.ts";

export * from "./index.ts";
export { containerSandbox, type ContainerSandboxOptions } from "./container/container.node.ts";
export { remoteSandbox, type RemoteSandboxOptions } from "./remote/remote.node.ts";
