/** A directory that the user has picked, or dropped onto the page. */
import { builtIn, choice, gateOf } from "../../schema/option.ts";
import { type DirectoryHandle, HandleBackend } from "./handles.ts";

/** What may be asked of a picked directory. */
export type PickedMode = "read" | "readwrite";

/** What the user has answered: the `PermissionState` of the DOM. */
export type PickedPermission = "granted" | "denied" | "prompt";

const checkHandle = gateOf(
  "FileSystemAccessBackend",
  builtIn<DirectoryHandle>("a directory handle", (value) => "getDirectoryHandle" in value),
);
const checkMode = gateOf("FileSystemAccessBackend", choice("read", "readwrite"));

interface Permitting {
  queryPermission?(descriptor: { readonly mode: PickedMode }): Promise<PickedPermission>;
  requestPermission?(descriptor: { readonly mode: PickedMode }): Promise<PickedPermission>;
}

/**
 * Files below a directory handle: from `showDirectoryPicker()`, a drop, or kept
 * in IndexedDB since an earlier visit. The user's permission is the browser's to
 * keep; without it calls fail with PERMISSION_DENIED.
 *
 * A new content takes its place in one step, by the browser's own swap file.
 *
 * @example
 * const backend = new FileSystemAccessBackend(await showDirectoryPicker({ mode: "readwrite" }));
 * const ws = await openWorkspace({ backend, root: "/" });
 */
export class FileSystemAccessBackend extends HandleBackend {
  readonly #handle: DirectoryHandle;

  constructor(handle: DirectoryHandle) {
    // Two directories of one name wait for each other, which does no harm.
    checkHandle(handle);
    super({ scope: `filewright/picked/${handle.name}`, moves: false, open: async () => handle });
    this.#handle = handle;
  }

  /** What the user has allowed so far. Asks nobody. */
  async permission(mode: PickedMode = "readwrite"): Promise<PickedPermission> {
    checkMode(mode);
    return (await (this.#handle as Permitting).queryPermission?.({ mode })) ?? "granted";
  }

  /** Asks the user, where that is needed; browsers allow it while a click is handled. */
  async request(mode: PickedMode = "readwrite"): Promise<PickedPermission> {
    checkMode(mode);
    return (await (this.#handle as Permitting).requestPermission?.({ mode })) ?? "granted";
  }
}
