/**
 * Loads the addon of a platform package.
 *
 * Every name is written out in a call of a `require`, so that tracers of files find the packages. That
 * `require` is made by `module.createRequire`, in this spelling, because tracers know it and bundlers do not:
 * they leave the calls as they are, and the addon is loaded when the bundle runs. A call that they follow
 * leads them to a file that none of them can read without a setting.
 */
import module from "node:module";
import { isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";

/** The path of a bundle that is CommonJS; undefined in an ES module. */
const bundlePath = pathOfBundle();

function pathOfBundle(): string | undefined {
  try {
    // In an ES module this throws. A test by `typeof` does not help, because webpack decides it at build time.
    // `node -e` sets the variable to `[eval]`.
    return isAbsolute(__filename) ? __filename : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the URL of a module, given its `import.meta.url`, which is undefined in most bundles that are
 * CommonJS. The URL is then that of the bundle.
 */
export function moduleUrlOf(metaUrl: string | undefined): string {
  return metaUrl ?? pathToFileURL(bundlePath ?? "filewright.js").href;
}

const requirePackage = module.createRequire(moduleUrlOf(import.meta.url));

/** Calls `require` with the name of the package of a platform. */
function requireByName(platform: string): unknown {
  switch (platform) {
    case "linux-x64-gnu":
      return requirePackage("@filewright/native-linux-x64-gnu");
    case "linux-arm64-gnu":
      return requirePackage("@filewright/native-linux-arm64-gnu");
    case "linux-x64-musl":
      return requirePackage("@filewright/native-linux-x64-musl");
    case "linux-arm64-musl":
      return requirePackage("@filewright/native-linux-arm64-musl");
    case "darwin-x64":
      return requirePackage("@filewright/native-darwin-x64");
    case "darwin-arm64":
      return requirePackage("@filewright/native-darwin-arm64");
    default:
      return undefined;
  }
}

/** True for an error that says that this very package is not installed, and not that a file of it is missing. */
function isNotFound(error: unknown, name: string): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return (code === "MODULE_NOT_FOUND" || code === "ERR_MODULE_NOT_FOUND") && message.includes(`'${name}'`);
}

/**
 * Returns the exports of the addon for a platform, or undefined if its package is not installed or there is
 * none. @throws the error of loading it
 */
export function requireAddonPackage(platform: string): unknown {
  const name = `@filewright/native-${platform}`;
  try {
    return requireByName(platform);
  } catch (error) {
    if (!isNotFound(error, name)) throw error;
  }
  if (bundlePath === undefined) return undefined;
  try {
    // webpack writes into `import.meta.url` where the module was when the bundle was made.
    return module.createRequire(bundlePath)(name);
  } catch (error) {
    if (!isNotFound(error, name)) throw error;
    return undefined;
  }
}
