/**
 * The merge of a fork equals `git merge-file` for each text whose lines end alike: the same bytes, or a conflict in
 * both. (Lines are compared without their ends, so a last line without one is merged where git has a conflict.)
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { seededRandom } from "../../../scripts/lib/deep-kind.mjs";
import { absolute, openDisk, rootedAt, treeOf, write } from "./subject.ts";

const FILES = 120;

/** A text, and the changes of it that both sides make. */
interface Generated {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

function generate(random: ReturnType<typeof seededRandom>): Generated {
  const end = random.below(6) === 0 ? "\r\n" : "\n";
  const lines = Array.from({ length: 4 + random.below(40) }, (_, i) => `line ${i} ${random.below(5)}`);
  const edit = (): string => {
    const own = [...lines];
    for (let changes = 1 + random.below(4); changes > 0; changes--) {
      const at = random.below(own.length + 1);
      const kind = random.below(3);
      if (kind === 0) own.splice(at, 0, `added ${random.below(3)}`);
      else if (kind === 1) own.splice(at, 1 + random.below(2));
      else if (at < own.length) own[at] = `changed ${random.below(3)}`;
    }
    return own.map((line) => line + end).join("");
  };
  return { base: lines.join(end) + end, ours: edit(), theirs: edit() };
}

/** Merges by git. Undefined for a conflict. */
function byGit(directory: string, { base, ours, theirs }: Generated): string | undefined {
  const paths = ["ours", "base", "theirs"].map((name) => join(directory, name));
  for (const [index, text] of [ours, base, theirs].entries()) writeFileSync(paths[index] as string, text);
  const { status, stdout } = spawnSync("git", ["merge-file", "-p", ...paths], { encoding: "utf8" });
  return status === 0 ? stdout : undefined;
}

it(`${FILES} generated texts that both sides changed`, async () => {
  expect(execFileSync("git", ["--version"], { encoding: "utf8" })).toContain("git version");
  const random = seededRandom(20261126);
  const all = new Map(Array.from({ length: FILES }, (_, i) => [`f${i}.txt`, generate(random)]));
  const side = (name: keyof Generated): Record<string, string> =>
    Object.fromEntries([...all].map(([path, texts]) => [path, texts[name]]));
  const { ws, dispose } = await openDisk();
  const directory = mkdtempSync(join(tmpdir(), "filewright-merge-file-"));
  try {
    const { cwd } = await ws.accessInfo({});
    rootedAt(ws, cwd);
    await write(ws, side("base"));
    const fork = await ws.fork();
    rootedAt(fork, cwd);
    await write(fork, side("theirs"));
    await write(ws, side("ours"));
    const expected = new Map([...all].map(([path, texts]) => [path, byGit(directory, texts)]));
    const { conflicts } = await fork.merge({ dryRun: true });
    const conflicting = [...expected].filter(([, merged]) => merged === undefined).map(([path]) => path);
    expect(conflicts.map(({ path }) => path).sort()).toEqual(conflicting.sort());
    expect(conflicting.length).toBeGreaterThan(FILES / 10);
    expect(conflicting.length).toBeLessThan(FILES / 1.2);
    // Without those in conflict, the merge is made.
    for (const path of conflicting) await fork.fs.writeText(absolute(fork, path), all.get(path)?.ours ?? "");
    expect((await fork.merge()).conflicts).toEqual([]);
    const tree = await treeOf(ws);
    for (const [path, merged] of expected)
      expect([path, tree[path]]).toEqual([path, merged ?? all.get(path)?.ours]);
  } finally {
    await dispose();
    rmSync(directory, { recursive: true, force: true });
  }
});
