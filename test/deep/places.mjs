// Compares the table of protected places with the places in which coding agents keep their hooks, servers and
// instructions, as others publish them. A place that tools would write without a question fails; one that is published
// now and was not when the list beside this file was written is named.
//
// A share, and a run without a network, compares with that list alone, and says so. `--seconds` above those of a share
// fetches what is published.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { MAX_SHARE_SECONDS } from "../../scripts/lib/deep-kind.mjs";
import { root } from "../../scripts/lib/run.mjs";

/** Lists of files that agents read, each in backticks: `~/…` in the home directory, `<root>/…` in a project. */
const PUBLISHED = ["https://raw.githubusercontent.com/whit3rabbit/agent-config/main/docs/support-matrix.md"];
const FETCH_MS = 20_000;

/** Returns the places of a published list: names below a directory, with `x` for what a name stands for. */
export function placesIn(text) {
  const named = [...text.matchAll(/`(?:~|<root>|<crush_home>|\$CODEX_HOME)\/([^`]+)`/gu)].map(
    ([code, path]) =>
      code.includes("crush_home")
        ? `.config/crush/${path}`
        : code.includes("CODEX")
          ? `.codex/${path}`
          : path,
  );
  const places = named.map((path) => path.replaceAll(/<[^>]+>/gu, "x").replace(/\/$/u, "/x"));
  // Its own ledgers are files that no agent reads.
  return [...new Set(places)].filter((path) => !path.includes(".agent-config-")).sort();
}

async function fetchPublished() {
  const texts = [];
  for (const url of PUBLISHED) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(FETCH_MS) });
    if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
    texts.push(await answer.text());
  }
  return placesIn(texts.join("\n"));
}

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "the table of places against published lists of the files that agents obey",
  count: 10_000,
  share: 10_000,
  async run({ secondsLeft }) {
    const known = readFileSync(join(import.meta.dirname, "places/list.txt"), "utf8")
      .trim()
      .split("\n");
    let published = [];
    if (secondsLeft() > MAX_SHARE_SECONDS) {
      try {
        published = await fetchPublished();
        for (const place of published) if (!known.includes(place)) console.log(`new: ${place}`);
      } catch (error) {
        console.log(
          `SKIPPED: what is published cannot be fetched (${error.message}); compared with the list of the tree alone`,
        );
      }
    }
    const { MemoryBackend, openWorkspace } = await import(join(root, "dist/cli/library.js"));
    const ws = await openWorkspace({
      root: "/w",
      backend: new MemoryBackend({ "/w": { type: "dir" } }),
      rules: [{ decision: "allow" }],
      confirm: () => ({ outcome: "cancel" }),
    });
    const failures = [];
    const all = [...new Set([...known, ...published])];
    for (const path of all) {
      const { ok } = await ws.call("write_file", { path, content: "x" });
      if (ok) failures.push(`${path} is written without a word: the table has no row for it`);
    }
    await ws.close();
    return { cases: all.length, failures };
  },
};
