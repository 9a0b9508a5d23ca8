/** Reads files whose content grants rights, such as those of grants and of kept approvals. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { FilewrightError } from "../engine/errors.ts";

/** The text of a file, with a text that differs after every change of the file. */
export interface TrustedText {
  readonly stamp: string;
  readonly text: string;
}

/** Creates the error of a file that is refused. `why` continues "it is refused: ". */
export type UntrustedFileError = (why: string, cause?: unknown) => FilewrightError;

/** Returns a text that differs after every change of the file; empty for a file that does not exist. */
export function stampOfFile(file: string): string {
  const facts = lstatSync(file, { throwIfNoEntry: false });
  return facts === undefined ? "" : fileStamp(facts);
}

/**
 * Opens and reads a file after checking the open file itself, so that it cannot be exchanged in between.
 * @throws FilewrightError that of `refuse` for a link, and for a file that others could have written
 */
export function readTrustedText(file: string, maxBytes: number, refuse: UntrustedFileError): TrustedText {
  let descriptor: number;
  try {
    descriptor = openSync(
      file,
      constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
    );
  } catch (error) {
    const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    throw refuse(isLink ? "it is a symbolic link" : "it cannot be opened", error);
  }
  try {
    const facts = fstatSync(descriptor);
    const why = distrustReason(facts, maxBytes);
    if (why !== undefined) throw refuse(why);
    return { stamp: fileStamp(facts), text: readFileSync(descriptor, "utf8") };
  } catch (error) {
    if (error instanceof FilewrightError) throw error;
    throw refuse("it cannot be read", error);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Returns why a file is not trusted, such as that other users could have written it; undefined for a trusted file.
 */
function distrustReason(facts: Stats, maxBytes: number): string | undefined {
  if (!facts.isFile()) return "it is not a regular file";
  if (facts.size > maxBytes) return `it is larger than ${maxBytes} bytes`;
  if (process.getuid === undefined) return undefined; // On this platform permissions are not in the mode.
  if (facts.uid !== process.getuid() && facts.uid !== 0) return "it belongs to another user";
  return (facts.mode & 0o022) !== 0 ? "others may write it (chmod 600 mends that)" : undefined;
}

function fileStamp({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;
}
