/** Identifies Office files from before 2007, and encrypted ones of today; it does not read them. */
import type { Reader, ReaderInput } from "../reader.ts";
import { unsupported } from "../refuse.ts";

/** The number of bytes searched: the directory of names is near the beginning or the end. */
const SEARCHED_BYTES = 1024 * 1024;

/** OLE containers. */
export const legacyReader: Reader = Object.freeze({
  mimes: ["application/x-ole-storage"],
  async read({ source, mime }: ReaderInput): Promise<never> {
    const head = await source.read(0, Math.min(source.size, SEARCHED_BYTES));
    const tail = await source.read(Math.max(0, source.size - SEARCHED_BYTES), source.size);
    const decoder = new TextDecoder("utf-16le");
    const names = [head, tail].map((bytes) => decoder.decode(bytes)).join();
    if (names.includes("EncryptedPackage")) {
      throw unsupported(mime, "is an Office file encrypted with a password", { reason: "encrypted" });
    }
    throw unsupported(mime, "is an Office file of the old kind, which is not read", {
      reason: "legacy",
      hint: "save it as docx, xlsx or pptx",
    });
  },
});
