// Reads the facts of a macOS addon that decide where it loads, from the bytes of the file. No program
// for that is on every Linux.
import { createHash } from "node:crypto";
import { MIN_MACOS } from "./targets.mjs";

/** The name that the addon gives itself. Without it the file would contain the path of its build. */
export const INSTALL_NAME = "@rpath/filewright.node";

const MAGIC_64 = 0xfeedfacf;
const HEADER_BYTES = 32;
const CPU_BY_ARCH = { x64: 0x0100_0007, arm64: 0x0100_000c };
/** A library that is linked by name, and one that is opened while a program runs. Node opens both. */
const LIBRARY_FILE_TYPES = [6, 8];
const PLATFORM_MACOS = 1;

const LOAD_SYMBOLS = 0x2;
const LOAD_LIBRARY = 0xc;
const OWN_NAME = 0xd;
const MIN_VERSION_MACOS = 0x24;
const CODE_SIGNATURE = 0x1d;
const BUILD_VERSION = 0x32;

/** The commands of the file's header. */
function* loadCommands(file) {
  let at = HEADER_BYTES;
  for (let left = file.readUInt32LE(16); left > 0; left--) {
    const length = file.readUInt32LE(at + 4);
    yield { command: file.readUInt32LE(at) & 0x7fff_ffff, at, length };
    at += length;
  }
}

/** Returns the text at an offset that a load command contains, up to its end or a zero. */
function textOfCommand(file, { at, length }) {
  const start = at + file.readUInt32LE(at + 8);
  return file.toString("utf8", start, at + length).replace(/\0.*$/su, "");
}

/** Returns `11.0` for the number that stands for it in a header. */
const versionText = (packed) => `${packed >>> 16}.${(packed >>> 8) & 0xff}`;

const SIGNATURE_MAGIC = 0xfade0cc0;
const CODE_DIRECTORY_MAGIC = 0xfade0c02;
const SHA256 = 2;

/**
 * Returns what is wrong with the signature of the code. A Mac with Apple's processors
 * ends a process that loads a page whose hash is not the signed one; signed by whom does not matter
 * there.
 */
function signatureProblems(file, start) {
  if (file.readUInt32BE(start) !== SIGNATURE_MAGIC) return ["has no readable signature"];
  const parts = Array.from({ length: file.readUInt32BE(start + 8) }, (_, i) => start + 12 + i * 8);
  const directory = parts
    .map((at) => start + file.readUInt32BE(at + 4))
    .find((at) => file.readUInt32BE(at) === CODE_DIRECTORY_MAGIC);
  if (directory === undefined) return ["has a signature without hashes"];
  const hashes = directory + file.readUInt32BE(directory + 16);
  const count = file.readUInt32BE(directory + 28);
  const end = file.readUInt32BE(directory + 32);
  const [hashBytes, hashType] = [file[directory + 36], file[directory + 37]];
  const pageBytes = 2 ** file[directory + 39];
  if (hashType !== SHA256) return [`is signed with hashes of kind ${hashType}`];
  if (end !== start || count !== Math.ceil(end / pageBytes)) return ["has a signature of only a part of it"];
  for (let page = 0; page < count; page++) {
    const bytes = file.subarray(page * pageBytes, Math.min((page + 1) * pageBytes, end));
    const signed = file.subarray(hashes + page * hashBytes, hashes + (page + 1) * hashBytes);
    if (!createHash("sha256").update(bytes).digest().equals(signed)) {
      return [`was changed after it was signed: page ${page} has another hash`];
    }
  }
  return [];
}

/**
 * Returns what makes an addon unfit for its platform, and a line that describes it.
 *
 * @param {Buffer} file the bytes of the addon
 * @param {import("./targets.mjs").ReleaseTarget} target
 */
export function inspectMachO(file, { arch }) {
  if (file.length < HEADER_BYTES || file.readUInt32LE(0) !== MAGIC_64) {
    return { problems: ["is no program of macOS"], description: "" };
  }
  const problems = [];
  if (file.readUInt32LE(4) !== CPU_BY_ARCH[arch]) problems.push("is for another processor");
  if (!LIBRARY_FILE_TYPES.includes(file.readUInt32LE(12))) problems.push("is no library");

  const libraries = [];
  let name, minVersion, signature, localSymbols;
  for (const found of loadCommands(file)) {
    const field = (offset) => file.readUInt32LE(found.at + offset);
    if (found.command === OWN_NAME) name = textOfCommand(file, found);
    if (found.command === LOAD_LIBRARY) libraries.push(textOfCommand(file, found));
    if (found.command === BUILD_VERSION && field(8) === PLATFORM_MACOS) minVersion = versionText(field(12));
    if (found.command === MIN_VERSION_MACOS) minVersion = versionText(field(8));
    if (found.command === CODE_SIGNATURE) signature = field(8);
    if (found.command === LOAD_SYMBOLS) localSymbols = countLocalSymbols(file, field(8), field(12));
  }
  if (name !== INSTALL_NAME) problems.push(`is named ${name}, not ${INSTALL_NAME}`);
  if (minVersion !== MIN_MACOS) problems.push(`is for macOS ${minVersion}, not for ${MIN_MACOS}`);
  const foreign = libraries.filter((path) => !/^\/(?:usr\/lib|System\/Library)\//u.test(path));
  if (foreign.length > 0) problems.push(`needs ${foreign.join(", ")}, which not every system has`);
  if (localSymbols > 0) problems.push(`is not stripped: it contains ${localSymbols} local symbols`);
  if (signature !== undefined) problems.push(...signatureProblems(file, signature));
  // Intel's Macs load what is not signed, and zig does not sign for them.
  else if (arch === "arm64") problems.push("is not signed");
  return { problems, description: `needs ${libraries.join(", ")}; macOS ${minVersion}` };
}

const SYMBOL_BYTES = 16;
const IS_DEBUGGING = 0xe0;
const IS_EXTERNAL = 0x01;

/** Returns how many symbols only a debugger uses: those that no other library can see. */
function countLocalSymbols(file, start, count) {
  let local = 0;
  for (let at = start; at < start + count * SYMBOL_BYTES; at += SYMBOL_BYTES) {
    const type = file[at + 4];
    if ((type & IS_DEBUGGING) !== 0 || (type & IS_EXTERNAL) === 0) local++;
  }
  return local;
}
