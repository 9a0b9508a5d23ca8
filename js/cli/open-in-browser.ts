/** Opens an address in the browser of the person. */
import { spawn } from "node:child_process";
import type { Shell } from "./person/style.ts";
import { printNote } from "./streams.ts";

/** The program that opens an address, by platform; elsewhere it is that of freedesktop.org. */
const OPENER_BY_PLATFORM: Readonly<Record<string, readonly [program: string, ...args: string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens an address. Where that fails, a note says so, since the address was printed before. */
export function openInBrowser(shell: Shell, link: string): void {
  const [program, ...args] = OPENER_BY_PLATFORM[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...args, link], { stdio: "ignore", detached: true });
  child.once("error", () => printNote(shell, "No browser could be started: open the link yourself."));
  child.unref();
}
