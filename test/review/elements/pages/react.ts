/** The wrappers for React in a page: the element, and buttons of the page's own over the hook. */
import { createElement, useState } from "react";
import { createRoot } from "react-dom/client";
import { FilewrightApproval, FilewrightDiff, useReview } from "../../../../js/review/react.ts";

const address = `/review${location.hash}`;

function Own() {
  const { connection, pending, events, by, answer } = useReview("/review");
  return createElement(
    "section",
    { id: "own" },
    createElement("p", null, `${connection} as ${by}: ${pending.length} wait, ${events.length} events`),
    pending.map((question) =>
      createElement(
        "button",
        {
          key: question.id,
          type: "button",
          onClick: () => answer(question, "refuse", { reason: "not today" }),
        },
        `Refuse ${question.title}`,
      ),
    ),
  );
}

function Page() {
  const [settled, setSettled] = useState("");
  const [isLoggedIn, setLoggedIn] = useState(false);
  return createElement(
    "main",
    null,
    createElement(FilewrightApproval, {
      src: address,
      className: "approval",
      onWaiting: () => setLoggedIn(true),
      onSettled: ({ detail }) => setSettled(`${detail.outcome} by ${detail.by}`),
    }),
    createElement(FilewrightDiff, { patch: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\n" }),
    createElement("p", { id: "settled" }, settled),
    isLoggedIn && createElement(Own),
  );
}

createRoot(document.getElementById("root") as HTMLElement).render(createElement(Page));
