// Measures searches through an OverlayBackend with changes over an indexed disk of 6,000 files against the same
// searches of the disk alone.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assertSameResult, compareShortCalls, median, timeRun } from "../lib/measure.mjs";

export const title = "overlay: searches over an indexed disk of 6,000 files, against the disk alone";

const [DIRECTORIES, FILES_PER_DIRECTORY] = [100, 60];
const CHANGED_FILES = 10;
/** The goal: at most twice the time of the disk, and the first search in a new overlay below 10 ms. */
const GOAL_SPEED_RATIO = 0.5;
const GOAL_FIRST_MS = 10;
const FIRST_SEARCHES = 15;

export async function* rows({ load }) {
  const { LocalBackend, OverlayBackend } = await load("index.node.js");
  const folder = mkdtempSync(join(tmpdir(), "filewright-bench-"));
  const root = join(folder, "tree");
  const disk = new LocalBackend();
  try {
    makeTree(root);
    await disk.warm(root);
    const overlay = new OverlayBackend(disk);
    for (let at = 0; at < CHANGED_FILES; at++)
      await overlay.writeText(join(root, `d${at}`, "f1.ts"), `export const changed${at} = "here";\n`);
    const searches = [
      ["a literal that one file has", { pattern: "value4242", regex: false }],
      ["a literal that is nowhere", { pattern: "zqxj_absent_everywhere", regex: false }],
      ["a common word, the first 100", { pattern: "export", regex: false, maxResults: 100 }],
      ["the number of files with a common word", { pattern: "export", regex: false, output: "files" }],
    ];
    for (const [name, query] of searches) {
      const [above, alone] = [await overlay.grep(root, query), await disk.grep(root, query)];
      assertSameResult("files searched", above.filesSearched > 0, alone.filesSearched > 0);
      assertSameResult("files with matches", above.filesWithMatches, alone.filesWithMatches);
      yield {
        name: `grep, ${name}`,
        peer: "the disk alone",
        goal: GOAL_SPEED_RATIO,
        ...(await compareShortCalls(
          () => overlay.grep(root, query),
          () => disk.grep(root, query),
        )),
      };
    }
    const names = { pattern: "**/f1?.ts" };
    assertSameResult("paths", (await overlay.find(root, names)).paths, (await disk.find(root, names)).paths);
    yield {
      name: "find, one file in six",
      peer: "the disk alone",
      goal: GOAL_SPEED_RATIO,
      ...(await compareShortCalls(
        () => overlay.find(root, names),
        () => disk.find(root, names),
      )),
    };
    const times = [];
    for (let at = 0; at < FIRST_SEARCHES; at++) {
      const fresh = new OverlayBackend(disk);
      await fresh.writeText(join(root, "d1", "f2.ts"), `export const own = ${at};\n`);
      times.push(await timeRun(() => fresh.grep(root, { pattern: `value${at}77`, regex: false })));
    }
    const first = median(times);
    yield {
      name: "the first search in a new overlay",
      met: first < GOAL_FIRST_MS,
      note: `${first.toFixed(1)} ms`,
    };
  } finally {
    await disk.close();
    rmSync(folder, { recursive: true });
  }
}

function makeTree(root) {
  for (let directory = 0; directory < DIRECTORIES; directory++) {
    mkdirSync(join(root, `d${directory}`), { recursive: true });
    for (let file = 0; file < FILES_PER_DIRECTORY; file++) {
      const number = directory * FILES_PER_DIRECTORY + file;
      const lines = Array.from({ length: 40 }, (_, line) => `  // line ${line} of the file ${number}`);
      const text = `export function value${number}() {\n${lines.join("\n")}\n}\n`;
      writeFileSync(join(root, `d${directory}`, `f${file}.ts`), text);
    }
  }
}
