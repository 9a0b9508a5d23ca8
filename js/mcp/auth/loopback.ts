/** Detects loopback addresses. */
import { isIP } from "node:net";

/** Returns true when an address or host name is a loopback one, which only this machine can reach. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/u, "$1");
  return bare === "localhost" || bare === "::1" || (isIP(bare) === 4 && bare.startsWith("127."));
}
