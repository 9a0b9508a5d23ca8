// A page of a file of 1 GB, each kind in a process of its own: time, and how
// much the process grew.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { bigFile } from "../lib/corpora.mjs";
import { median } from "../lib/measure.mjs";

export const title =
  "page: lines of a file of 1 GB through ws.call, against node:readline (a fresh process each)";

const pages = [
  ["the first page", { start_line: 1 }, 10],
  ["a page at line 10,000,000", { start_line: 10_000_000 }],
  ["the last page", { start_line: -200 }],
];

export async function* rows({ root }) {
  const file = bigFile();
  for (const [name, page, limit] of pages) {
    const ours = Array.from({ length: 3 }, () => measure(root, "ours", file, page));
    const peer = page.start_line < 0 ? undefined : measure(root, "readline", file, page);
    const ms = median(ours.map((one) => one.ms));
    const grown = median(ours.map((one) => one.grown_bytes));
    const again = median(ours.map((one) => one.again_ms));
    const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
    yield {
      name,
      ours_ms: ms,
      again_ms: again,
      grown_bytes: grown,
      ...(limit ? { limit_ms: limit, met: ms < limit } : {}),
      ...(peer ? { peer_ms: peer.ms, peer_grown_bytes: peer.grown_bytes, faster: peer.ms / ms } : {}),
      note: `again ${again.toFixed(2)} ms, grew ${mb(grown)}${peer ? `; readline grew ${mb(peer.grown_bytes)}` : ""}`,
    };
  }
}

function measure(root, who, file, page) {
  const script = join(root, "bench/lib/page-child.mjs");
  const said = spawnSync(process.execPath, [script, who, file, JSON.stringify(page)], { encoding: "utf8" });
  if (said.status !== 0) throw new Error(said.stderr.slice(0, 500));
  return JSON.parse(said.stdout);
}
