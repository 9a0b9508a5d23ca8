/**
 * Detects changes of resources: while a client is subscribed, their versions are compared once a second. A
 * version consists of a file's identity, size and times, so a comparison takes one `stat`.
 *
 * Rules, grants and hooks are consulted once, when the client subscribes. Changes of a resource that they
 * hide from the client are not reported.
 */
import { FilewrightError } from "../../engine/errors.ts";
import type { WorkspaceHost } from "../host.ts";
import { pathOfUri } from "./paths.ts";

const COMPARISON_INTERVAL_MS = 1000;

/** Watches the resources of all subscriptions. */
export interface ResourceWatch {
  /** Watches further resources. Changes after `ready` has resolved are reported. */
  add(uris: readonly string[]): WatchedResources;
  close(): void;
}

/** A set of watched resources. */
interface WatchedResources {
  readonly ready: Promise<unknown>;
  stop(): void;
}

/** Error codes for resources of which a client must not learn that they exist. */
const HIDING_CODES: ReadonlySet<string> = new Set([
  "APPROVAL_DENIED",
  "GRANT_DENIED",
  "HOOK_BLOCKED",
  "OUTSIDE_ALLOWED",
]);

/** Creates a watch, which calls `changed` with the URI of each changed resource. */
export function makeResourceWatch(host: WorkspaceHost, changed: (uri: string) => void): ResourceWatch {
  const watched = new Map<string, { count: number; version: Promise<string>; isKept: boolean }>();
  let timer: NodeJS.Timeout | undefined;
  let looking = false;

  const versionOf = async (uri: string): Promise<string> => {
    const path = pathOfUri(uri);
    const served = await host.workspace();
    if (path === undefined || served === undefined) return "none";
    try {
      const { version, size, mtime } = await served.ws.fs.stat(path);
      return version ?? `${size} ${mtime}`;
    } catch {
      return "none"; // A missing and a forbidden path look the same.
    }
  };
  /** Returns true when a rule, a grant or a hook hides the resource from its client. */
  const isKept = async (uri: string): Promise<boolean> => {
    const path = pathOfUri(uri);
    const served = await host.workspace();
    if (path === undefined || served === undefined) return false;
    try {
      await served.ws.stat({ path });
      return false;
    } catch (error) {
      return error instanceof FilewrightError && HIDING_CODES.has(error.code);
    }
  };
  const begin = (uri: string): void => {
    const entry = { count: 1, version: Promise.resolve("none"), isKept: false };
    entry.version = isKept(uri).then((kept) => {
      entry.isKept = kept;
      return kept ? "none" : versionOf(uri);
    });
    watched.set(uri, entry);
  };
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    for (const [uri, entry] of watched) {
      const before = await entry.version;
      if (entry.isKept) continue;
      const now = await versionOf(uri);
      if (before === now || !watched.has(uri)) continue;
      entry.version = Promise.resolve(now);
      changed(uri);
    }
    looking = false;
  };
  return {
    add(uris) {
      for (const uri of uris) {
        const known = watched.get(uri);
        if (known === undefined) begin(uri);
        else known.count += 1;
      }
      timer ??= setInterval(() => void look(), COMPARISON_INTERVAL_MS).unref();
      let stopped = false;
      const stop = (): void => {
        if (stopped) return;
        stopped = true;
        for (const uri of uris) {
          const entry = watched.get(uri);
          if (entry !== undefined && --entry.count === 0) watched.delete(uri);
        }
        if (watched.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
      return { ready: Promise.all(uris.map((uri) => watched.get(uri)?.version)), stop };
    },
    close() {
      watched.clear();
      clearInterval(timer);
      timer = undefined;
    },
  };
}

/** Returns the URIs that a `subscriptions/listen` message names; undefined for any other message. */
export function subscribedUris(
  message: unknown,
): { readonly id: unknown; readonly uris: readonly string[] } | undefined {
  const { method, id, params } = message as {
    readonly method?: unknown;
    readonly id?: unknown;
    readonly params?: { readonly notifications?: { readonly resourceSubscriptions?: unknown } };
  };
  const wanted = params?.notifications?.resourceSubscriptions;
  if (method !== "subscriptions/listen" || !Array.isArray(wanted)) return undefined;
  return { id, uris: wanted.filter((uri) => typeof uri === "string") };
}
