/**
 * The screens that are not shown first, and a dialog that is seldom needed. The build makes one script of them, which
 * `LaterScreen` loads.
 */
import type { JSX } from "preact";
import type { Screen } from "../state/store.ts";
import { ActivityScreen } from "./activity/activity.tsx";
import { GroupDialog } from "./group/group-dialog.tsx";
import { PolicyScreen } from "./policy/policy.tsx";
import type { ScreenProps } from "./props.ts";
import { SearchScreen } from "./search/search.tsx";
import { TimelineScreen } from "./timeline/timeline.tsx";

export const LATER_PARTS: Readonly<
  Record<Exclude<Screen, "review"> | "group", (props: ScreenProps) => JSX.Element | null>
> = {
  timeline: TimelineScreen,
  policy: PolicyScreen,
  search: SearchScreen,
  activity: ActivityScreen,
  group: GroupDialog,
};
