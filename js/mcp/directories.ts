/**
 * The directories that a server may use: those of its command line, checked at the start, or those that its
 * client names as roots.
 *
 * Messages on standard error keep the words of the Model Context Protocol's filesystem server, because users
 * and scripts know them.
 */
import { realpathSync, type Stats, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { homeDirectory } from "../backends/home.node.ts";
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
 * Returns the absolute paths of the given directories that can be used, and logs the others. Returns
 * undefined when directories were given but none can be used.
 */
export function usableDirectories(
  given: readonly string[],
  log: WriteLogLine,
): readonly string[] | undefined {
  const usable: string[] = [];
  for (const one of given) {
    const path = resolve(expandHome(one));
    const facts = statOrUndefined(path);
    if (facts === undefined)
      log(`Warning: Cannot access directory ${escapeControls(path)}, skipping`, "warning");
    else if (!facts.isDirectory())
      log(`Warning: ${escapeControls(path)} is not a directory, skipping`, "warning");
    else if (!usable.includes(path)) usable.push(path);
  }
  if (given.length === 0 || usable.length > 0) return usable;
  log("Error: None of the specified directories are accessible", "error");
  return undefined;
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
