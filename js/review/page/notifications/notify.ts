/**
 * Notifications of the browser about questions: only while the page is hidden, and without anything of their contents,
 * because they are shown on locked and on shared screens.
 */
import type { Cell } from "../state/cell.ts";
import { noticeOf, type NotifyState } from "./notification.ts";
import type { PageState } from "../state/store.ts";

/** The permission of this browser for notifications. */
export interface Notifier {
  state(): NotifyState;
  /** Asks the person for the permission of the browser. Resolves with the new state. */
  ask(): Promise<NotifyState>;
}

/** The name that makes a notification replace the one before it, also that of another tab. */
const TAG = "filewright-review";

/** Shows a notification for each question that comes while the page is hidden; undefined in a browser without them. */
export function notifyOfQuestions(page: Cell<PageState>): Notifier | undefined {
  if (typeof Notification === "undefined") return undefined;
  const state = (): NotifyState => STATE_BY_PERMISSION[Notification.permission];
  let known: ReadonlySet<string> | undefined;
  page.watch(({ connection, review }) => {
    if (connection !== "live") return;
    // The questions that wait when the page is opened are not announced.
    const text = known === undefined ? undefined : noticeOf(known, review.waiting);
    known = new Set(review.waiting.map(({ id }) => id));
    if (text === undefined || !document.hidden || state() !== "on") return;
    const shown = new Notification("Filewright review", { body: text, tag: TAG });
    shown.onclick = () => {
      window.focus();
      shown.close();
    };
  });
  return {
    state,
    ask: async () => STATE_BY_PERMISSION[await Notification.requestPermission()],
  };
}

const STATE_BY_PERMISSION: Readonly<Record<NotificationPermission, NotifyState>> = {
  default: "off",
  granted: "on",
  denied: "refused",
};
