// Reads a record of strace (`-f -y -xx`) as a list of operations on a file system.
//
// The order of the list is the order in which the calls returned. Only calls that succeeded below one directory are
// in it. `writev` and `write` are taken as appends, because the journal, their only user, writes its files that way.
import { unlistedCalls } from "./calls.mjs";
import { join } from "node:path";

/**
 * One operation. Paths are absolute; `covers` is the number of operations that had returned when a flush began.
 * @typedef {{ kind: "create", path: string, truncate: boolean, mode: number }
 *   | { kind: "write", path: string, data: Buffer, offset: number | undefined }
 *   | { kind: "copy", path: string, from: string, length: number }
 *   | { kind: "truncate", path: string, size: number }
 *   | { kind: "rename", from: string, path: string, exchange: boolean }
 *   | { kind: "link", from: string, path: string }
 *   | { kind: "symlink", target: string, path: string }
 *   | { kind: "unlink" | "rmdir", path: string }
 *   | { kind: "mkdir", path: string, mode: number }
 *   | { kind: "chmod", path: string, mode: number }
 *   | { kind: "flush", path: string, covers: number, everything: boolean }
 *   | { kind: "identify", path: string, ino: string, mtime: string, ctime: string }
 *   | { kind: "mark", name: string }} Operation
 */

