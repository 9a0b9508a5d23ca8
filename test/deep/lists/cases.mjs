// Makes generated lists of changes in one job of the disk, by steps, and by steps over a driver without such a job, and
// compares what all leave.
//
// A list writes, makes, removes, moves and copies files, or moves a directory; another program may have changed one of them
// since it was planned, a file may be write-protected, and a file may have two names, so that a list fails at any of its
// changes. Compared are the tree, the error, the entries of the record, and the tree after an undo. A driver has other
// facts in a record, and other words for an error.
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { diskTree } from "../../support/disk-tree.mjs";

/** The names of files and of directories that are there, and of some that are not. */
const FILES = ["a", "b", "c", "d/a", "d/b", "d/e/a", "d/e/ü 'x'", "z"];
const NEW_FILES = ["n", "d/n", "d/e/n", "x/n", "x/y/n", "x/y/z/n", "d/w/n", "a/n", "empty/n"];

const DIRECTORIES = ["m", "m/k", "x", "x/y/k", "d", "a"];
/** The ends of moved directories. */
const MOVES = ["d", "d/e", "empty", "a", "m", "m/k", "d/k", "x/y/k", "d/e/k"];

const bytesOf = (text) => new TextEncoder().encode(text);
const hashOf = (bytes) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** A tree, a list of changes, and what another program does after the list is planned. */
export function makeCase(random) {
  const text = () => Array.from({ length: random.below(4) }, () => `${random.below(1000)}\n`).join("");
  const files = FILES.filter(() => random.chance(0.8)).map((path) => {
    const mode = random.chance(0.06) ? 0o444 : random.pick([0o755, 0o644, 0o644, 0o644]);
    return { path, text: text(), mode, isLinked: random.chance(0.05) };
  });
  const list = random.shuffle(makeChanges(random, files, text)).slice(0, random.chance(0.3) ? 1 : 12);
  const [one, other] = files;
  const twoNames = other !== undefined && random.chance(0.08) ? [one.path, other.path] : undefined;
  // Of a protected file that has changed, either can be the error. The first of two names has the bits of both.
  const isProtected = (path) => {
    const named = path === twoNames?.[1] ? twoNames[0] : path;
    return files.some((file) => file.path === named && file.mode === 0o444);
  };
  const others = list.flatMap(({ path, from = path }) => [path, from]).filter((path) => !isProtected(path));
  const foreign = random.chance(0.25) && others.length > 0 ? random.pick(others) : undefined;
  return {
    ...{ files, list, foreign, rollback: list.length === 1 && random.chance(0.6) ? "try" : "always" },
    ...{ durable: random.chance(0.2), isLinkAbove: random.chance(0.03) },
    twoNames,
  };
}

/** Returns moves and copies of some files to some paths, of which no two have an end in common. */
function makeTransfers(random, files) {
  const there = files.map(({ path }) => path);
  const ends = random.shuffle([...new Set([...there, ...NEW_FILES, ...FILES])]);
  return Array.from({ length: random.pick([1, 1, 2, 3]) }, () => {
    const path = ends.pop();
    const source = ends.find((end) => there.includes(end)) ?? ends[0];
    const [from] = ends.splice(ends.indexOf(source), 1);
    const overwrite = random.chance(0.6);
    return { do: random.pick(["move", "copy"]), path, from, overwrite, parents: random.chance(0.8) };
  });
}

/** Returns changes of some files, and of some paths where nothing is or something else. */
function makeChanges(random, files, text) {
  const mode = () => (random.chance(0.1) ? random.pick(["755", "644", "600"]) : undefined);
  if (random.chance(0.1))
    return [{ do: "mkdir", path: random.pick(DIRECTORIES), parents: random.chance(0.8) }];
  if (random.chance(0.05)) {
    const [from, path] = random.shuffle(MOVES);
    return [{ do: "move", path, from, overwrite: random.chance(0.5), parents: random.chance(0.8) }];
  }
  const transfers = random.chance(0.35) ? makeTransfers(random, files) : [];
  const taken = new Set(transfers.flatMap(({ path, from }) => [path, from]));
  const changes = [...transfers];
  for (const { path } of files.filter((file) => !taken.has(file.path))) {
    if (random.chance(0.45)) changes.push({ do: "put", path, text: text(), mode: mode() });
    else if (random.chance(0.3)) changes.push({ do: "remove", path });
  }
  for (const path of NEW_FILES.filter((one) => random.chance(0.15) && !taken.has(one)))
    changes.push({ do: "put", path, text: text(), mode: mode() });
  return changes;
}

