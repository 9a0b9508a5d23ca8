// Tries the archive of a container image without a container runtime: bubblewrap runs its entry point as its
// user, without network, over its root file system, which cannot be written.
//
//   node scripts/release/channels/try-image.mjs ARCHIVE
//
// An image for arm64 is run by an emulator elsewhere. Needs root (for buildah, which reads the archive) and what
// scripts/release/tools.mjs installs.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { BuildError, runAndWait, runScript } from "../../lib/run.mjs";
import { ARM64_EMULATOR } from "../tools.mjs";
import { holdSession } from "./session.mjs";

/**
 * How a container is run, by what it shows. `state` is a directory of the host, in which a server leaves
 * its history.
 * @type {Readonly<Record<string, { user?: string, mounts: (state: string) => readonly string[] }>>}
 */
const WAYS = {
  "with a volume": { mounts: (state) => ["--bind", state, "/state", "--tmpfs", "/tmp"] },
  "with a temporary directory alone": { mounts: () => ["--tmpfs", "/tmp"] },
  "as another user": { user: "4321:4321", mounts: (state) => ["--bind", state, "/state", "--tmpfs", "/tmp"] },
};

/** Where the emulator of arm64 is in the container: in a directory that each of `WAYS` mounts. */
const EMULATOR = "/tmp/emulator";

/**
 * Returns the command line of bubblewrap for an image.
 *
 * @param {string} rootFolder
 * @param {{ User: string, Env: readonly string[], Entrypoint: readonly string[], Cmd: readonly string[], WorkingDir: string }} config
 * @param {{ user?: string, mounts: readonly string[], directory: string, emulated: boolean }} run `directory` is
 *   what is served
 */
function sandboxed(rootFolder, config, { user = config.User, mounts, directory, emulated }) {
  const [uid, gid] = user.split(":");
  return [
    "/usr/bin/bwrap",
    ...["--unshare-all", "--die-with-parent", "--clearenv", "--uid", uid, "--gid", gid],
    ...["--ro-bind", rootFolder, "/", "--proc", "/proc", "--dev", "/dev", ...mounts],
    ...["--bind", directory, "/repo", "--chdir", config.WorkingDir],
    ...config.Env.flatMap((one) => {
      const [name, ...value] = one.split("=");
      return ["--setenv", name, value.join("=")];
    }),
    ...(emulated ? ["--ro-bind", `/usr/bin/${ARM64_EMULATOR}`, EMULATOR, EMULATOR] : []),
    ...config.Entrypoint,
    ...config.Cmd,
  ];
}

/** Holds a session with the server of an image in each of `WAYS`, and returns what `access_info` said. */
export async function tryImage(archive) {
  const store = mkdtempSync(join(tmpdir(), "filewright-try-image-"));
  const buildah = (...args) =>
    runAndWait("buildah", ["--root", join(store, "root"), "--runroot", join(store, "run"), ...args], {
      env: { STORAGE_DRIVER: "vfs" },
      capture: true,
    }).stdout.trim();
  const answers = {};
  let container;
  try {
    container = buildah("from", "--quiet", `oci-archive:${resolve(archive)}`);
    const { config, architecture } = JSON.parse(buildah("inspect", container)).OCIv1;
    const emulated = architecture === "arm64" && process.arch !== "arm64";
    const rootFolder = buildah("mount", container);
    assert.notEqual(config.User.split(":")[0], "0", "the image runs as root");
    for (const [way, { user, mounts }] of Object.entries(WAYS)) {
      const state = join(store, `state-${Object.keys(answers).length}`);
      mkdirSync(state);
      const served = await holdSession((directory) =>
        sandboxed(rootFolder, config, { user, mounts: mounts(state), directory, emulated }),
      );
      assert.match(served.read, /served/u, way);
      assert.equal(served.written, "written\n", `${way}: ${served.written}`);
      assert.equal(served.version, config.Labels["org.opencontainers.image.version"], way);
      if (mounts(state).includes(state)) assert.deepEqual(readdirSync(state), ["filewright"], way);
      assert.match(served.access, /^Engine: native/mu, way);
      answers[way] = served.access;
    }
  } finally {
    if (container !== undefined) buildah("umount", container);
    rmSync(store, { recursive: true, force: true });
  }
  return answers;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(async () => {
    const [archive] = process.argv.slice(2);
    if (archive === undefined)
      throw new BuildError("usage: node scripts/release/channels/try-image.mjs ARCHIVE");
    for (const [way, access] of Object.entries(await tryImage(archive)))
      console.log(
        `${way}: ${access
          .split("\n")
          .filter((line) => /^(?:Engine|Kernel)/u.test(line))
          .join("; ")}`,
      );
  });
}
