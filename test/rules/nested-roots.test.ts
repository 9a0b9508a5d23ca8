/** Of roots that lie in each other, and roots that are links, the deepest name around a path counts. */
import type { Files } from "../../js/backends/files.ts";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  createResolver,
  LocalBackend,
  MemoryBackend,
  openWorkspace,
  SandboxedBackend,
  SandboxPolicy,
} from "../../js/index.node.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** `w` is a link to `A`, and `A/x` one to `B`: a path below `w/x` is really below `B`. */
async function made(kind: "memory" | "local"): Promise<{ readonly base: string; readonly backend: Files }> {
  if (kind === "memory") {
    const backend = new MemoryBackend({ "/A/f": "in A\n", "/A/y/f": "in y\n", "/B/f": "in B\n" });
    await backend.symlink("/A", "/w");
    await backend.symlink("../B", "/A/x");
    return { base: "", backend };
  }
  const base = await realpath(await mkdtemp(join(tmpdir(), "filewright-roots-")));
  cleanups.push(() => rm(base, { recursive: true, force: true }));
  for (const directory of ["A", "A/y", "B"]) {
    await mkdir(join(base, directory));
    await writeFile(join(base, directory, "f"), `in ${directory.slice(-1)}\n`);
  }
  await symlink(join(base, "A"), join(base, "w"));
  await symlink("../B", join(base, "A", "x"));
  return { base, backend: new LocalBackend() };
}

const orders = [
  ["w", "w/x"],
  ["w/x", "w"],
  ["A", "w/x", "w"],
  ["w/x", "B", "w"],
];

describe.each(["memory", "local"] as const)("linked and nested roots on %s", (kind) => {
  describe.each(orders)("%s %s", (...names) => {
    const open = async (followSymlinks: "never" | "inside") => {
      const { base, backend } = await made(kind);
      const roots = names.filter((name) => name !== undefined).map((name) => `${base}/${name}`);
      const policy = SandboxPolicy.allowList({ cwd: `${base}/w`, read: roots, write: roots, followSymlinks });
      const confined = new SandboxedBackend(backend, policy);
      const resolver = await createResolver(policy, async (path) => backend.realpath(path));
      return { base, confined, resolver };
    };

    test.each(["never", "inside"] as const)(
      "a path below both is the inner root's, links %s followed",
      async (follow) => {
        const { base, confined, resolver } = await open(follow);
        expect(await confined.readText(`${base}/w/x/f`)).toBe("in B\n");
        expect(await confined.readText(`${base}/w/y/f`)).toBe("in y\n");
        expect(resolver.resolve(`${base}/w/x/f`, "read")).toMatchObject({
          path: `${base}/B/f`,
          root: `${base}/B`,
        });
        expect(resolver.resolve(`${base}/w/x`, "write")).toMatchObject({
          path: `${base}/B`,
          root: `${base}/B`,
        });
        expect(resolver.resolve(`${base}/w/y/f`, "read")).toMatchObject({
          path: `${base}/A/y/f`,
          root: `${base}/A`,
        });
        expect(resolver.resolve(`${base}/B/f`, "read")).toMatchObject({ root: `${base}/B` });
      },
    );

    test("the real path of a link is no name of the root that it leads to", async () => {
      const { base, confined } = await open("never");
      await expect((async () => confined.readText(`${base}/A/x/f`))()).rejects.toMatchObject({
        code: "OUTSIDE_ALLOWED",
      });
    });
  });

  test("a rule and a deny glob hold by the name of the root and by the real path", async () => {
    const { base, backend } = await made(kind);
    const roots = [`${base}/w`, `${base}/w/x`];
    const own = kind === "memory" ? { backend } : {};
    for (const path of [`${base}/B/f`, `${base}/B`]) {
      const ws = await openWorkspace({ ...own, roots, rules: [{ path, decision: "deny" }] });
      cleanups.push(() => ws.close());
      expect((await ws.call("read_file", { path: `${base}/w/x/f` })).error?.code).toBe("APPROVAL_DENIED");
      expect((await ws.call("read_file", { path: "f" })).ok).toBe(true);
    }
  });
});
