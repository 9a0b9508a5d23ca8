/** The filesystem server's own functions, from its package as it is installed. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { connectToProcess } from "../harness.ts";
import type { Units } from "./units.ts";

/** Theirs. @param dist the directory that its command is in */
export async function theirs(dist: string): Promise<Units> {
  const load = (name: string): Promise<object> => import(pathToFileURL(join(dist, name)).href);
  const modules = await Promise.all(
    ["lib.js", "path-utils.js", "path-validation.js", "roots-utils.js"].map(load),
  );
  return {
    ...(Object.assign({}, ...modules) as Units),
    async directoryTree(root, excludePatterns) {
      await using server = await connectToProcess([join(dist, "index.js"), root]);
      return (await server.call("directory_tree", { path: root, excludePatterns })).text;
    },
  };
}
