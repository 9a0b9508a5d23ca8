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

/** Draws one of the parts of the script; a line of text stands in its place until the script is loaded. */
export function LaterScreen({
  part,
  state,
  effects,
}: ScreenProps & { readonly part: keyof LaterParts }): JSX.Element {
  const { connection } = state;
  const [failed, setFailed] = useState(false);
  // Only draws the component again: what is drawn depends on `loaded`, which all parts share.
  const [, setIsLoaded] = useState(loaded !== undefined);
  useEffect(() => {
    if (loaded !== undefined) return;
    loadLaterScreens().then(
      () => setIsLoaded(true),
      () => setFailed(true),
    );
    // A script usually fails to load because the connection is lost, so each change of the connection tries again.
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
