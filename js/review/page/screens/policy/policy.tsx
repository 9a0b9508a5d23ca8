/** The screen "Policy": why a call is refused, what the workspace allows, and what people allowed. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { ShownPolicy } from "../../../policy-data.ts";
import { useLoaded } from "../loaded.ts";
import type { ScreenProps } from "../props.ts";
import { Access, Rules } from "./access.tsx";
import { Approvals, Grants } from "./allowed.tsx";
import { Why } from "./why.tsx";

/** Draws the screen. */
export function PolicyScreen({ state, effects }: ScreenProps): JSX.Element {
  const hasWorkspace = state.workspaces.length > 0;
  const [version, setVersion] = useState(0);
  const onChange = (): void => setVersion((before) => before + 1);
  const { data, failure } = useLoaded<ShownPolicy>(effects, hasWorkspace ? "policy" : undefined, version);
  const props = { state, effects, onChange };
  return (
    <div class="policy">
      <h2 id="screen-head">Policy</h2>
      {!hasWorkspace && <p class="none">No workspace is attached to this page.</p>}
      {failure !== undefined && <p class="bar failure">{failure}</p>}
      {data !== undefined && (
        <>
          <Why {...props} tools={data.tools} version={version} />
          <Access policy={data.policy} />
          <Rules rules={data.policy.rules} onChange={onChange} />
          <Grants {...props} grants={data.grants} isAsked={data.policy.permissions === "prompt"} />
          <Approvals {...props} approvals={data.approvals} />
        </>
      )}
    </div>
  );
}
