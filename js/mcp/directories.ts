/**
 * The directories that a server may use: those of its command line, checked at the start, or those that its
 * client names as roots.
 *
 * Messages on standard error keep the words of the Model Context Protocol's filesystem server, because users
 * and scripts know them.
 */
import { accessSync, constants, realpathSync, type Stats, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { homeDirectory } from "../backends/home.node.ts";
import { FilewrightError } from "../engine/errors.ts";
import { escapeControls } from "../engine/escape.ts";
import type { WriteLogLine } from "./protocol/log.ts";

/** A root as a client names it. */
export interface ClientRoot {
  readonly uri: string;
  readonly name?: string | undefined;
}

/** Replaces a leading `~` with the user's home directory, as a shell does. */
export function expandHome(path: string): string {
  if (path !== "~" && !path.startsWith("~/")) return path;
  const home = homeDirectory();
  return home === undefined ? path : join(home, path.slice(1));
}

/**
 * Returns the absolute paths of the given directories that can be used, and logs the others.
 * @throws FilewrightError NOT_FOUND when directories were given but none can be used
 */
export function usableDirectories(given: readonly string[], log: WriteLogLine): readonly string[] {
  const usable: string[] = [];
  const faults: string[] = [];
  for (const one of given) {
    const path = resolve(expandHome(one));
    const fault = directoryFault(path);
    if (fault !== undefined) faults.push(`'${escapeControls(path)}' ${fault}`);
    else if (!usable.includes(path)) usable.push(path);
  }
  if (given.length > 0 && usable.length === 0)
    throw new FilewrightError(
      "NOT_FOUND",
      `${faults.length === 1 ? "the directory" : "none of the directories can be served:"} ${faults.join(", ")}`,
      { complete: true },
    );
  for (const fault of faults) log(`Warning: ${fault}, skipping`, "warning");
  return usable;
}

/** Returns why a directory cannot be served; undefined if it can. */
export function directoryFault(path: string): string | undefined {
  try {
    if (!statSync(path).isDirectory()) return "is not a directory";
    accessSync(path, constants.R_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return "does not exist";
    return code === "EACCES" ? "cannot be read: permission denied" : `cannot be read: ${code}`;
  }
}

/** Returns the real paths of those roots of a client that can be used, and logs the others. */
export function usableRootDirectories(roots: readonly ClientRoot[], log: WriteLogLine): readonly string[] {
  const usable: string[] = [];
  for (const { uri } of roots) {
    const path = realPathOfRoot(uri);
    const facts = path === undefined ? undefined : statOrUndefined(path);
    if (path === undefined || facts === undefined)
      log(`Skipping invalid path or inaccessible: ${escapeControls(uri)}`);
    else if (!facts.isDirectory()) log(`Skipping non-directory root: ${escapeControls(path)}`);
    else if (!usable.includes(path)) usable.push(path);
  }
  return usable;
}

/** Returns the real path of a `file:` URI or a plain path; undefined when it does not exist. */
function realPathOfRoot(uri: string): string | undefined {
  try {
    return realpathSync(resolve(expandHome(uri.startsWith("file://") ? fileURLToPath(uri) : uri)));
  } catch {
    return undefined;
  }
}

// The call is synchronous, because a starting server has no other work and so needs no thread for it.
function statOrUndefined(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
