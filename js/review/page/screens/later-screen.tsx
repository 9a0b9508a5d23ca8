/** Draws a screen other than the first, and loads the script of these screens when one of them is first shown. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ScreenProps } from "./props.ts";

let loaded: typeof import("./later-screens.ts").LATER_SCREENS | undefined;

/** Loads the script of the screens. Rejects when the server cannot be reached. */
export async function loadLaterScreens(): Promise<void> {
  loaded ??= (await import("./later-screens.ts")).LATER_SCREENS;
}

/** Draws the screen that the state names, unless that is the first one. */
export function LaterScreen({ state, effects }: ScreenProps): JSX.Element | null {
  const { screen, connection } = state;
  const [failed, setFailed] = useState(false);
  const [, setIsLoaded] = useState(loaded !== undefined);
  useEffect(() => {
    if (loaded !== undefined) return;
    loadLaterScreens().then(
      () => setIsLoaded(true),
      () => setFailed(true),
    );
    // The connection is a reason to try again, because a lost one is why a script does not load.
  }, [connection]);
  if (screen === "review") return null;
  if (loaded !== undefined) {
    const Shown = loaded[screen];
    return <Shown state={state} effects={effects} />;
  }
  return (
    <p class="empty" role="status">
      {failed
        ? "This screen could not be loaded. It is tried again when the connection is back."
        : "Loading…"}
    </p>
  );
}
