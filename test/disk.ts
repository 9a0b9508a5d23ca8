/** Plain `node:fs` behind the contract's names: what the kernel itself says, to compare with. */
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { type Code, FilewrightError } from "../js/index.node.ts";

const CODES: Readonly<Record<string, Code>> = {
  ENOENT: "NOT_FOUND",
  EEXIST: "ALREADY_EXISTS",
  EISDIR: "IS_DIRECTORY",
  ENOTDIR: "NOT_DIRECTORY",
  ENOTEMPTY: "NOT_EMPTY",
  ELOOP: "LOOP",
  EINVAL: "INVALID_ARGUMENT",
  ENAMETOOLONG: "NAME_TOO_LONG",
};

/** Runs a system call; its failure bears a code of the closed list. */
function posix<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    const code = CODES[(error as NodeJS.ErrnoException).code ?? ""];
    throw code === undefined ? error : new FilewrightError(code, String(error));
  }
}

const present = (path: string): fs.Stats | undefined => fs.lstatSync(path, { throwIfNoEntry: false });

const followed = (path: string): fs.Stats | undefined => {
  try {
    return fs.statSync(path);
  } catch {
    return undefined;
  }
};

const kindOf = (stat: fs.Stats | fs.Dirent): string =>
  stat.isDirectory() ? "dir" : stat.isSymbolicLink() ? "symlink" : "file";

const facts = (stat: fs.Stats): readonly unknown[] => [
  kindOf(stat),
  stat.isDirectory() ? 0 : stat.size,
  stat.isSymbolicLink() ? 0 : stat.mode & 0o777,
];

/** The operations of the model test, on the disk. All answers are plain data. */
export const disk = {
  exists: (path: string) => fs.existsSync(path),
  stat: (path: string) => posix(() => facts(fs.statSync(path))),
  lstat: (path: string) => posix(() => facts(fs.lstatSync(path))),
  read: (path: string) => posix(() => fs.readFileSync(path, "utf8")),
  list: (path: string) =>
    posix(() =>
      fs
        .readdirSync(path, { withFileTypes: true })
        .map((entry) => [entry.name, kindOf(entry)])
        .sort(),
    ),
  readLink: (path: string) => posix(() => fs.readlinkSync(path)),
  realpath: (path: string) => posix(() => fs.realpathSync.native(path)),
  write: (path: string, text: string, flag: "w" | "wx") =>
    posix(() => {
      // Root may write anything; the contract refuses what nobody may write.
      const there = flag === "w" ? followed(path) : undefined;
      if (there?.isFile() && (there.mode & 0o222) === 0) throw new FilewrightError("PERMISSION_DENIED", path);
      fs.writeFileSync(path, text, { flag });
    }),
  mkdir: (path: string, parents: boolean, existOk: boolean) =>
    posix(() => {
      const there = followed(path);
      if (there?.isDirectory() && existOk) return;
      if (present(path)) throw new FilewrightError("ALREADY_EXISTS", path);
      if (parents) fs.mkdirSync(dirname(path), { recursive: true });
      fs.mkdirSync(path);
    }),
  delete: (path: string) =>
    posix(() => (fs.lstatSync(path).isDirectory() ? fs.rmdirSync(path) : fs.unlinkSync(path))),
  rename: (from: string, to: string, overwrite: boolean) =>
    posix(() => {
      fs.lstatSync(from);
      if (!overwrite && present(to)) throw new FilewrightError("ALREADY_EXISTS", to);
      fs.renameSync(from, to);
    }),
  symlink: (target: string, path: string) => posix(() => fs.symlinkSync(target, path)),
  chmod: (path: string, mode: number) => posix(() => fs.chmodSync(path, mode)),
};

/** A whole tree as data: `[path, kind, content, permission bits]`, sorted. */
export function treeOf(root: string, below = ""): unknown[] {
  return fs.readdirSync(join(root, below), { withFileTypes: true }).flatMap((entry) => {
    const path = join(below, entry.name);
    const at = join(root, path);
    if (entry.isSymbolicLink()) return [[path, "symlink", fs.readlinkSync(at)]];
    const mode = fs.statSync(at).mode & 0o777;
    if (entry.isDirectory()) return [[path, "dir", mode], ...treeOf(root, path)];
    return [[path, "file", fs.readFileSync(at, "utf8"), mode]];
  });
}
