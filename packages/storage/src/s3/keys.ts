/**
 * Names of objects. They consist of letters, digits, `-`, `_`, `=` and `/` after the installation's own prefix, so
 * that no store, proxy or signer can read them in another way; paths of files are never part of a name.
 */
import { byteLength, FilewrightError } from "filewright/files";

const MAX_WORKSPACE_BYTES = 200;
const encoder = new TextEncoder();
/** Parts of dots alone would be resolved as those of a path. */
const PREFIX_FORM = /^(?:(?!\.+(?:\/|$))[\w.=-]+(?:\/|$))*$/u;

/** Returns a name of any characters in those that keys have: others as `=` and the two digits of each byte. */
function encodeName(name: string): string {
  return name.replace(/[^A-Za-z\d_-]/gu, (char) =>
    [...encoder.encode(char)].map((byte) => `=${byte.toString(16).padStart(2, "0")}`).join(""),
  );
}

/** Returns the name that {@link encodeName} encoded. */
export function decodeName(encoded: string): string {
  return decodeURIComponent(encoded.replaceAll("%", "%25").replaceAll("=", "%"));
}

/** Refuses names that a workspace cannot have. */
function checkWorkspaceName(name: string): void {
  const isBad = name === "" || byteLength(name) > MAX_WORKSPACE_BYTES || /[\p{Cc}\p{Cs}]/u.test(name);
  if (isBad) {
    throw new FilewrightError(
      "INVALID_ARGUMENT",
      `the name of a workspace has 1 to ${MAX_WORKSPACE_BYTES} bytes and no control characters`,
    );
  }
}

/** The keys of one workspace, and those that all workspaces of an installation share. */
export class Keys {
  readonly #prefix: string;
  readonly #workspace: string;

  constructor(prefix: string, workspace: string) {
    checkWorkspaceName(workspace);
    if (!PREFIX_FORM.test(prefix))
      throw new FilewrightError("INVALID_ARGUMENT", "`prefix` has other characters, or a part of dots alone");
    this.#prefix = prefix;
    this.#workspace = `${prefix}ws/${encodeName(workspace)}/`;
  }

  /** The object that is the present state of the workspace. */
  get root(): string {
    return `${this.#workspace}root`;
  }

  /** The beginning of the keys of all workspaces. */
  get workspaces(): string {
    return `${this.#prefix}ws/`;
  }

  /** The beginning of the keys of all contents. */
  get blobs(): string {
    return `${this.#prefix}blobs/`;
  }

  /** The beginning of the keys of all pages. */
  get pages(): string {
    return `${this.#prefix}pages/`;
  }

  /** The contents that are being swept. */
  get sweep(): string {
    return `${this.#prefix}sweep`;
  }

  /** The content with a hash, in hexadecimal digits. */
  blob(hex: string): string {
    return `${this.blobs}${hex.slice(0, 2)}/${hex}`;
  }

  /** A page of a manifest or of the history by its hash. */
  page(hex: string): string {
    return `${this.pages}${hex}`;
  }

  /** The beginning of the keys of all logs. */
  get logs(): string {
    return `${this.#prefix}log/`;
  }

  /** The log of a commit. A fork has the commits of its parent, so logs belong to no workspace. */
  log(id: string): string {
    return `${this.logs}${id}`;
  }

  /** The beginning of the keys of the past states of the workspace that are kept. */
  get allStates(): string {
    return `${this.#workspace}at/`;
  }

  /** The beginning of the keys of a past state that is kept. */
  states(version: string): string {
    return `${this.#workspace}at/${encodeName(version)}/`;
  }

  /** An object with which the start-up probe tries the store. */
  trial(id: string): string {
    return `${this.#prefix}probe/${id}`;
  }
}
