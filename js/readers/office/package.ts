/**
 * Access to the parts of an Office file, which are members of a zip: by name, or by their relationships.
 * Files from before 2007, and encrypted ones, are not zips; they are only identified.
 */
import { type MemberProblem, readZipMember, readZip } from "../archive/zip.ts";
import type { ReaderInput } from "../reader.ts";
import { checkSignal, unsupportedFormatError } from "../refuse.ts";
import { attributeValue, xmlTokens } from "./xml.ts";

/** The maximum size in bytes of one decompressed part. A larger one is an error. */
const MAX_PART_BYTES = 64 * 1024 * 1024;
/** The maximum size in bytes of all parts that one read decompresses. Beyond it is an error. */
const MAX_UNPACKED_BYTES = 128 * 1024 * 1024;

/** An opened Office file. */
export interface OfficePackage {
  /**
   * Returns a part as text; undefined when it is missing. @throws UNSUPPORTED_FORMAT when it cannot be
   * decompressed
   */
  part(name: string): Promise<string | undefined>;
  /** Returns the relationships of a part: by id, the name of another part or an external address. */
  relations(of: string): Promise<ReadonlyMap<string, string>>;
}

/** Opens a file. @throws UNSUPPORTED_FORMAT */
export async function openPackage({ source, mime, signal }: ReaderInput): Promise<OfficePackage> {
  const directory = await readZip(source);
  if (directory === null)
    throw unsupportedFormatError(mime, "is damaged or cut short", { reason: "damaged" });
  const entries = new Map(directory.entries.map((entry) => [entry.name.toLowerCase(), entry]));
  let left = MAX_UNPACKED_BYTES;
  const part = async (name: string): Promise<string | undefined> => {
    checkSignal(signal);
    const entry = entries.get(name.toLowerCase());
    if (entry === undefined) return undefined;
    const bytes = await readZipMember(source, entry, Math.min(MAX_PART_BYTES, left));
    if (typeof bytes === "string") throw unreadablePartError(mime, bytes, entry.size);
    left -= bytes.length;
    return decodePart(bytes);
  };
  return {
    part,
    async relations(of) {
      const slash = of.lastIndexOf("/");
      const [folder, file] = [of.slice(0, slash + 1), of.slice(slash + 1)];
      const xml = await part(`${folder}_rels/${file}.rels`);
      const found = new Map<string, string>();
      for (const token of xmlTokens(xml ?? "")) {
        if (token.kind !== "open" || token.name !== "Relationship") continue;
        const id = attributeValue(token.attributes, "Id");
        const target = attributeValue(token.attributes, "Target");
        if (id === undefined || target === undefined) continue;
        found.set(
          id,
          attributeValue(token.attributes, "TargetMode") === "External"
            ? target
            : resolvePartName(folder, target),
        );
      }
      return found;
    },
  };
}

function unreadablePartError(mime: string, problem: MemberProblem, size: number): Error {
  if (problem === "too large") {
    return unsupportedFormatError(mime, "unpacks to too much", {
      reason: "bomb",
      details: { unpacked_bytes: size, limit: MAX_PART_BYTES },
    });
  }
  if (problem === "encrypted")
    return unsupportedFormatError(mime, "is encrypted with a password", { reason: "encrypted" });
  return unsupportedFormatError(mime, "is damaged or cut short", { reason: "damaged" });
}

function decodePart(bytes: Uint8Array): string {
  const utf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(utf16 ? "utf-16le" : "utf-8").decode(bytes);
}

/**
 * Returns the full name of a part that is given relative to a folder. With a leading slash it is relative to
 * the package.
 */
function resolvePartName(folder: string, target: string): string {
  const parts = target.startsWith("/") ? [] : folder.split("/").filter((part) => part !== "");
  for (const step of target.split("/")) {
    if (step === "..") parts.pop();
    else if (step !== "" && step !== ".") parts.push(step);
  }
  return parts.join("/");
}

/** The number of bytes at the beginning and the end of the file in which the directory of names is searched. */
const MAX_SEARCHED_BYTES = 1024 * 1024;

/** Refuses OLE files with an error that names the kind: Office files from before 2007, and encrypted ones. */
export async function refuseLegacyOffice({ source, mime }: ReaderInput): Promise<never> {
  const head = await source.read(0, Math.min(source.size, MAX_SEARCHED_BYTES));
  const tail = await source.read(Math.max(0, source.size - MAX_SEARCHED_BYTES), source.size);
  const decoder = new TextDecoder("utf-16le");
  const names = [head, tail].map((bytes) => decoder.decode(bytes)).join();
  if (names.includes("EncryptedPackage")) {
    throw unsupportedFormatError(mime, "is an Office file encrypted with a password", {
      reason: "encrypted",
    });
  }
  throw unsupportedFormatError(mime, "is an Office file of the old kind, which is not read", {
    reason: "legacy",
    hint: "save it as docx, xlsx or pptx",
  });
}
