/**
 * The two storages of a browser: the origin private file system, which needs no permission, and a
 * directory that the user has picked or dropped onto the page.
 */
import {
  optionChecker,
  type Options,
  options as described,
  text,
  builtIn,
  choice,
} from "../../schema/option.ts";
import { backendError } from "../failure.ts";
import { checkPath, normalise } from "../paths.ts";
import { HandleBackend, type DirectoryHandle } from "./handles.ts";
import { toHandleName } from "./platform.ts";

/** The requested access to a picked directory. */
export type PickedMode = "read" | "readwrite";

/** The user's decision: the `PermissionState` of the DOM. */
export type PickedPermission = "granted" | "denied" | "prompt";

const checkHandle = optionChecker(
  "FileSystemAccessBackend",
  builtIn<DirectoryHandle>("a directory handle", (value) => "getDirectoryHandle" in value),
);
const checkMode = optionChecker("FileSystemAccessBackend", choice("read", "readwrite"));

interface PermissionHandle {
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
    return (await (this.#handle as PermissionHandle).queryPermission?.({ mode })) ?? "granted";
  }

  /** Asks the user where needed; browsers allow the prompt while a click is handled. */
  async request(mode: PickedMode = "readwrite"): Promise<PickedPermission> {
    checkMode(mode);
    return (await (this.#handle as PermissionHandle).requestPermission?.({ mode })) ?? "granted";
  }
}

/** Options of {@link OpfsBackend}. */
export interface OpfsOptions {
  /**
   * The directory of the origin private file system that becomes `/`; created where it is missing. Default:
   * its top.
   */
  readonly directory?: string | undefined;
}

/**
 * The table of the options of {@link OpfsBackend}, with the type and the check of each.
 *
 * @printed
 */
export const OPFS_OPTIONS: Options<OpfsOptions> = described("OpfsOptions", { directory: text() });

const checkOptions = optionChecker("OpfsBackend", OPFS_OPTIONS);

/**
 * The origin private file system. Works in pages and in workers; in a dedicated
 * worker contents are written through synchronous handles, and so are flushed
 * before they take their place.
 *
 * @example
 * const ws = await openWorkspace({ backend: new OpfsBackend({ directory: "/project" }), root: "/" });
 */
export class OpfsBackend extends HandleBackend {
  constructor(options: OpfsOptions = {}) {
    const directory = `/${checkOptions(options).directory ?? ""}`;
    checkPath(directory);
    const { path } = normalise(directory);
    super({
      scope: `filewright/opfs${path === "/" ? "" : path}`,
      moves: true,
      open: async () => {
        const storage =
          typeof navigator === "undefined" ? undefined : (navigator as Partial<Navigator>).storage;
        if (typeof storage?.getDirectory !== "function")
          throw backendError("UNSUPPORTED_PLATFORM", "/", "there are no private files of an origin here", {
            hint: "they need a browser and https, or localhost",
          });
        let handle = await storage.getDirectory();
        for (const name of path.split("/")) {
          if (name !== "")
            handle = await handle.getDirectoryHandle(toHandleName(name, path), { create: true });
        }
        return handle;
      },
    });
  }
}
