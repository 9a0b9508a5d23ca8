/** Loads the rows of a question page by page. */
import { messageOf } from "../../engine/thrown.ts";
import type { ChangeRows, ReviewQuestion } from "../protocol.ts";
import type { ReviewTransport } from "../transport.ts";
import type { LoadedRows } from "./state/choice.ts";

/** Reads the rows of all changes of a question, and passes on what has arrived after each page. `isShown`: with secrets. */
export async function readRows(
  transport: ReviewTransport,
  question: ReviewQuestion & { readonly kind: "change" },
  isShown: boolean,
  onRows: (rows: LoadedRows) => void,
): Promise<void> {
  const pages: ChangeRows[] = [];
  try {
    for (let change = 0; change < question.changes.length; change++) {
      for (let from: number | undefined = 0; from !== undefined; ) {
        const path = `approvals/${encodeURIComponent(question.id)}/changes/${change}?from=${from}${isShown ? "&secrets=shown" : ""}`;
        const page = (await transport.request(path)) as ChangeRows;
        pages.push(page);
        from = page.next;
        const isComplete = from === undefined && change === question.changes.length - 1;
        onRows({ pages: [...pages], isComplete, isShown });
      }
    }
  } catch (error) {
    const failure = messageOf(error);
    onRows({ pages, isComplete: false, failure, isShown });
  }
}
