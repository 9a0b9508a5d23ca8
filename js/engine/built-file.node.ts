/** Finds the files of the build: the addon, the WebAssembly module and the script of the workers. */
import { fileURLToPath } from "node:url";

/**
 * Returns the path of a file in dist. This module stays two folders below the package: its address is
 * as deep in js/engine during development, in dist/engine after a build, and in dist/bin, where the
 * bundle of the command holds it.
 */
export function builtFile(path: string): string {
  return fileURLToPath(new URL(`../../dist/${path}`, import.meta.url));
}
