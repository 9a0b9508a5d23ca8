/** A page of somebody else, with the elements as plain HTML. */
import "../../../../js/review/elements.ts";
import type { ReviewQuestion, SettledQuestion } from "../../../../js/review/protocol.ts";

/** The events of the elements, in words. */
export interface ElementsPage {
  readonly heard: readonly string[];
}

const heard: string[] = [];
Object.assign(globalThis, { elementsPage: { heard } satisfies ElementsPage });

const name = new URL(location.href).searchParams.get("element") ?? "filewright-review";
const address = `/review${location.hash}`;
history.replaceState(null, "", location.pathname);
const element = document.createElement(name);
element.addEventListener("waiting", (event) => {
  const { detail } = event as CustomEvent<readonly ReviewQuestion[]>;
  heard.push(`waiting ${detail.length}`);
});
element.addEventListener("settled", (event) => {
  const { detail } = event as CustomEvent<SettledQuestion>;
  heard.push(`${detail.outcome} ${detail.by}`);
});
if (name === "filewright-diff") {
  const patch = "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+deux\n";
  Object.assign(element, { patch });
} else element.setAttribute("src", address);
(document.getElementById("root") as HTMLElement).append(element);
