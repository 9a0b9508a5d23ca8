// Makes one change with `NodeBackend` as a process of its own, below the directory of its first argument, and prints
// the code and the message of its error as JSON. The second argument names the change.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { NodeBackend } from "../../dist/cli/library.js";

const [, , root, change] = process.argv;
const disk = new NodeBackend();
const file = `${root}/readonly/a`;

/** Returns the exception that `node:fs` would throw. */
const fault = (syscall) => Object.assign(new Error("EIO"), { code: "EIO", errno: -5, syscall });

/** Replaces a function of `node:fs` for every module. */
function replace(name, replacement) {
  fs[name] = replacement;
  syncBuiltinESMExports();
}

/** Lets each write take at most 1000 bytes, and fail beyond 2000 bytes of new content, which consists of `n`. */
function limitWrites() {
  const { writeSync } = fs;
  replace("writeSync", (fd, bytes, from, count, at) => {
    if (bytes[0] === 0x6e && at >= 2000) throw fault("write");
    return writeSync(fd, bytes, from, Math.min(count, 1000), at);
  });
}

const CHANGES = {
  rename: () => disk.rename(`${root}/readonly/a`, `${root}/target/a`),
  rewrite: () => disk.writeText(file, "n".repeat(2_500_000)),
  "rewrite with short writes": () => {
    limitWrites();
    return disk.writeText(file, "n".repeat(4000));
  },
  "rewrite and flush": () => {
    replace("fsync", (_, done) => done(fault("fsync")));
    return disk.writeText(file, "n".repeat(4000), { mode: 0o600, durability: "durable" });
  },
  "rewrite and flush while the mode changes": () => {
    replace("fsync", (_, done) => {
      fs.chmodSync(file, 0o600);
      done(fault("fsync"));
    });
    return disk.writeText(file, "n".repeat(4000), { durability: "durable" });
  },
};

try {
  await CHANGES[change]();
  console.log("{}");
} catch ({ code, message, path }) {
  console.log(JSON.stringify({ code, message, path }));
}