const fromHex = (text) =>
  text.replace(/\\x([0-9a-f]{2})/gu, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
/** Returns the bytes of every string literal in an argument. */
const bytesOf = (text) =>
  Buffer.concat([...text.matchAll(/"([^"]*)"/gu)].map(([, one]) => Buffer.from(fromHex(one), "latin1")));
const textOf = (argument) => bytesOf(argument).toString();
/** Returns the path of a descriptor, such as `3</etc/passwd>`. */
const pathOfDescriptor = (argument) => {
  const [, path] = /^(?:\d+|AT_FDCWD)<([^>]*)>/u.exec(argument) ?? [];
  return path === undefined ? "" : Buffer.from(fromHex(path), "latin1").toString();
};

/** Splits the arguments of a call at its outer commas. */
function splitArguments(text) {
  const found = [""];
  let depth = 0;
  for (const [token] of text.matchAll(/"[^"]*"|./gu)) {
    if ("[{(".includes(token)) depth++;
    if ("]})".includes(token)) depth--;
    if (token === "," && depth === 0) found.push("");
    else found[found.length - 1] += token;
  }
  return found.map((one) => one.trim());
}

/** Returns a path that a call gives as a directory and a name. */
const at = (directory, name) => join(pathOfDescriptor(directory), ".", textOf(name));
const pathAt = (directory, name) => (textOf(name).startsWith("/") ? textOf(name) : at(directory, name));
const octal = (text) => (text === undefined ? 0o666 : parseInt(text, 8));

/** Returns the operation of an open; none unless it can create or empty a file. */
function opened(path, flags, mode) {
  const truncate = flags.includes("O_TRUNC");
  return flags.includes("O_CREAT") || truncate ? [{ kind: "create", path, truncate, mode: octal(mode) }] : [];
}

const wrote = ([fd, text], result) => [
  { kind: "write", path: pathOfDescriptor(fd), data: bytesOf(text).subarray(0, result), offset: undefined },
];
const renamed = (from, path, flags = "") => [
  { kind: "rename", from, path, exchange: flags.includes("RENAME_EXCHANGE") },
];
const flushed = ([fd], _result, covers) => [
  { kind: "flush", path: pathOfDescriptor(fd), covers, everything: false },
];
/** Returns the nanoseconds since 1970 of a time, in hexadecimal. */
const timeIn = (text, name) => {
  const [, seconds, rest] = new RegExp(`${name}=\\{tv_sec=(\\d+), tv_nsec=(\\d+)\\}`, "u").exec(text) ?? [];
  return seconds === undefined ? "" : (BigInt(seconds) * 1_000_000_000n + BigInt(rest)).toString(16);
};
/** Returns the number and the times that a file system gave to an entry. */
const identified = ([dir, name, , , status]) => {
  const [, ino] = /stx_ino=(\d+)/u.exec(status) ?? [];
  const path = textOf(name) === "" ? pathOfDescriptor(dir) : pathAt(dir, name);
  const times = { mtime: timeIn(status, "stx_mtime"), ctime: timeIn(status, "stx_ctime") };
  return ino === undefined ? [] : [{ kind: "identify", path, ino: Number(ino).toString(16), ...times }];
};
const chmod = (path, mode) => [{ kind: "chmod", path, mode: octal(mode) }];

/** The operations of each system call, by its arguments, its result and the number of operations when it began. */
const OPERATIONS = {
  open: ([path, flags, mode]) => opened(textOf(path), flags, mode),
  openat: ([dir, name, flags, mode]) => opened(pathAt(dir, name), flags, mode),
  openat2: ([dir, name, how]) => opened(pathAt(dir, name), how, /mode=(\d+)/u.exec(how)?.[1]),
  write: wrote,
  writev: wrote,
  pwrite64: ([fd, text, , offset], result) => [{ ...wrote([fd, text], result)[0], offset: Number(offset) }],
  copy_file_range: ([from, , to], length) => [
    { kind: "copy", path: pathOfDescriptor(to), from: pathOfDescriptor(from), length },
  ],
  sendfile: ([to, from], length) => [
    { kind: "copy", path: pathOfDescriptor(to), from: pathOfDescriptor(from), length },
  ],
  ioctl: ([to, request, from]) =>
    request.includes("CLONE")
      ? [{ kind: "copy", path: pathOfDescriptor(to), from: pathOfDescriptor(from), length: Infinity }]
      : [],
  ftruncate: ([fd, size]) => [{ kind: "truncate", path: pathOfDescriptor(fd), size: Number(size) }],
  rename: ([from, to]) => renamed(textOf(from), textOf(to)),
  renameat: ([dir, from, other, to]) => renamed(pathAt(dir, from), pathAt(other, to)),
  renameat2: ([dir, from, other, to, flags]) => renamed(pathAt(dir, from), pathAt(other, to), flags),
  link: ([from, to]) => [{ kind: "link", from: textOf(from), path: textOf(to) }],
  linkat: ([dir, from, other, to]) => [{ kind: "link", from: pathAt(dir, from), path: pathAt(other, to) }],
  symlink: ([target, path]) => [{ kind: "symlink", target: textOf(target), path: textOf(path) }],
  symlinkat: ([target, dir, name]) => [{ kind: "symlink", target: textOf(target), path: pathAt(dir, name) }],
  unlink: ([path]) => [{ kind: "unlink", path: textOf(path) }],
  rmdir: ([path]) => [{ kind: "rmdir", path: textOf(path) }],
  unlinkat: ([dir, name, flags]) => [
    { kind: flags.includes("AT_REMOVEDIR") ? "rmdir" : "unlink", path: pathAt(dir, name) },
  ],
  mkdir: ([path, mode]) => [{ kind: "mkdir", path: textOf(path), mode: octal(mode) }],
  mkdirat: ([dir, name, mode]) => [{ kind: "mkdir", path: pathAt(dir, name), mode: octal(mode) }],
  chmod: ([path, mode]) => chmod(textOf(path), mode),
  fchmod: ([fd, mode]) => chmod(pathOfDescriptor(fd), mode),
  fchmodat: ([dir, name, mode]) => chmod(pathAt(dir, name), mode),
  statx: identified,
  fsync: flushed,
  fdatasync: flushed,
  syncfs: (args, result, covers) => [{ ...flushed(args, result, covers)[0], everything: true }],
};
/** Changing calls that the model does not have, so that a trace with them below the workspace is refused. */
const CALLS_WITHOUT_MODEL = new Set([
  "creat",
  "pwritev",
  "pwritev2",
  "splice",
  "truncate",
  "fallocate",
  "fchmodat2",
]);

/** Yields each complete call (`thread`, `text`), and the beginning of one that ends later (`thread`, `begins`). */
function* completeCalls(record) {
  const begun = new Map();
  for (const line of record.split("\n")) {
    const [, thread, rest] = /^(\d+) +(.*)$/u.exec(line) ?? [];
    if (rest === undefined || /^(?:\+\+\+|---)/u.test(rest)) continue;
    if (rest.endsWith("<unfinished ...>")) {
      const text = rest.slice(0, -"<unfinished ...>".length);
      begun.set(thread, text);
      yield { thread, begins: /^\w+/u.exec(text)?.[0] };
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/u.exec(rest);
    yield { thread, text: resumed === null ? rest : `${begun.get(thread) ?? ""}${resumed[1]}` };
    begun.delete(thread);
  }
}

/** Returns the name of a mark, which the traced program makes by asking for a file that does not exist. */
const markOf = (name, args, marks) =>
  name === "access" && textOf(args[0]).startsWith(`${marks}/`)
    ? textOf(args[0]).slice(marks.length + 1)
    : undefined;

/**
 * Returns the operations below `base`, with a mark for each path below `marks` that the program asked about.
 * @param {string} record
 * @param {{ base: string, marks: string }} where
 * @returns {Operation[]}
 * @throws for a changing call that the model lacks, or one that crash/calls.mjs does not list
 */
export function readOperations(record, { base, marks }) {
  /** @type {Operation[]} */
  const operations = [];
  const begunAt = new Map();
  const names = new Set();
  for (const { thread, text, begins } of completeCalls(record)) {
    if (begins !== undefined) {
      begunAt.set(thread, operations.length);
      continue;
    }
    const covers = begunAt.get(thread) ?? operations.length;
    begunAt.delete(thread);
    const [, name, given, result] = /^(\w+)\((.*)\) += (-?\d+|\?)/u.exec(text) ?? [];
    if (name === undefined) continue;
    names.add(name);
    const args = splitArguments(given);
    const mark = markOf(name, args, marks);
    if (mark !== undefined) operations.push({ kind: "mark", name: mark });
    else if (Number(result) >= 0)
      operations.push(...operationsOf(name, { args, covers, base }, Number(result)));
  }
  const unlisted = unlistedCalls(names);
  if (unlisted.length > 0) throw new Error(`the lists of calls lack ${unlisted.join(", ")}`);
  return operations;
}

/** Returns the operations of one successful call below `base`. */
function operationsOf(name, { args, covers, base }, result) {
  const meaning = OPERATIONS[name];
  if (meaning !== undefined)
    return meaning(args, result, covers).filter(({ path }) => path.startsWith(`${base}/`) || path === base);
  const isBelow = args.some((one) => (pathOfDescriptor(one) || textOf(one)).startsWith(`${base}/`));
  if (isBelow && CALLS_WITHOUT_MODEL.has(name)) throw new Error(`the model of the disk lacks ${name}`);
  return [];
}
