/** Data of the server in a screen. */
import { messageOf } from "../../../engine/thrown.ts";
import { useEffect, useState } from "preact/hooks";
import type { PageEffects } from "./props.ts";

/** Data as far as it has arrived. */
export interface Loaded<T> {
  readonly data: T | undefined;
  /** Why it could not be loaded. */
  readonly failure: string | undefined;
  /** Loads it again. */
  again(): void;
}

/**
 * Loads data when a screen is drawn, and again whenever `path` or `version` changes. The data before it stays until the
 * new one has arrived.
 *
 * @param path the path of the request; undefined loads nothing
 * @param version a number that changes with the data, such as that of the last event
 */
export function useLoaded<T>(
  effects: Pick<PageEffects, "load">,
  path: string | undefined,
  version = 0,
): Loaded<T> {
  const [loaded, setLoaded] = useState<{ path: string; data?: T; failure?: string }>();
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (path === undefined) return undefined;
    let isCurrent = true;
    effects.load<T>(path).then(
      (data) => isCurrent && setLoaded({ path, data }),
      (error: unknown) => isCurrent && setLoaded({ path, failure: messageOf(error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [path, version, tries]);
  const isThis = loaded?.path === path;
  return {
    data: isThis ? loaded?.data : undefined,
    failure: isThis ? loaded?.failure : undefined,
    again: () => setTries((before) => before + 1),
  };
}
