/**
 * Parts of this package that are loaded when they are first used, so that an import of Filewright reads neither them nor
 * the modules that only they need. Each part has one module as its front door.
 */
import { makeError } from "./errors.ts";

/**
 * Returns a function that loads a part. `load` is the `import` itself, whose name bundlers must see. Each use after the
 * first has the loaded module at once; a failed load is tried again by the next use.
 *
 * @throws FilewrightError IO_ERROR where the files of the package cannot be read any more
 */
export function lazily<Part extends object>(name: string, load: () => Promise<Part>): () => Promise<Part> {
  let loading: Promise<Part> | undefined;
  return () =>
    (loading ??= load().catch((cause: unknown) => {
      loading = undefined;
      throw makeError(
        "IO_ERROR",
        `Filewright could not load its part for ${name}: the files of the package are missing or cannot be read`,
        { complete: true, cause, hint: "install filewright again, then restart the process" },
      );
    }));
}
