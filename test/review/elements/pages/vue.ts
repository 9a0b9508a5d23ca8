/** The wrappers for Vue in a page: the element, and a text of the page's own over the composable. */
import type { SettledQuestion } from "../../../../js/review/protocol.ts";
import { createApp, defineComponent, h, ref } from "vue";
import { FilewrightApproval, FilewrightDiff, useReview } from "../../../../js/review/vue.ts";

const address = `/review${location.hash}`;

const Own = defineComponent(() => {
  const { view, answer } = useReview("/review");
  return () =>
    h("section", { id: "own" }, [
      h("p", `${view.value.connection} as ${view.value.by}: ${view.value.pending.length} wait`),
      view.value.pending.map((question) =>
        h(
          "button",
          { type: "button", onClick: () => answer(question, "refuse", { reason: "not today" }) },
          `Refuse ${question.title}`,
        ),
      ),
    ]);
});

const Page = defineComponent(() => {
  const settled = ref("");
  const isLoggedIn = ref(false);
  return () =>
    h("main", [
      h(FilewrightApproval, {
        src: address,
        class: "approval",
        onWaiting: () => {
          isLoggedIn.value = true;
        },
        onSettled: ({ detail }: CustomEvent<SettledQuestion>) => {
          settled.value = `${detail.outcome} by ${detail.by}`;
        },
      }),
      h(FilewrightDiff, { patch: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\n" }),
      h("p", { id: "settled" }, settled.value),
      isLoggedIn.value ? h(Own) : undefined,
    ]);
});

createApp(Page).mount("#root");
