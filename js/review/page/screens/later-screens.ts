/** The screens that are not shown first. The build makes one script of them, which {@link LaterScreen} loads. */
import type { JSX } from "preact";
import type { Screen } from "../state/store.ts";
import { ActivityScreen } from "./activity/activity.tsx";
import { PolicyScreen } from "./policy/policy.tsx";
import type { ScreenProps } from "./props.ts";
import { SearchScreen } from "./search/search.tsx";
import { TimelineScreen } from "./timeline/timeline.tsx";

export const LATER_SCREENS: Readonly<Record<Exclude<Screen, "review">, (props: ScreenProps) => JSX.Element>> =
  {
    timeline: TimelineScreen,
    policy: PolicyScreen,
    search: SearchScreen,
    activity: ActivityScreen,
  };
