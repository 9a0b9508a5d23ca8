/** Draws what the first screen does not need, and loads the script of it when some of it is first shown. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ScreenProps } from "./props.ts";

type LaterParts = typeof import("./later-screens.ts").LATER_PARTS;

let loaded: LaterParts | undefined;

/** Loads the script of the screens. Rejects when the server cannot be reached. */
export async function loadLaterScreens(): Promise<void> {
  loaded ??= (await import("./later-screens.ts")).LATER_PARTS;
}

/** Draws a screen other than the first, or a dialog that is loaded with them. */
export function LaterScreen({
  part,
  state,
  effects,
}: ScreenProps & { readonly part: keyof LaterParts }): JSX.Element {
  const { connection } = state;
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
  if (loaded !== undefined) {
    const Shown = loaded[part];
    return <Shown state={state} effects={effects} />;
  }
  return (
    <p class="empty" role="status">
      {failed ? "This could not be loaded. It is tried again when the connection is back." : "Loading…"}
    </p>
  );
}
