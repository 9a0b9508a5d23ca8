/**
 * Races against the disk without the addon: another process exchanges a directory with a link that leads out, as
 * fast as the kernel can, while every method goes through that name. On Linux nothing may be read, listed or
 * changed outside. A naive control escapes in the same race, or nothing is proved.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { FilewrightError, NodeBackend, SandboxPolicy } from "../../js/index.node.ts";
import { exchanging } from "./attacker.ts";
import { arena, BASE, controlEscapes, RACE_MS } from "./race.ts";
import { ARMS } from "./world.ts";

const ROUNDS = Number(process.env.FILEWRIGHT_ATTACK_ROUNDS ?? 5_000);
/** The calls of each method that must get through at least. */
const THROUGH = 20;
/** The longest race; a longer one fails as proving nothing. */
const MAX_RACE_MS = 15_000;

type Method = (disk: NodeBackend, at: (path: string) => string, turn: number) => Promise<unknown>;

const METHODS: Readonly<Record<string, Method>> = {
  readText: (disk, at) => disk.readText(at("d/s")),
  read: async (disk, at) => new TextDecoder().decode((await disk.read(at("d/s")))?.bytes),
  hash: (disk, at) => disk.hash(at("d/s")),
  stat: (disk, at) => disk.stat(at("d/s")),
  listDir: (disk, at) => disk.listDir(at("d")),
  "write a new file": (disk, at, turn) => disk.writeText(at(`d/n${turn}`), "PWN"),
  "replace a file": (disk, at) => disk.writeText(at("d/s"), "fine"),
  "write with new parents": (disk, at, turn) =>
    disk.writeText(at(`d/p${turn}/q/f`), "PWN", { createDirs: true }),
  mkdir: (disk, at, turn) => disk.mkdir(at(`d/m${turn}/a`)),
  symlink: (disk, at, turn) => disk.symlink("s", at(`d/l${turn}`)),
  chmod: (disk, at, turn) => disk.chmod(at("d/s"), 0o600 + (turn % 2) * 0o44),
  "copy in": (disk, at) => disk.copyFile(at("f"), at("d/s"), { overwrite: true }),
  "copy out of it": async (disk, at) => {
    await disk.copyFile(at("d/s"), at("got"), { overwrite: true });
    return disk.readText(at("got"));
  },
  "move in and out": async (disk, at, turn) => {
    await disk.rename(at("tree/g"), at(`d/g${turn}`));
    await disk.rename(at(`d/g${turn}`), at("tree/g"));
  },
  delete: async (disk, at) => {
    await disk.delete(at("d/s"));
  },
  removeTree: (disk, at) => disk.removeTree(at("d/dir")),
};

/** Puts back what the methods have taken away, on both sides of the exchange. */
function refill(root: string): void {
  for (const name of ["d", "evil"]) {
    const path = join(root, name);
    if (!fs.lstatSync(path).isDirectory()) continue;
    fs.rmSync(path, { recursive: true, force: true });
    fs.mkdirSync(join(path, "dir"), { recursive: true });
    fs.writeFileSync(join(path, "s"), "fine");
    fs.writeFileSync(join(path, "dir/x"), "fine");
  }
  fs.mkdirSync(join(root, "tree"), { recursive: true });
  fs.writeFileSync(join(root, "tree/g"), "g");
}

describe.skipIf(process.platform !== "linux" || !fs.existsSync("/proc/self/fd"))("without the addon", () => {
  const arm = ARMS.find(({ resolver }) => resolver === "node");

  test.skipIf(arm === undefined)(
    "the naive control escapes in such a race",
    { timeout: RACE_MS },
    async () => {
      await controlEscapes(await arena(arm as NonNullable<typeof arm>));
    },
  );

  test.each(Object.entries(METHODS))("%s stays inside", { timeout: RACE_MS }, async (name, method) => {
    const base = fs.realpathSync(fs.mkdtempSync(join(BASE, "filewright-race-")));
    const [root, outside] = [join(base, "ws"), join(base, "out")];
    fs.mkdirSync(root);
    fs.mkdirSync(join(outside, "dir"), { recursive: true });
    for (const file of ["s", "dir/x", "SECRET-name"])
      fs.writeFileSync(join(outside, file), "SECRET", { mode: 0o640 });
    fs.mkdirSync(join(root, "d"));
    fs.symlinkSync("../out", join(root, "evil"));
    fs.writeFileSync(join(root, "f"), "fine");
    refill(root);
    const before = outsideOf(outside);
    const disk = new NodeBackend({ policy: SandboxPolicy.workspaceOnly(root) });
    let [through, turn] = [0, 0];
    const [, { done }] = await exchanging(join(root, "d"), join(root, "evil"), ROUNDS, async (attack) => {
      const until = performance.now() + MAX_RACE_MS;
      while (performance.now() < until && !(attack.enough() && through >= THROUGH)) {
        turn += 1;
        // The methods wait for nothing, and the attacker's word comes by the event loop.
        await new Promise((resolve) => setImmediate(resolve));
        const at = (path: string): string => join(root, path);
        const found = await method(disk, at, turn).then(
          (value) => {
            through += 1;
            return JSON.stringify(value) ?? "";
          },
          (error: unknown) => {
            if (!(error instanceof FilewrightError)) throw error;
            return error.message;
          },
        );
        expect(found, name).not.toContain("SECRET");
        if (turn % 20 === 0 || name === "delete" || name === "removeTree") putBack(root);
      }
    });
    disk.close();
    expect(outsideOf(outside), name).toEqual(before);
    expect(through, `${name}: nothing got through, so nothing is proved`).toBeGreaterThanOrEqual(THROUGH);
    expect(done).toBeGreaterThanOrEqual(ROUNDS);
    fs.rmSync(base, { recursive: true, force: true });
  });
});

/** Puts back what a method takes away, by a name that the attacker does not exchange in the same moment. */
function putBack(root: string): void {
  for (const name of ["d", "evil"]) {
    try {
      const fd = fs.openSync(join(root, name), fs.constants.O_DIRECTORY | fs.constants.O_NOFOLLOW);
      try {
        const at = `/proc/self/fd/${fd}`;
        fs.mkdirSync(`${at}/dir`, { recursive: true });
        fs.writeFileSync(`${at}/s`, "fine");
        fs.writeFileSync(`${at}/dir/x`, "fine");
      } finally {
        fs.closeSync(fd);
      }
    } catch {
      // It is the link just now.
    }
  }
  if (!fs.existsSync(join(root, "tree/g"))) fs.writeFileSync(join(root, "tree/g"), "g");
}

/** Returns everything outside: names, contents and modes. */
function outsideOf(outside: string): readonly string[] {
  return fs
    .readdirSync(outside, { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => {
      const stat = fs.lstatSync(join(outside, name));
      const content = stat.isFile() ? fs.readFileSync(join(outside, name), "utf8") : "";
      return `${name} ${stat.mode.toString(8)} ${stat.nlink} ${content}`;
    });
}
