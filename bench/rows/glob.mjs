// Measures finding files by name against ripgrep and fast-glob, and listing trees against node:fs,
// which returns names without sizes and times.
import { readdir } from "node:fs/promises";
import fastGlob from "fast-glob";
import { makeLinuxTree, makeSmallTree } from "../lib/corpora.mjs";
import { compareLongRuns, assertSameResult } from "../lib/measure.mjs";
import { runRipgrep } from "../lib/ripgrep.mjs";

export const title =
  "glob: paths in order, against `rg --files -g` and fast-glob; the first 1000 entries of a tree, against node:fs";

export async function* rows({ load, full }) {
  const { LocalBackend, SandboxPolicy } = await load("index.node.js");
  const tree = full ? makeLinuxTree() : makeSmallTree();
  const backend = new LocalBackend({ policy: SandboxPolicy.readOnly(tree) });
  const patterns = full
    ? ["**/*.h", "**/ext4*.c", "drivers/usb/**/*.c"]
    : ["**/*.d.ts", "**/package.json", "rxjs/src/**/*.ts"];

  for (const pattern of patterns) {
    const ours = async () => (await backend.find(tree, { pattern })).paths;
    const peer = () => runRipgrep(tree, ["--files", `--glob=/${pattern}`]);
    const found = await ours();
    assertSameResult(
      `paths of ${pattern}`,
      [...found].sort(),
      (await peer()).split("\n").filter(Boolean).sort(),
    );
    const name = `${pattern} (${found.length.toLocaleString("en")})`;
    yield { name, peer: "ripgrep", goal: 1 / 0.8, ...(await compareLongRuns(ours, peer)) };

    // fast-glob does not support ignore files, so neither side applies them.
    const plain = async () => (await backend.find(tree, { pattern, respectIgnore: false })).paths;
    const settings = { cwd: tree, dot: true, followSymbolicLinks: false, ignore: ["**/.git/**"] };
    const theirs = () => fastGlob(pattern, settings);
    assertSameResult(
      `paths of ${pattern} without rules`,
      [...(await plain())].sort(),
      (await theirs()).sort(),
    );
    yield {
      name: `${name}, ignoring nothing`,
      peer: "fast-glob",
      goal: 2,
      ...(await compareLongRuns(plain, theirs, { rounds: 3 })),
    };
  }
  yield* treeListingRows(backend, tree);
}

/**
 * Measures the listing of a tree as a tool returns it: a sorted page with sizes and times, and the
 * total number of entries.
 */
async function* treeListingRows(backend, tree) {
  const page = (more) => backend.listTree(tree, { depth: 32, limit: 1000, ...more });
  const everything = () => page({ respectIgnore: false });
  const entries = () => readdir(tree, { recursive: true, withFileTypes: true });
  const { total } = await everything();
  assertSameResult("entries", total, (await entries()).length);
  const name = `a tree (${total.toLocaleString("en")} entries)`;
  yield {
    name,
    peer: "readdir recursive",
    goal: 1.2,
    ...(await compareLongRuns(everything, entries, { rounds: 3 })),
  };
  await backend.warm(tree);
  const known = () => page({ respectIgnore: true });
  const files = () => runRipgrep(tree, ["--no-require-git", "--files"]);
  yield {
    name: `${name}, by ignore files, warm`,
    peer: "ripgrep --files",
    ...(await compareLongRuns(known, files, { rounds: 3 })),
  };
  backend.dispose();
}
