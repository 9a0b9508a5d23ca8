/** An image for podman, made of the static busybox of this machine, because nothing can be pulled in the tests. */
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

const isInstalled = (name: string): boolean => {
  try {
    execFileSync("which", [name]);
    return true;
  } catch {
    return false;
  }
};

/** True where the tests with podman are skipped: it or busybox is not installed, and this is not CI. */
export const LACKS_PODMAN =
  !(isInstalled("podman") && isInstalled("busybox")) && process.env["CI"] !== "true";

const APPLETS = [
  "sh",
  "cat",
  "dd",
  "echo",
  "env",
  "grep",
  "head",
  "id",
  "kill",
  "ls",
  "mkdir",
  "mv",
  "rm",
  "sleep",
  "touch",
  "wget",
  "yes",
];

/** Makes the image. `remove` deletes it, and resets the environment by which podman finds its settings. */
export function makeImage(): {
  readonly image: string;
  readonly podman: (...args: readonly string[]) => string;
  remove(): void;
} {
  const base = fs.mkdtempSync(join(tmpdir(), "filewright-image-"));
  const image = `localhost/filewright-test-${process.pid}`;
  const before = process.env["CONTAINERS_CONF"];
  // The runtime crun refuses machines on which both versions of cgroups are mounted.
  if (isInstalled("runc")) {
    fs.writeFileSync(join(base, "containers.conf"), '[engine]\nruntime = "runc"\n');
    process.env["CONTAINERS_CONF"] = join(base, "containers.conf");
  }
  const podman = (...args: readonly string[]): string =>
    execFileSync("podman", args, { encoding: "utf8", stdio: "pipe" });
  const tree = join(base, "tree");
  fs.mkdirSync(join(tree, "bin"), { recursive: true });
  fs.mkdirSync(join(tree, "etc"));
  fs.writeFileSync(join(tree, "etc/passwd"), "root:x:0:0::/:/bin/sh\n");
  fs.copyFileSync(execFileSync("which", ["busybox"], { encoding: "utf8" }).trim(), join(tree, "bin/busybox"));
  for (const name of APPLETS) fs.symlinkSync("busybox", join(tree, "bin", name));
  execFileSync("tar", ["-C", tree, "-cf", join(base, "image.tar"), "."]);
  podman("import", join(base, "image.tar"), image);
  return {
    image,
    podman,
    remove() {
      podman("rmi", "--force", image);
      if (before === undefined) delete process.env["CONTAINERS_CONF"];
      else process.env["CONTAINERS_CONF"] = before;
      fs.rmSync(base, { recursive: true, force: true });
    },
  };
}
