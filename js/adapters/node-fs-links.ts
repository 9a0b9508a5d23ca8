/**
 * Following links, name by name, over an object in the shape of Node's `fs`. Its
 * imitations differ here: one takes `..` in a target lexically, another runs
 * forever around a circle. So no path with a link in it is handed to them.
 */
import { failure } from "../backends/failure.ts";
import { childOf, normalise, parentOf } from "../backends/paths.ts";
import type { NodeFsPromises, NodeStats } from "./node-fs-shape.ts";
import { codeOf } from "./node-fs-errors.ts";

/** More links than this in one path are taken for a circle. */
const MAX_LINKS = 40;

/**
 * The real path of a normalised one. What is not there is appended as it is.
 *
 * @param follow whether a link in the last place is followed too
 * @throws FilewrightError LOOP
 */
export async function realOf(host: NodeFsPromises, path: string, follow: boolean): Promise<string> {
  const { lstat, readlink } = host;
  if (lstat === undefined || readlink === undefined) return path;
  let left = namesOf(path);
  let at = "/";
  let links = 0;
  for (let name = left.shift(); name !== undefined; name = left.shift()) {
    if (name === "..") {
      at = parentOf(at);
      continue;
    }
    const next = childOf(at, name);
    if (!(await isLink(lstat.bind(host), next)) || (left.length === 0 && !follow)) {
      at = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw failure("LOOP", path);
    const target = String(await readlink.call(host, next));
    if (target.startsWith("/")) at = "/";
    left = [...namesOf(target), ...left];
  }
  return normalise(at).path;
}

function namesOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

async function isLink(lstat: (path: string) => Promise<unknown>, path: string): Promise<boolean> {
  try {
    return ((await lstat(path)) as NodeStats).isSymbolicLink();
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return false;
    throw error;
  }
}