/** Writes the files of a case. */
function makeTree(root, { files, isLinkAbove, twoNames }) {
  fs.mkdirSync(join(root, "d/e"), { recursive: true });
  fs.mkdirSync(join(root, "empty"));
  for (const { path, text, mode, isLinked } of files) {
    fs.writeFileSync(join(root, path), text);
    if (isLinked) fs.linkSync(join(root, path), join(root, `${path}-other`));
    fs.chmodSync(join(root, path), mode);
  }
  if (twoNames !== undefined) {
    const [one, other] = twoNames.map((path) => join(root, path));
    fs.rmSync(other);
    fs.linkSync(one, other);
  }
  if (!isLinkAbove) return;
  fs.renameSync(join(root, "d/e"), join(root, "real"));
  fs.symlinkSync("../real", join(root, "d/e"));
}

/** Returns every entry of a tree in a line, with the content of files and the permission bits. */
const treeOf = (root) =>
  Object.entries(diskTree(root)).map(([path, shown]) => `${path} ${JSON.stringify(shown)}`);

/** Returns a change as a tool proposes it. */
async function changeOf(disk, root, { do: kind, path: name, text, mode, parents, ...more }) {
  const path = join(root, name);
  if (kind === "mkdir") return { do: kind, path, name, parents, existOk: true };
  if (kind === "move" || kind === "copy") {
    const from = join(root, more.from);
    const [source, over] = [
      await disk.lstat(from).catch(() => null),
      await disk.lstat(path).catch(() => null),
    ];
    const { type = "file", version = "1.1.1.1.1", size = 0 } = source ?? {};
    return {
      ...{ do: kind, path, name, from, type, version: type === "file" ? version : undefined, size },
      ...{ over: over?.type ?? null, overwrite: more.overwrite, parents },
    };
  }
  const was = await disk.read(path).catch(() => null);
  if (kind === "remove") {
    const { version } = was ?? { version: "1.1.1.1.1" };
    const before = { version, bytes: null, stat: undefined };
    return { do: "remove", path, name, type: "file", tree: false, was: before, isMoved: false };
  }
  const bytes = bytesOf(text);
  const now = { bytes, mode, hash: hashOf(bytes), diff: undefined };
  return {
    ...{ do: "put", path, name, target: path, was, now, from: null, parents: was === null },
    ...{ mayReplace: true, needs: "file" },
  };
}

/** Returns the entries of a record as text, without what differs between two equal changes. */
function entriesText(entries, root) {
  const text = JSON.stringify(entries, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
  );
  return text
    .replaceAll(root, "ROOT")
    .replaceAll(/\.filewright-[0-9a-z-]+-kept/gu, "ASIDE")
    .replaceAll(/"(version|fileId|parent)":"[0-9a-f.]+"/gu, '"$1":"?"')
    .replaceAll(/"parents":\["[0-9a-f.]+","[0-9a-f.]+"\]/gu, '"parents":"?"')
    .replaceAll(/"(time|at|mtime)":[0-9.]+/gu, '"$1":0')
    .replaceAll(/"(\d+) [0-9.]+"/gu, '"$1 0"')
    .replaceAll(/"callId":"[^"]+"/gu, '"callId":"?"');
}

/**
 * Makes the list of a case below a directory: in one `job`, by `steps`, or by steps over a `driver`. Returns all that can be
 * compared.
 */
