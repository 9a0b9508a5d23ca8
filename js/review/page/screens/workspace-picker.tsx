/** The choice of the workspace that a screen is about, on a page of several. */
import type { JSX } from "preact";
import { visibleText } from "../diff/escapes.ts";
import type { ScreenProps } from "./props.ts";

/** Draws the list of workspaces. */
export function WorkspacePicker({ state: { workspaces, workspace }, effects }: ScreenProps): JSX.Element {
  return (
    <select
      class="workspaces"
      aria-label="Workspace"
      value={workspace ?? workspaces[0] ?? ""}
      onChange={({ currentTarget }) =>
        effects.dispatch({ type: "workspace", workspace: currentTarget.value })
      }
    >
      {workspaces.map((name) => (
        <option key={name} value={name}>
          {visibleText(name)}
        </option>
      ))}
    </select>
  );
}
