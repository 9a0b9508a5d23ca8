/** Real paths and contents of files that are asked for in one turn: one job, with the answers of two. */
import * as fs from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { requireAddon } from "../../js/engine/load.node.ts";
import { LocalBackend } from "../../js/index.node.ts";
import { afterThisTest } from "../support/cleanups.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const JOBS = ["read", "readLocated", "realpath"] as const;
const asked: string[] = [];
/** The directory of the test. Workspaces of earlier tests of this process may still read elsewhere. */
let own = "";
beforeEach(() => {
  asked.length = 0;
  const { prototype } = requireAddon("this test").NativeRoots;
  for (const name of JOBS) {
    const job = prototype[name] as (...given: unknown[]) => Promise<never>;
    const spy = vi.spyOn(prototype, name).mockImplementation(function (this: unknown, ...given: unknown[]) {
      if (String(given[0]).startsWith(own)) asked.push(name);
      return job.apply(this, given);
    });
    afterThisTest(() => spy.mockRestore());
  }
});

/** A directory with files of each kind, and a disk that may read `w` and write `w` and `only-written`. */
function place() {
  const base = fs.realpathSync(temporaryDirectory());
  own = base;
  for (const name of ["w/d", "only-written", "outside"]) fs.mkdirSync(join(base, name), { recursive: true });
  for (const name of ["w/f", "w/d/g", "only-written/f", "outside/f"])
    fs.writeFileSync(join(base, name), name);
  // A read sets the time of the last access unless that is later already.
  for (const name of ["w/f", "w/d/g"]) fs.utimesSync(join(base, name), 4e9, 1e9);
  fs.symlinkSync("d/g", join(base, "w/link"));
  fs.symlinkSync("../outside/f", join(base, "w/out"));
  fs.symlinkSync("loop", join(base, "w/loop"));
  const [w, only] = [join(base, "w"), join(base, "only-written")];
  const policy = { cwd: w, read: [w], write: [w, only], deny: [], protect: true, readOnly: false };
  const disk = new LocalBackend({ policy: { ...policy, followSymlinks: "inside" } });
  afterThisTest(() => disk.close());
  return { base, disk };
}

/** Returns what a promise resolves to, or the facts of its error. */
async function outcomeOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    return await promise;
  } catch (error) {
    const { code, message, path } = error as { code: string; message: string; path: string };
    return { code, message, path };
  }
}

const PATHS: Readonly<Record<string, string>> = {
  "a file": "w/f",
  "a file behind a link": "w/link",
  "a directory": "w/d",
  "a missing file": "w/new",
  "a file in a missing directory": "w/no/new",
  "a link out of the roots": "w/out",
  "a link to itself": "w/loop",
  "a file that may only be written": "only-written/f",
  "a file outside": "outside/f",
  "a file larger than the limit": "w/d/g",
};

test.each(Object.entries(PATHS))("one job answers for %s as two do", async (name, path) => {
  const { base, disk } = place();
  const at = join(base, path);
  const options = { maxBytes: name.includes("limit") ? 2 : 100 };
  const alone = [await outcomeOf(disk.realpath(at)), await outcomeOf(disk.read(at, options))];
  expect(asked).toEqual(["realpath", "read"]);
  for (const isReadFirst of [false, true]) {
    asked.length = 0;
    const [first] = isReadFirst ? [disk.read(at, options)] : [undefined];
    const [real, content] = [disk.realpath(at), first ?? disk.read(at, options)];
    expect([await outcomeOf(real), await outcomeOf(content)]).toEqual(alone);
    expect(asked).toEqual(["readLocated"]);
  }
});

test("calls that ask for other things, or one after another, have jobs of their own", async () => {
  const { base, disk } = place();
  const [f, g] = [join(base, "w/f"), join(base, "w/d/g")];
  const [{ version } = { version: "" }] = [(await disk.read(f)) ?? undefined];
  asked.length = 0;
  await Promise.all([
    disk.realpath(f),
    disk.realpath(f),
    disk.read(g),
    disk.read(g),
    disk.read(f, { ifNoneMatch: version }),
  ]);
  expect(asked.toSorted()).toEqual(["read", "read", "read", "realpath"]);
});

test("a cancelled read leaves the real path", async () => {
  const { base, disk } = place();
  const at = join(base, "w/f");
  const cancelled = AbortSignal.abort();
  const [real, content] = [disk.realpath(at), outcomeOf(disk.read(at, { signal: cancelled }))];
  expect(await real).toBe(at);
  expect(await content).toMatchObject({ code: "CANCELLED" });
});

test("what was asked before the disk is closed is answered", async () => {
  const base = fs.realpathSync(temporaryDirectory());
  fs.writeFileSync(join(base, "f"), "text");
  const disk = new LocalBackend();
  const asked = [disk.read(join(base, "f")), disk.realpath(join(base, "f"))] as const;
  disk.close();
  expect(new TextDecoder().decode((await asked[0])?.bytes)).toBe("text");
  expect(await asked[1]).toBe(join(base, "f"));
});
