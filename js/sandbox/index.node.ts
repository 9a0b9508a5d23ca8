/**
 * `filewright/sandbox`: sandboxes for the commands of a workspace that are not of this system: containers, and another
 * machine. Each is a provider for the option `commands`.
 *
 * @module filewright/sandbox
 */
import "../engine/index.node.ts";

export { containerSandbox, type ContainerSandboxOptions } from "./container/container.node.ts";
export { remoteSandbox, type RemoteSandboxOptions, type SendRequest } from "./remote/remote.node.ts";
