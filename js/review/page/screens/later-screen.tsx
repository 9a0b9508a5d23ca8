/**
 * Draws the screens and the dialog that the first screen does not need. Their code is a script of its own, which is
 * loaded when one of them is drawn for the first time, so that the first screen appears sooner.
 */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ScreenProps } from "./props.ts";

type LaterParts = typeof import("./later-screens.ts").LATER_PARTS;

let loaded: LaterParts | undefined;

/** Loads the script, unless it is loaded already. Rejects when the script cannot be loaded; a later call tries again. */
export async function loadLaterScreens(): Promise<void> {
  loaded ??= (await import("./later-screens.ts")).LATER_PARTS;
}

/** The time in milliseconds before the first attempt after a failure. It doubles with each further failure. */
const RETRY_MS = 1000;
/** The longest time between two attempts, in milliseconds. */
const MAX_RETRY_MS = 30_000;

/** Draws one of the parts of the script; a line of text stands in its place until the script is loaded. */
export function LaterScreen({
  part,
  state,
  effects,
}: ScreenProps & { readonly part: keyof LaterParts }): JSX.Element {
  const { connection } = state;
  const [hasFailed, setHasFailed] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const tryAgain = (): void => setAttempt((before) => before + 1);
  // Only draws the component again: what is drawn depends on `loaded`, which all parts share.
  const [, setIsLoaded] = useState(loaded !== undefined);
  useEffect(() => {
    if (loaded !== undefined) return undefined;
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    loadLaterScreens().then(
      () => isCurrent && setIsLoaded(true),
      () => {
        if (!isCurrent) return;
        setHasFailed(true);
        timer = setTimeout(tryAgain, Math.min(RETRY_MS * 2 ** attempt, MAX_RETRY_MS));
      },
    );
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
    // A script often fails to load because the connection is lost, so each change of the connection tries at once.
  }, [connection, attempt]);
  if (loaded !== undefined) {
    const Shown = loaded[part];
    return <Shown state={state} effects={effects} />;
  }
  return (
    <div class="empty">
      <p role="status">
        {hasFailed ? "This could not be loaded. It is tried again by itself, soon." : "Loading…"}
      </p>
      {hasFailed && (
        <button type="button" onClick={tryAgain}>
          Try again
        </button>
      )}
    </div>
  );
}
