/** The origin private file system: storage of a site in the browser, without a permission prompt. */
import { gateOf, type Options, options as described, text } from "../../schema/option.ts";
import { failure } from "../failure.ts";
import { checkPath, normalise } from "../paths.ts";
import { HandleBackend } from "./handles.ts";
import { toHandleName } from "./names.ts";

/** Options of {@link OpfsBackend}. */
export interface OpfsOptions {
  /** A directory of them that becomes `/`; made where it is missing. Default: all of them. */
  readonly directory?: string | undefined;
}

/**
 * The options of {@link OpfsBackend}.
 *
 * @printed
 */
export const OPFS_OPTIONS: Options<OpfsOptions> = described("OpfsOptions", { directory: text() });

const gate = gateOf("OpfsBackend", OPFS_OPTIONS);

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
    const directory = `/${gate(options).directory ?? ""}`;
    checkPath(directory);
    const { path } = normalise(directory);
    super({
      scope: `filewright/opfs${path === "/" ? "" : path}`,
      moves: true,
      open: async () => {
        const storage =
          typeof navigator === "undefined" ? undefined : (navigator as Partial<Navigator>).storage;
        if (typeof storage?.getDirectory !== "function")
          throw failure("UNSUPPORTED_PLATFORM", "/", "there are no private files of an origin here", {
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
