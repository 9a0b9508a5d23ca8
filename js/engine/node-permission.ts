/** The refusals of Node's permission model (`node --permission`), in words that name the missing flag. */
import { type FilewrightError, makeError } from "./errors.ts";

/** The flag of Node that gives each permission of its permission model. */
const NODE_FLAG_BY_PERMISSION: Readonly<Record<string, string>> = {
  FileSystemRead: "--allow-fs-read",
  FileSystemWrite: "--allow-fs-write",
  WorkerThreads: "--allow-worker",
  ChildProcess: "--allow-child-process",
  Net: "--allow-net",
};

/**
 * Returns the error for an exception of Node's permission model, which names the missing flag; undefined for any
 * other exception. The exception is not kept, because it names a path of the host.
 */
export function nodePermissionError(thrown: unknown, path?: string): FilewrightError | undefined {
  const { code, permission } = Object(thrown) as { readonly code?: unknown; readonly permission?: unknown };
  if (code !== "ERR_ACCESS_DENIED") return undefined;
  const flag = NODE_FLAG_BY_PERMISSION[String(permission)];
  const details = { reason: "node_permission", ...(flag === undefined ? {} : { flag }) };
  const place = path === undefined ? {} : { path };
  if (flag === undefined)
    return makeError("PERMISSION_DENIED", "Node's permission model does not have this call at all", {
      ...place,
      details,
      hint: "the host can start Node with --allow-addons, for the native addon",
    });
  const what = flag.startsWith("--allow-fs-") ? " for the path" : "";
  return makeError(
    "PERMISSION_DENIED",
    `Node's permission model forbids it: the process was started without ${flag}${what}`,
    { ...place, details, hint: `the host can start Node with ${flag}` },
  );
}
