/**
 * Why the native addon is not in use, in words and with the one command that changes it.
 *
 * The texts reach models, so they contain no absolute path of this machine.
 */
import { messageOf } from "../thrown.ts";
import { VERSION } from "../generated/version.ts";

/**
 * The kinds of reasons.
 *
 * - `disabled`: FILEWRIGHT_ENGINE=wasm.
 * - `setting`: FILEWRIGHT_ENGINE has a value without a meaning.
 * - `missing`: the package of this platform is not installed, or the checkout is not built.
 * - `unsupported`: there is no package for this platform.
 * - `version`: the addon belongs to another version of filewright.
 * - `libc`: the system's C library is another one or too old.
 * - `broken`: the addon is there and does not load.
 */
type AddonFailureCode = "disabled" | "setting" | "missing" | "unsupported" | "version" | "libc" | "broken";

/** Why the native addon is not in use. */
export interface AddonFailure {
  readonly code: AddonFailureCode;
  /** The problem, as a clause. */
  readonly message: string;
  /** The remedy, as a clause. */
  readonly remedy: string;
}

/** Where an addon was looked for. */
export interface AddonPlace {
  /** The name of the platform package's platform, such as `linux-x64-gnu`. */
  readonly platform: string;
  /**
   * - `package`: an installed package.
   * - `checkout`: the build of a checkout.
   * - `file`: the file that FILEWRIGHT_ENGINE names.
   */
  readonly kind: "package" | "checkout" | "file";
}

/** The platforms that have a package; a test compares them with the `require` calls in addons.node.ts. */
export const ADDON_PLATFORMS: readonly string[] = [
  "linux-x64-gnu",
  "linux-arm64-gnu",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
];

const SETTING_REMEDY =
  "set FILEWRIGHT_ENGINE to wasm, to native or to the path of a file that ends in .node, or unset it";

/** FILEWRIGHT_ENGINE=wasm. */
export const DISABLED: AddonFailure = {
  code: "disabled",
  message: "FILEWRIGHT_ENGINE=wasm",
  remedy: "unset FILEWRIGHT_ENGINE",
};

/** FILEWRIGHT_ENGINE has the value `value`, which has no meaning. */
export function unknownSetting(value: string): AddonFailure {
  const message = /[/\\]/u.test(value)
    ? `FILEWRIGHT_ENGINE names the file '${fileName(value)}', which does not end in .node`
    : `FILEWRIGHT_ENGINE is '${value}' (did you mean '${nearestEngine(value)}'?)`;
  return { code: "setting", message, remedy: SETTING_REMEDY };
}

/** Returns the word that has more of its letters in `value`. */
function nearestEngine(value: string): string {
  const shared = (word: string): number =>
    [...word].filter((letter) => value.toLowerCase().includes(letter)).length / word.length;
  return shared("native") > shared("wasm") ? "native" : "wasm";
}

/** No addon was found at `place`, and there is none elsewhere. */
export function missingAddon({ platform, kind }: AddonPlace): AddonFailure {
  if (kind === "file")
    return {
      code: "missing",
      message: "the file that FILEWRIGHT_ENGINE names does not exist",
      remedy: SETTING_REMEDY,
    };
  if (kind === "checkout")
    return { code: "missing", message: "this checkout is not built", remedy: "run: npm run build" };
  if (!ADDON_PLATFORMS.includes(platform))
    return {
      code: "unsupported",
      message: `there is no native addon for ${platform.replace(/-(?:gnu|musl|msvc)$/u, "")}`,
      remedy: `it exists for ${ADDON_PLATFORMS.join(", ")}`,
    };
  return {
    code: "missing",
    message:
      `the package @filewright/native-${platform} is not installed: optional dependencies were left out ` +
      "(--omit=optional, --no-optional), or the lock file was made on another platform (npm/cli#4828)",
    remedy: remedyOf({ platform, kind }),
  };
}

/** The addon at `place` belongs to version `found`; undefined: one that does not say its version. */
export function otherVersion(place: AddonPlace, found: string | undefined): AddonFailure {
  return {
    code: "version",
    message: `${nameOf(place)} is of ${found === undefined ? "an older version" : `version ${found}`}, filewright of ${VERSION}`,
    remedy: remedyOf(place),
  };
}

/** `error` was thrown when the addon at `place` was loaded. `libc` is the version of the system's glibc. */
export function failedToLoad(place: AddonPlace, error: unknown, libc: string | undefined): AddonFailure {
  if ((error as { readonly code?: unknown } | null)?.code === "ERR_DLOPEN_DISABLED")
    return {
      code: "broken",
      message: "Node's permission model forbids native addons",
      remedy: "start Node with --allow-addons",
    };
  const text = withoutFolders(firstLine(error));
  const symbol = /\bGLIBC_(?<version>[\d.]+)/u.exec(text)?.groups?.["version"];
  if (symbol !== undefined)
    return {
      code: "libc",
      message: `${nameOf(place)} needs glibc ${symbol}, and this system has ${libc === undefined ? "another C library" : `glibc ${libc}`}`,
      remedy:
        place.kind === "package"
          ? "use a system with glibc 2.17 or later, or one with musl"
          : remedyOf(place),
    };
  // The C library itself is missing: an addon for glibc on a system with musl, or the reverse.
  if (/\b(?:libc\.so\.6|ld-linux\S*|libc\.musl\S*|ld-musl\S*)/u.test(text))
    return {
      code: "libc",
      message: `${nameOf(place)} was built for another C library (${text})`,
      remedy: remedyOf({ ...place, platform: withOtherLibc(place.platform) }),
    };
  return {
    code: "broken",
    message: `${nameOf(place)} does not load (${text})`,
    remedy: place.kind === "checkout" ? "run: npm run build -- --force" : remedyOf(place),
  };
}

function nameOf({ platform, kind }: AddonPlace): string {
  if (kind === "package") return `the addon of the package @filewright/native-${platform}`;
  return kind === "file" ? "the addon that FILEWRIGHT_ENGINE names" : "the addon of this checkout";
}

function remedyOf({ platform, kind }: AddonPlace): string {
  if (kind === "file") return "unset FILEWRIGHT_ENGINE, or name an addon that fits";
  if (kind === "checkout") return "run: npm run build";
  return `run: npm install @filewright/native-${platform}@${VERSION}`;
}

const withOtherLibc = (platform: string): string =>
  platform.replace(/-(?:gnu|musl)$/u, (libc) => (libc === "-gnu" ? "-musl" : "-gnu"));

const firstLine = (error: unknown): string => messageOf(error).split("\n")[0] ?? "";

/** Returns the last part of a path. */
const fileName = (path: string): string => path.split(/[/\\]/u).at(-1) ?? "";

/** Returns a text in which every path is only the name of its file. */
export function withoutFolders(text: string): string {
  return text.replaceAll(/(?<![\w@.])(?:[A-Za-z]:|\.{1,2})?[/\\](?:[^/\\'"():]*[/\\])*/gu, "");
}
