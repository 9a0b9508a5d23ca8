/**
 * The key of the owner: 32 random bytes in a file of the state directory that only its owner can read. Processes of one
 * user prove themselves to each other by it. Beside it stands a file for each port at which a page is served.
 */
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readOrMakeKey } from "../../backends/key-file.node.ts";
import { makePrivateDirectory } from "../../backends/private-directory.node.ts";
import { defaultStateDir } from "../../backends/state-directory.node.ts";
import { importKey } from "../proof/mac.ts";

const directory = (): string => join(defaultStateDir(), "review");

/**
 * Returns the key, which the first process creates.
 * @throws Error when the state directory cannot be written, or others can read the file
 */
export function readOwnerKey(): Promise<CryptoKey> {
  makePrivateDirectory(directory());
  return importKey(new Uint8Array(readOrMakeKey(join(directory(), "key"))));
}

/** Returns the key; undefined where the state directory takes none. */
export function ownerKeyIfAny(): Promise<CryptoKey> | undefined {
  try {
    return readOwnerKey();
  } catch {
    return undefined;
  }
}

/** Notes that a page of this user is served at a port. Returns a function that ends it. */
export function notePagePort(port: number): () => void {
  const path = join(directory(), `${port}.port`);
  try {
    writeFileSync(path, "", { mode: 0o600 });
  } catch {
    // Without the note the page is found at the default port alone.
  }
  return () => rmSync(path, { force: true });
}

/** Returns the ports that were noted. A process that was killed has left its note. */
export function notedPagePorts(): readonly number[] {
  try {
    const ports = readdirSync(directory()).map((name) => Number(/^(\d{1,5})\.port$/u.exec(name)?.[1]));
    return ports.filter((port) => port > 0);
  } catch {
    return [];
  }
}

/** Removes the note of a port at which nothing listens. */
export function forgetPagePort(port: number): void {
  rmSync(join(directory(), `${port}.port`), { force: true });
}
