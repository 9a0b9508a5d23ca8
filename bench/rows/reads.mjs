// Measures reading small files through the confined backend against node:fs, which checks no path.
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { makeSmallFiles } from "../lib/corpora.mjs";
import { compareShortCalls, assertSameResult } from "../lib/measure.mjs";

export const title = "reads: 4 KiB files through the confined backend, against unchecked node:fs";

export async function* rows({ load }) {
  const { LocalBackend, SandboxPolicy } = await load("index.node.js");
  const paths = makeSmallFiles(50, 4096);
  const policy = SandboxPolicy.readOnly(dirname(dirname(paths[0])));
  const backend = new LocalBackend({ policy });
  const [path] = paths;
  assertSameResult("bytes", Buffer.from(await backend.readBytes(path)).equals(readFileSync(path)), true);

  const together = (read) => () => Promise.all(paths.map((one) => read(one)));
  const confined = (one) => backend.readBytes(one);
  const unchecked = (one) => readFile(one);
  yield {
    name: "async, 50 at once",
    peer: "fs.promises.readFile",
    goal: 1.5,
    ...(await compareShortCalls(together(confined), together(unchecked))),
  };
  yield {
    name: "async, one by one",
    peer: "fs.promises.readFile",
    ...(await compareShortCalls(
      () => confined(path),
      () => unchecked(path),
    )),
  };
}
