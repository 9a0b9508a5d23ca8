// Measures a page of a file of 1 GB, each in a new process: its time, and the bytes by which the
// process grew.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { gigabyteTextFile, gigabyteLineFile } from "../lib/corpora.mjs";
import { median } from "../lib/measure.mjs";

export const title = "page: lines of a file of 1 GB through ws.call (a fresh process each)";

/** The maximum number of bytes by which a page may enlarge the process. */
const MAX_GROWN_BYTES = 20e6;

// `limit_ms` is the limit of the first page, `again_ms` that of the median of fifty further ones,
// for which the lines are indexed.
const measuredPages = [
  { name: "the first page", page: { start_line: 1 }, peers: ["readline", "buffer"], limit_ms: 5 },
  { name: "a page at line 9,000,000", page: { start_line: 9_000_000 }, peers: ["readline", "buffer"] },
  { name: "the last page", page: { start_line: -200 }, peers: [] },
  { name: "one line of 1 GB: its beginning", page: { start_line: 1 }, peers: [], file: gigabyteLineFile },
  {
    name: "one line of 1 GB: in the middle",
    page: { start_byte: 500_000_000 },
    peers: [],
    file: gigabyteLineFile,
  },
];

export async function* rows({ root }) {
  for (const { name, page, peers, limit_ms, file = gigabyteTextFile } of measuredPages) {
    const path = file();
    const ours = Array.from({ length: 3 }, () => measurePageInChild(root, "ours", path, page));
    const ms = median(ours.map((one) => one.ms));
    const grown_bytes = median(ours.map((one) => one.grown_bytes));
    const again_ms = median(ours.map((one) => one.again_ms));
    const second_ms = median(ours.map((one) => one.second_ms));
    const note = `then ${second_ms.toFixed(2)} ms, and ${again_ms.toFixed(2)} ms at the median of 50, grew ${formatMegabytes(grown_bytes)}${grown_bytes < MAX_GROWN_BYTES ? "" : " (too much)"}`;
    const facts = {
      ours_ms: ms,
      second_ms,
      again_ms,
      grown_bytes,
      again_met: again_ms < 1,
      grown_met: grown_bytes < MAX_GROWN_BYTES,
    };
    const limit = limit_ms === undefined ? {} : { limit_ms, met: ms < limit_ms };
    if (peers.length === 0) yield { name, ...facts, ...limit, note };
    for (const peer of peers) {
      const theirs = measurePageInChild(root, peer, path, page);
      const grown = `${peer} grew ${formatMegabytes(theirs.grown_bytes)}`;
      const compared = {
        peer,
        peer_ms: theirs.ms,
        peer_grown_bytes: theirs.grown_bytes,
        faster: theirs.ms / ms,
      };
      yield { name, ...facts, ...limit, ...compared, note: `${note}; ${grown}` };
    }
  }
}

const formatMegabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

function measurePageInChild(root, who, file, page) {
  const script = join(root, "bench/lib/page-child.mjs");
  const said = spawnSync(process.execPath, [script, who, file, JSON.stringify(page)], { encoding: "utf8" });
  if (said.status !== 0) throw new Error(said.stderr.slice(0, 500));
  return JSON.parse(said.stdout);
}
