/**
 * `filewright/sandbox`: sandboxes for the commands of a workspace that are not of this system: containers, another
 * machine, services. Each is a provider for the option `commands`.
 *
 * @module filewright/sandbox
 */
export { cloudflareSandbox, type CloudflareSandboxOptions } from "./services/cloudflare.ts";
export { e2bSandbox, type E2bSandboxOptions } from "./services/e2b.ts";
export type { SendRequest, ServiceSandbox } from "./services/service.ts";
