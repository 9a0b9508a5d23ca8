/** A storage that finds names in any letter case, as macOS does: no spelling of a denied name reaches the file. */
import { readdirSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import {
  LocalBackend,
  NodeBackend,
  openWorkspace,
  OverlayBackend,
  SandboxedBackend,
  SandboxPolicy,
} from "../../../js/index.node.ts";
import { provideShortcuts } from "../../../js/backends/abilities.ts";
import { withPathsOf } from "../../../js/backends/windows-paths.ts";
import { caseFoldingVolume } from "./windows-volume.ts";

const SEED = { "/repo/Private.txt": "content that is denied\n", "/repo/src/Open.txt": "open\n" };

function makeVolume() {
  const made = caseFoldingVolume(SEED);
  provideShortcuts(made.volume, { paths: () => true });
  return made;
}

it.each([
  ["directly", "/repo/private.txt"],
  ["in a directory in another letter case", "/repo/SRC/KEY.txt"],
])("a denied name is refused to every method %s", async (_, path) => {
  const { disk, volume } = makeVolume();
  await disk.writeText("/repo/src/key.txt", "key\n");
  const policy = SandboxPolicy.workspaceOnly("/repo", { deny: ["Private.txt", "src/key.txt"] });
  const confined = new SandboxedBackend(volume, policy);
  const refused = { code: "OUTSIDE_ALLOWED" };
  await expect(confined.stat(path)).rejects.toMatchObject(refused);
  await expect(confined.readText(path)).rejects.toMatchObject(refused);
  await expect(confined.writeText(path, "x")).rejects.toMatchObject(refused);
  await expect(confined.delete(path)).rejects.toMatchObject(refused);
  await expect(confined.rename?.(path, "/repo/taken.txt")).rejects.toMatchObject(refused);
  await expect(confined.rename?.("/repo/src/Open.txt", path, { overwrite: true })).rejects.toMatchObject(
    refused,
  );
  expect(await disk.readText("/repo/Private.txt")).toBe(SEED["/repo/Private.txt"]);
  expect(await disk.readText("/repo/src/key.txt")).toBe("key\n");
});

it("a link to another spelling of a denied name is refused, and other names are found in any spelling", async () => {
  const { disk, volume } = makeVolume();
  await disk.symlink("PRIVATE.txt", "/repo/link");
  const ws = await openWorkspace({
    backend: new OverlayBackend(volume),
    root: "/repo",
    access: { deny: ["Private.txt"] },
    rules: [{ path: "src/closed/**", decision: "deny" }],
  });
  await disk.mkdir("/repo/src/closed");
  await disk.writeText("/repo/src/closed/a.txt", "closed\n");
  for (const path of ["link", "PRIVATE.TXT", "SRC/Closed/a.txt"])
    expect((await ws.call("read_file", { path })).ok, path).toBe(false);
  expect(await ws.call("read_file", { path: "SRC/open.txt" })).toMatchObject({ ok: true });
  await ws.close();
});

it("a real path has the stored names", async () => {
  const { volume } = makeVolume();
  const kept = new SandboxedBackend(volume, SandboxPolicy.workspaceOnly("/repo", { deny: ["Private.txt"] }));
  expect(await kept.realpath?.("/repo/SRC/OPEN.txt")).toBe("/repo/src/Open.txt");
});

it.each([
  ["darwin", true],
  ["linux", undefined],
])("the rules of a disk on %s ignore letter case: %s", (platform, expected) => {
  const own = Object.getOwnPropertyDescriptor(process, "platform") as PropertyDescriptor;
  // The addon of this machine, because there is none for the other name.
  const native = new URL("../../../dist/native/", import.meta.url);
  const addon = readdirSync(native).find((name) => name.endsWith(".node")) as string;
  vi.stubEnv("FILEWRIGHT_ENGINE", fileURLToPath(new URL(addon, native)));
  Object.defineProperty(process, "platform", { ...own, value: platform });
  try {
    for (const disk of [new NodeBackend(), new LocalBackend()])
      expect(withPathsOf(disk, SandboxPolicy.workspaceOnly("/repo")).foldsCase).toBe(expected);
  } finally {
    Object.defineProperty(process, "platform", own);
    vi.unstubAllEnvs();
  }
});
