/** Every state of the page as data, for the catalogue `states.html` and its tests. */
import type { ChangeContent } from "../../../../js/review/protocol.ts";
import { EMPTY_STATE } from "../../../../js/review/state.ts";
import type { NotifyState } from "../../../../js/review/page/notifications/notification.ts";
import { ACTIVITY_ANSWERS, ACTIVITY_STEPS, activityStates } from "./activity.ts";
import { groupStates } from "./group.ts";
import { POLICY_ANSWERS, POLICY_STEPS, policyStates } from "./policy.ts";
import { SEARCH_ANSWERS, SEARCH_STEPS, searchStates } from "./search.ts";
import { TIMELINE_ANSWERS, timelineStates } from "./timeline.ts";
import { WIDER_STEPS } from "./wider.ts";
import { FIRST_STATE, type PageState } from "../../../../js/review/page/state/store.ts";
import { ANSWER_STATES } from "./answer-states.ts";
import { CHANGE_STATES } from "./change-states.ts";
import { NOW, PATCH, QUESTION, READY, REVIEW } from "./samples.ts";

/** Every state, by its name. */
export const STATES: Readonly<Record<string, PageState>> = {
  "several-workspaces": {
    ...READY,
    screen: "search",
    subject: "/repo, /srv/site",
    workspaces: ["/repo", "/repo (2)", "/srv/site"],
    workspace: "/srv/site",
  },
  "unreviewed-several": { ...READY, workspaces: ["/repo", "/srv/site"] },
  connecting: FIRST_STATE,
  "signed-out": { ...FIRST_STATE, connection: "signed-out" },
  empty: { ...READY, review: EMPTY_STATE, chosen: undefined, pane: "waiting" },
  waiting: READY,
  "narrow-list": { ...READY, pane: "waiting" },
  "narrow-live": { ...READY, pane: "live" },
  keys: { ...READY, dialog: "keys" },
  "keys-notified": { ...READY, dialog: "keys" },
  "keys-not-notified": { ...READY, dialog: "keys" },
  offline: { ...READY, connection: "offline" },
  watching: { ...READY, role: "watch", by: "guest" },
  "many-waiting": {
    ...READY,
    review: {
      ...REVIEW,
      waiting: [
        QUESTION,
        ...Array.from({ length: 40 }, (_, index) => ({ ...PATCH, id: `p${index}`, title: `Patch ${index}` })),
      ],
    },
  },
  ...CHANGE_STATES,
  ...ANSWER_STATES,
  ...groupStates(READY, QUESTION),
  ...policyStates({ ...READY, screen: "policy" }),
  ...searchStates({ ...READY, screen: "search" }),
  ...activityStates({ ...READY, screen: "activity" }),
  ...timelineStates({ ...READY, screen: "timeline" }),
};

const EDITED_CONTENT: ChangeContent = {
  before:
    "export function refund(order: Order): Refund {\n  if (due < 0) return;\n  return entry.close();\n}\n",
  text: "export function refund(order: Order): Refund {\n  if (due <= 0) throw new NothingDue(order.id);\n  return entry.close();\n}\n",
};

/** The answers of the server to the requests of screens, by path. */
export const ANSWERS: Readonly<Record<string, object>> = {
  ...SEARCH_ANSWERS,
  ...ACTIVITY_ANSWERS,
  ...POLICY_ANSWERS,
  ...TIMELINE_ANSWERS,
  "put-back-last:history": {
    entries: [
      {
        callId: "c5",
        tool: "edit_file",
        time: new Date(NOW).toISOString(),
        paths: ["src/pay/refund.ts"],
        agent: "main",
      },
    ],
    marks: [],
    unreviewed: [],
  },
  scopes: { covered: 12, calls: 100 },
  "approvals/q1/changes/0/content": EDITED_CONTENT,
};

/** The steps of a person that lead to a state: they fill a field with a text, or click the element of a selector. */
export const STEPS: Readonly<Record<string, readonly (readonly [selector: string, text?: string])[]>> = {
  ...SEARCH_STEPS,
  ...ACTIVITY_STEPS,
  ...POLICY_STEPS,
  ...WIDER_STEPS,
};

/** The permission for notifications, by state; `off` for the others. */
export const NOTIFY_STATES: Readonly<Record<string, NotifyState>> = {
  "keys-notified": "on",
  "keys-not-notified": "refused",
};
