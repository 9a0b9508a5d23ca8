/**
 * Which directories a server may use: those of its command line, judged when it
 * starts, or those that its client names as roots.
 *
 * Messages go to standard error in the words that users of the Model Context
 * Protocol's filesystem server, and scripts around it, know.
 */
import { realpathSync, type Stats, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { escapeControls } from "../engine/escape.ts";
import type { Log } from "./log.ts";

/** A root as a client names it. */
export interface NamedRoot {
  readonly uri: string;
  readonly name?: string | undefined;
}

/** `~` is the user's home, as in a shell. */
export function expandHome(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
}

/**
 * The directories of a command line that can be used, absolute; the others are
 * told. Undefined where some were given and none can be used.
 */
export function usableDirectories(given: readonly string[], log: Log): readonly string[] | undefined {
  const usable: string[] = [];
  for (const one of given) {
    const path = resolve(expandHome(one));
    const facts = factsOf(path);
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

/** The directories that a client's roots mean, absolute and real; the others are told. */
export function directoriesOfRoots(roots: readonly NamedRoot[], log: Log): readonly string[] {
  const usable: string[] = [];
  for (const { uri } of roots) {
    const path = pathOfRoot(uri);
    const facts = path === undefined ? undefined : factsOf(path);
    if (path === undefined || facts === undefined)
      log(`Skipping invalid path or inaccessible: ${escapeControls(uri)}`);
    else if (!facts.isDirectory()) log(`Skipping non-directory root: ${escapeControls(path)}`);
    else if (!usable.includes(path)) usable.push(path);
  }
  return usable;
}

/** A `file:` URI or a plain path; undefined where it leads nowhere. */
function pathOfRoot(uri: string): string | undefined {
  try {
    return realpathSync(resolve(expandHome(uri.startsWith("file://") ? fileURLToPath(uri) : uri)));
  } catch {
    return undefined;
  }
}

// Synchronous: a server has nothing else to do yet, and needs no threads for it.
function factsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
