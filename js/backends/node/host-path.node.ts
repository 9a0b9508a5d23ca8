/**
 * The paths of the contract in the form that the system takes, and names of the system as text. This is the one
 * place where a path of the host is formed.
 */
import { Buffer } from "node:buffer";
import { makeError } from "../../engine/errors.ts";
import type { Shortcuts } from "../abilities.ts";
import { bytesOfName, canonicalPath, hasNameEscape, textOfNameBytes } from "../name-escapes.ts";
import { foldsCase } from "./folding.node.ts";
import { innerWindowsPath, windowsHostPath, windowsLinkTarget } from "../windows-paths.ts";

const IS_WINDOWS = process.platform === "win32";

/** A path as the functions of `node:fs` take it. */
export type HostPath = string | Buffer;

/** The form of the paths of this machine. */
export const HOST_PATHS: Shortcuts["paths"] = IS_WINDOWS ? "windows" : foldsPath;

/**
 * Returns true for a directory in which letter case does not count. A volume of macOS can tell it apart: there a rule
 * covers more than its spelling, never less.
 */
function foldsPath(directory: string): boolean {
  return process.platform === "darwin" || foldsCase(directory, false);
}

/** Returns true for a path that no directory contains: `/`, and a drive of Windows. */
export function isTopPath(path: string): boolean {
  return path === "/" || (IS_WINDOWS && path.lastIndexOf("/") === 0);
}

/** Returns a path or the target of a link, as the system returned its bytes, in the form of the contract. */
export function pathOfHostBytes(bytes: Buffer): string {
  return IS_WINDOWS ? innerWindowsPath(bytes.toString()) : textOfNameBytes(bytes);
}

/** Returns the target of a new link as the system takes it. */
export function hostLinkTarget(target: string): HostPath {
  return IS_WINDOWS ? windowsLinkTarget(target) : hostPath(target);
}

/**
 * Returns the path of the host for a path of the contract.
 * @throws INVALID_ARGUMENT for a spelling that {@link canonicalPath} would change: rules compare text, and would not
 * see which name it is
 */
export function hostPath(path: string): HostPath {
  if (IS_WINDOWS) return windowsHostPath(path);
  if (!hasNameEscape(path)) return path;
  if (canonicalPath(path) !== path)
    throw makeError("INVALID_ARGUMENT", "the path escapes bytes that are text", { path });
  return bytesOfPath(path);
}

/** Returns the one spelling of a path on this machine, before a rule judges it. */
export function canonicalHostPath(path: string): string {
  return IS_WINDOWS ? path : canonicalPath(path);
}

/** Returns the bytes of a path of the host. */
export function bytesOfPath(path: string): Buffer {
  return Buffer.from(bytesOfName(path));
}
