/**
 * The profile that confines a command to its roots on macOS, in the language of `sandbox-exec`:
 * the text alone, so that it can be read and tested anywhere.
 */

/** The parts of a profile. Paths are absolute and real. */
export interface SeatbeltOptions {
  readonly writableRoots: readonly string[];
  /** Null for everything. */
  readonly readRoots: readonly string[] | null;
  readonly network: boolean;
  /** Below a writable root, and not to be changed. */
  readonly readOnlyPaths: readonly string[];
  /** Neither readable nor writable. */
  readonly hidden?: readonly string[] | undefined;
}

/** The directories that programs must read to start at all. */
const SYSTEM_DIRECTORIES = [
  "/usr",
  "/bin",
  "/sbin",
  "/System",
  "/Library",
  "/private/var/db/dyld",
  "/dev",
  "/opt",
];

/** Returns the profile's text. Later rules win. */
export function seatbeltProfile(options: SeatbeltOptions): string {
  const { writableRoots, readRoots, network, readOnlyPaths, hidden = [] } = options;
  const below = (paths: readonly string[]): string =>
    paths.map((path) => `(subpath ${quoted(path)})`).join(" ");
  return [
    "(version 1)",
    "(deny default)",
    "(allow process-exec process-fork)",
    "(allow signal (target same-sandbox))",
    "(allow sysctl-read)",
    "(allow file-read-metadata)",
    readRoots === null
      ? "(allow file-read*)"
      : `(allow file-read* ${below([...SYSTEM_DIRECTORIES, ...readRoots, ...writableRoots])})`,
    '(allow file-write-data (literal "/dev/null"))',
    writableRoots.length > 0 ? `(allow file-write* ${below(writableRoots)})` : [],
    readOnlyPaths.length > 0 ? `(deny file-write* ${below(readOnlyPaths)})` : [],
    hidden.length > 0 ? `(deny file-read* file-write* ${below(hidden)})` : [],
    "(deny file-write-setugid)",
    network ? "(allow network*)" : "(allow network* (local unix-socket) (remote unix-socket))",
  ]
    .flat()
    .join("\n");
}

/** Returns a string literal of the profile's language. */
function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
