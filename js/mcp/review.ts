/** The review page of a server: its questions and calls appear on the one page of all servers of a person. */
import { messageOf } from "../engine/thrown.ts";
import type { ApprovalQueue } from "../hooks/approval-queue.ts";
import type { Confirm } from "../hooks/confirm.ts";
import { parking } from "../hooks/queue/parking.ts";
import { type ReviewHub, reviewHub } from "../review/hub.ts";
import {
  openSharedPage,
  type PagePlace,
  type SharedPage,
  type SharedPageOptions,
} from "../review/shared/page.node.ts";
import { DEFAULT_REVIEW_PORT } from "../schema/command-line.node.ts";
import type { Workspace } from "../workspace/index.ts";
import { newToken, tokenOfOperator } from "./auth/token-file.ts";
import type { WriteLogLine } from "./protocol/log.ts";

/** The part of a server in a review page. */
export interface ServedReview {
  readonly hub: ReviewHub;
  /** Asks a person about each change, and parks the call of a client that does not wait for long. */
  readonly confirm: Confirm;
  /** Shows a workspace in place of the one before. */
  attach(workspace: Workspace): void;
  /** Shows the questions on the page, and serves it where no other process does. `log` gets the address of the page. */
  show(port: number, waiting: WaitingChanges, log: WriteLogLine): SharedPage;
}

/** The changes that wait for an answer, as a log names them: with `--review-after` only those of a rule. */
export type WaitingChanges = "Changes" | "Changes about which a rule asks";

/** The options of {@link serverReview}. */
interface ServerReviewOptions {
  /** The queue in which the questions wait. Default: a new one. */
  readonly queue?: ApprovalQueue | undefined;
  /** The time in milliseconds for which a call waits before it is parked. Default 45,000. */
  readonly reviewWait?: number | undefined;
}

/** Creates the hub of a server. No page shows its questions before {@link ServedReview.show}. */
export function serverReview(subject: string, { queue, reviewWait }: ServerReviewOptions = {}): ServedReview {
  const hub = reviewHub({ subject, queue });
  let detach = (): void => {};
  return {
    hub,
    confirm: parking(hub.confirm, { reviewWait }),
    attach(workspace) {
      detach();
      detach = hub.attach(workspace);
    },
    show(port, waiting, log) {
      let isFirst = true;
      return showReview(hub, {
        port,
        onPlace(place) {
          for (const line of pageAddressLines(place, waiting, isFirst)) log(line, "notice");
          isFirst = false;
        },
        onFailure: (error) => log(`Error: no review page can be served: ${messageOf(error)}`, "error"),
      });
    },
  };
}

/** Shows a hub on the page of all servers of this person. The operator may have given a token for programs. */
export function showReview(hub: ReviewHub, options: Omit<SharedPageOptions, "token">): SharedPage {
  return openSharedPage(hub, { ...options, token: tokenOfOperator("approver") ?? newToken() });
}

/** Returns the lines of a server's log that say where its page is. `isFirst` is false after a takeover. */
function pageAddressLines(place: PagePlace, waiting: WaitingChanges, isFirst: boolean): readonly string[] {
  if (place.kind === "joined")
    return [`${waiting} wait at ${place.url}, the page of another server; its link: filewright review`];
  const { url, port, alone, link } = place;
  const command = `filewright review${port === DEFAULT_REVIEW_PORT ? "" : ` --url http://127.0.0.1:${port}`}`;
  // A link logs in one browser. After a takeover the pages that are open connect again and need no link.
  const first = isFirst
    ? `${waiting} wait at ${link()} ; a further link: ${command}`
    : `This server shows the review page now, at ${url}; its link: ${command}`;
  return alone === undefined ? [first] : [first, `The page shows this server alone: ${alone}`];
}
