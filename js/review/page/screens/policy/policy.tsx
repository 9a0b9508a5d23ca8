/** The screen "Policy": why a call is refused, what people allowed, and what the workspace allows. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ShownPolicy } from "../../../policy-data.ts";
import type { AllowedPlace } from "../../state/notice.ts";
import { useLoaded } from "../loaded.ts";
import type { ScreenProps } from "../props.ts";
import { Access, Rules } from "./access.tsx";
import { Approvals, Grants, namesApproval, shownApproval } from "./allowed.tsx";
import { Why } from "./why.tsx";

/** Returns true when a policy lists what a person asked to see, and where nothing was asked for. */
function lists({ approvals, grants }: ShownPolicy, allowed: AllowedPlace = {}): boolean {
  const { dir } = allowed;
  if (namesApproval(allowed)) return shownApproval(approvals, allowed) !== undefined;
  return dir === undefined || grants.some((one) => one.dir === dir);
}

/** Draws the screen. */
export function PolicyScreen({ state, effects }: ScreenProps): JSX.Element {
  const hasWorkspace = state.workspaces.length > 0;
  const [version, setVersion] = useState(0);
  const onChange = (): void => setVersion((before) => before + 1);
  const { allowed, workspaces, review } = state;
  const [isMissing, setMissing] = useState(false);
  // An approval that was just given may not be stored yet.
  const loads = version + (isMissing ? review.seq : 0);
  const { data, failure } = useLoaded<ShownPolicy>(effects, hasWorkspace ? "policy" : undefined, loads);
  useEffect(() => setMissing(data !== undefined && !lists(data, allowed)), [data, allowed]);
  useEffect(() => {
    if (!isMissing) return;
    for (const name of workspaces.length > 1 ? workspaces : [])
      effects.load<ShownPolicy>("policy", name).then(
        (policy) => lists(policy, allowed) && effects.dispatch({ type: "workspace", workspace: name }),
        () => {}, // A workspace that has gone lists nothing.
      );
  }, [isMissing]);
  const props = { state, effects, onChange };
  return (
    <div class="policy">
      <h2 id="screen-head">Policy</h2>
      {!hasWorkspace && <p class="none">No workspace is attached to this page.</p>}
      {failure !== undefined && <p class="bar failure">{failure}</p>}
      {data !== undefined && (
        <>
          <Why {...props} tools={data.tools} version={version} />
          <Approvals {...props} approvals={data.approvals} />
          <Grants {...props} grants={data.grants} isAsked={data.policy.permissions === "prompt"} />
          <Access policy={data.policy} />
          <Rules rules={data.policy.rules} onChange={onChange} />
        </>
      )}
    </div>
  );
}
