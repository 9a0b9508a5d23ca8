// Measures the processor time of a search of the node_modules of this checkout against ripgrep: 0.8 GB, most of it
// addons and other binary files. Both search every file: no ignore file, with dot files.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { assertSameResult, median } from "../lib/measure.mjs";

export const title =
  "binaries: processor time (user and system) of a search of a node_modules, against ripgrep 15";

const QUERIES = [
  ["a rare literal", "tryGetModuleNameFromFile"],
  ["a literal that is nowhere", "zqxj_absent_everywhere"],
];
const ROUNDS = 7;

export async function* rows({ load, root }) {
  const { LocalBackend, SandboxPolicy } = await load("index.node.js");
  const tree = join(root, "node_modules");
  const backend = new LocalBackend({ policy: SandboxPolicy.readOnly(tree), index: "off" });
  for (const [name, pattern] of QUERIES) {
    const search = () => backend.grep(tree, { pattern, regex: false, output: "files", respectIgnore: false });
    const found = (await search()).counts.map(({ path }) => path).sort();
    assertSameResult(name, found, (await ripgrep(tree, pattern)).files);
    const [ours, peer] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      ours.push(await ownProcessorMs(search));
      peer.push((await ripgrep(tree, pattern)).ms);
    }
    const [ours_ms, peer_ms] = [median(ours), median(peer)];
    yield {
      name: `${name} (${found.length})`,
      goal: 1 / 0.8,
      peer: "ripgrep",
      ours_ms,
      peer_ms,
      faster: peer_ms / ours_ms,
    };
  }
}

/** Returns the processor time of this process for a search, in milliseconds. */
async function ownProcessorMs(search) {
  const before = process.cpuUsage();
  await search();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Returns the files in which ripgrep finds a literal, and its processor time in milliseconds. */
function ripgrep(folder, pattern) {
  // The shell reports the time of its children.
  const options =
    "--no-config --color=never --no-messages --hidden --no-ignore --files-with-matches --fixed-strings";
  const script = `"$0" ${options} -e "$1" . ; times`;
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", script, rgPath, pattern], {
      cwd: folder,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const parts = [];
    child.stdout.on("data", (part) => parts.push(part));
    child.on("error", reject);
    child.on("close", () => {
      const lines = Buffer.concat(parts).toString().trimEnd().split("\n");
      const [user, system] = lines.at(-1).split(" ").map(msOfTime);
      const files = lines.slice(0, -2).map((line) => line.replace(/^\.\//u, ""));
      resolve({ files: files.sort(), ms: user + system });
    });
  });
}

/** Returns a time such as `0m1.250s` in milliseconds. */
function msOfTime(text) {
  const [, minutes, seconds] = /(\d+)m([\d.]+)s/u.exec(text);
  return (Number(minutes) * 60 + Number(seconds)) * 1000;
}
