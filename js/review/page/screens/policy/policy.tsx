/** The screen "Policy": why a call is refused, what the workspace allows, and what people allowed. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { ShownPolicy } from "../../../policy-data.ts";
import { useLoaded } from "../loaded.ts";
import type { ScreenProps } from "../props.ts";
import { Why } from "./why.tsx";

/** Draws the screen. */
export function PolicyScreen({ state, effects }: ScreenProps): JSX.Element {
  const hasWorkspace = state.workspaces.length > 0;
  const [version, setVersion] = useState(0);
  const onChange = (): void => setVersion((before) => before + 1);
  const { data, failure } = useLoaded<ShownPolicy>(effects, hasWorkspace ? "policy" : undefined, version);
  return (
    <section class="policy" aria-labelledby="screen-head">
      <h2 id="screen-head">Policy</h2>
      {!hasWorkspace && <p class="none">No workspace is attached to this page.</p>}
      {failure !== undefined && <p class="bar failure">{failure}</p>}
      {data !== undefined && (
        <Why state={state} effects={effects} tools={data.tools} version={version} onChange={onChange} />
      )}
    </section>
  );
}
