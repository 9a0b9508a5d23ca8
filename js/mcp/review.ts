/** The review page of a server: its questions and calls appear on the one page of all servers of a person. */
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
import { newToken, tokenFilePath, tokenOfOperator, writeToken } from "./auth/token-file.ts";
import type { WriteLogLine } from "./protocol/log.ts";

/** The part of a server in a review page. */
export interface ServedReview {
  readonly hub: ReviewHub;
  /** Asks a person about each change, and parks the call of a client that does not wait for long. */
  readonly confirm: Confirm;
  /** Shows a workspace in place of the one before. */
  attach(workspace: Workspace): void;
  /** Shows the questions on the page, and serves it where no other process does. */
  show(port: number, log: WriteLogLine): SharedPage;
}

/** The options of {@link serverReview}. */
interface ServerReviewOptions {
  /** The queue in which the questions wait. Default: a new one. */
  readonly queue?: ApprovalQueue | undefined;
  /** How long a call waits before it is parked, in milliseconds. Default 45,000. */
  readonly reviewWait?: number | undefined;
}

/** Creates the questions of a server, which nobody sees before {@link ServedReview.show}. */
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
    show(port, log) {
      let isFirst = true;
      return showReview(hub, {
        port,
        onPlace(place) {
          for (const line of placeLines(place, isFirst)) log(line, "notice");
          isFirst = false;
        },
        onFailure: (error) =>
          log(
            `Error: no review page can be served: ${error instanceof Error ? error.message : String(error)}`,
            "error",
          ),
      });
    },
  };
}

/**
 * Shows a hub on the page of all servers of this person. If this process serves it, the token by which
 * `filewright review` gets links is in the file for its port.
 */
export function showReview(hub: ReviewHub, options: Omit<SharedPageOptions, "token">): SharedPage {
  const given = tokenOfOperator("approver");
  const token = given ?? newToken();
  return openSharedPage(hub, {
    ...options,
    token,
    onPlace(place) {
      if (place.kind === "served" && given === undefined)
        writeToken(tokenFilePath(place.port, "approver"), token);
      options.onPlace(place);
    },
  });
}

/** Returns what a server says about the page when it has found its place. */
function placeLines(place: PagePlace, isFirst: boolean): readonly string[] {
  if (place.kind === "joined")
    return [`Changes wait at ${place.url}, the page of another server; its link: filewright review`];
  const { url, port, alone, link } = place;
  const command = `filewright review${port === DEFAULT_REVIEW_PORT ? "" : ` --url http://127.0.0.1:${port}`}`;
  // The link opens the page once. After a takeover the open pages come back by themselves.
  const first = isFirst
    ? `Changes wait at ${link()} ; a further link: ${command}`
    : `This server shows the review page now, at ${url}; its link: ${command}`;
  return alone === undefined ? [first] : [first, `The page shows this server alone: ${alone}`];
}
