/** A directory that the user has picked, or dropped onto the page. */
import { builtIn, choice, gateOf } from "../../schema/option.ts";
import { type DirectoryHandle, HandleBackend } from "./handles.ts";

/** The requested access to a picked directory. */
export type PickedMode = "read" | "readwrite";

/** The user's decision: the `PermissionState` of the DOM. */
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
 * Files below a directory handle: from `showDirectoryPicker()`, a drop, or kept in IndexedDB since
 * an earlier visit. The browser manages the user's permission; without it calls fail with
 * PERMISSION_DENIED.
 *
 * New content is swapped in by one step, through the browser's own swap file.
 *
 * @example
 * const backend = new FileSystemAccessBackend(await showDirectoryPicker({ mode: "readwrite" }));
 * const ws = await openWorkspace({ backend, root: "/" });
 */
export class FileSystemAccessBackend extends HandleBackend {
  readonly #handle: DirectoryHandle;

  constructor(handle: DirectoryHandle) {
    // Two directories of one name share a lock, which does no harm.
    checkHandle(handle);
    super({ scope: `filewright/picked/${handle.name}`, moves: false, open: async () => handle });
    this.#handle = handle;
  }

  /** Returns the user's current permission, without a prompt. */
  async permission(mode: PickedMode = "readwrite"): Promise<PickedPermission> {
    checkMode(mode);
    return (await (this.#handle as Permitting).queryPermission?.({ mode })) ?? "granted";
  }

  /** Asks the user where needed; browsers allow the prompt while a click is handled. */
  async request(mode: PickedMode = "readwrite"): Promise<PickedPermission> {
    checkMode(mode);
    return (await (this.#handle as Permitting).requestPermission?.({ mode })) ?? "granted";
  }
}
