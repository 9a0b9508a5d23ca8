/** Addresses of this machine alone. */
import { isIP } from "node:net";

/** Whether an address or a host name is that of this machine alone. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/u, "$1");
  return bare === "localhost" || bare === "::1" || (isIP(bare) === 4 && bare.startsWith("127."));
}