async function play(filewright, made, { base, way }) {
  const { FileJournal, makeRecordLog, LocalBackend, tryLock, carryOut, listedChanges, newCallId } =
    filewright;
  const [root, state] = [join(base, "ws"), join(base, "state")];
  fs.mkdirSync(root, { recursive: true });
  fs.mkdirSync(state, { mode: 0o700 });
  makeTree(root, made);
  const disk = way === "driver" ? new filewright.NodeBackend() : new LocalBackend();
  const store = new FileJournal(state, (name) => tryLock(state, name));
  const log = makeRecordLog({
    store,
    files: way === "job" ? store : undefined,
    cwd: root,
    keep: true,
    durable: made.durable,
  });
  const planned = async () => {
    const changes = [];
    for (const change of made.list) changes.push(await changeOf(disk, root, change));
    return changes;
  };
  const changes = await planned();
  if (made.foreign !== undefined) writeForeign(join(root, made.foreign));
  const before = treeOf(root);
  const callId = newCallId();
  const seen = { note: () => undefined };
  const settings = { durability: undefined };
  let ways = "";
  const about = { callId, tool: "apply_patch", rollback: made.rollback };
  const append = (changes, list) => {
    const plan = { kind: "changes", changes, answer: (outcomes) => outcomes };
    const run = async (own, commit) => {
      ways += commit === undefined ? "steps " : "job ";
      return carryOut(plan, { fs: own, commit, settings, signal: undefined, seen });
    };
    return log.append(disk, about, run, { list, found: async () => undefined });
  };
  // As the pipeline does, once a begun list is taken back because only steps can make it.
  const again = async (error) => {
    if (error.details?.reason !== "steps") throw error;
    return append(await planned(), undefined);
  };
  let outcome;
  try {
    const { result, undo } = await append(changes, listedChanges(changes)).catch(again);
    outcome = {
      undo,
      results: result.map(({ written, ...rest }) => ({ ...rest, otherNames: written.otherNames })),
    };
  } catch (error) {
    outcome = failureText(error, root);
  }
  const after = treeOf(root);
  const record = await log.get(callId);
  const decoded = decodedRecord(filewright, state, callId);
  if (record !== undefined)
    await filewright.undoChange(log, disk, await filewright.undoableChange(log, callId), {
      callId: newCallId(),
    });
  // Moves whole records to the history.
  await log.list();
  const open = join(state, "journal/open");
  return {
    ways,
    shown: {
      ...{ outcome, after, isUnchanged: after.join("\n") === before.join("\n") },
      record: decoded && `${decoded.end} ${entriesText(decoded.entries, root)}`,
      undone: treeOf(root),
      left: (fs.existsSync(open) ? fs.readdirSync(open) : []).filter(
        (name) => fs.statSync(join(open, name)).size > 0,
      ),
    },
  };
}

/** Returns what is the same over any files: without the words of an error, and what only the disk tells. */
function ofAnyFiles({ outcome: { code, undo }, after, undone }) {
  return { code, undo, after, undone };
}

/** Returns what is compared of an error. The words of a conflict are those of the disk or of the recorded step. */
function failureText({ code, message, path, details }, root) {
  const words = code === "CONFLICT" ? "" : message;
  return {
    code,
    words,
    path: path?.replace(root, "ROOT"),
    details: JSON.stringify(details)?.replaceAll(root, "ROOT"),
  };
}

/** Writes a file as another program does. */
function writeForeign(path) {
  try {
    fs.writeFileSync(path, "of another program");
  } catch {
    // Its directory is missing.
  }
}

/** Returns the entries of a record of the history; undefined for none. */
function decodedRecord({ recordKeyOf, decodeRecord }, state, callId) {
  const file = recordOf(state, callId);
  if (file === undefined) return undefined;
  const key = recordKeyOf(fs.readFileSync(join(state, "journal/key")));
  return decodeRecord(file, key, callId, true);
}

function recordOf(state, callId) {
  const done = join(state, "journal/done");
  if (!fs.existsSync(done)) return undefined;
  const files = fs.readdirSync(done).map((group) => join(done, group, callId));
  return files.find((file) => fs.existsSync(file));
}

/**
 * Makes a case in both ways. Returns how the disk made it, and the differences: none for a case that passes.
 * @param {object} filewright the modules of a build or of the sources
 * @param {object} made a case
 * @param {string} base an empty directory
 */
export async function compareWays(filewright, made, base) {
  const [disk, steps] = [
    await play(filewright, made, { base: join(base, "disk"), way: "job" }),
    await play(filewright, made, { base: join(base, "steps"), way: "steps" }),
  ];
  const differences = Object.keys(disk.shown).flatMap((name) => {
    const [one, other] = [disk.shown[name], steps.shown[name]].map((each) => JSON.stringify(each, null, 1));
    return one === other ? [] : [`${name}:\n in one job ${one}\n by steps ${other}`];
  });
  const driver = await play(filewright, made, { base: join(base, "driver"), way: "driver" });
  const [one, other] = [disk, driver].map(({ shown }) => JSON.stringify(ofAnyFiles(shown), null, 1));
  if (one !== other) differences.push(`in one job ${one}\n over a driver ${other}`);
  const { outcome, isUnchanged, left } = disk.shown;
  if ("code" in outcome && !isUnchanged) differences.push("a failed list has changed the tree");
  if (left.length > 0) differences.push(`records are left: ${left}`);
  return { ways: disk.ways, failed: "code" in outcome, differences };
}
