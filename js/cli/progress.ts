/** Shows the progress of long work on a terminal's standard error; removed when it ends. */
import process from "node:process";
import type { CallOptions } from "../workspace/index.ts";

/** The time before progress is shown. Milliseconds. */
const PROGRESS_DELAY_MS = 400;
const REDRAW_INTERVAL_MS = 100;

/** A progress display. */
export interface ShownProgress {
  readonly onProgress?: CallOptions["onProgress"];
  /** Hides the progress while a person is asked, because it would overwrite the question. */
  quietly<T>(ask: () => Promise<T>): Promise<T>;
  end(): void;
}

/**
 * Returns one line about running work: its name, the number of finished files when known, and the
 * elapsed time.
 */
export function progressLine(
  what: string,
  { done, total }: { readonly done?: number; readonly total?: number | undefined },
  milliseconds: number,
): string {
  const seconds = Math.floor(milliseconds / 1000);
  const files = done === undefined ? "" : ` · ${done}${total === undefined ? "" : ` of ${total}`} files`;
  return `${what}${files}${seconds > 0 ? ` · ${seconds} s` : ""}`;
}

/** Shows the progress of `what`; `end` removes it. Does nothing without a terminal. */
export function showProgress(what: string): ShownProgress {
  const { stderr } = process;
  if (stderr.isTTY !== true || process.env["TERM"] === "dumb")
    return { quietly: (ask) => ask(), end: () => {} };
  const began = performance.now();
  let said = "";
  let latest: { readonly done?: number; readonly total?: number | undefined } = {};
  let questions = 0;
  const draw = (): void => {
    if (questions > 0) return;
    said = progressLine(what, latest, performance.now() - began);
    stderr.write(`\r\u001b[K${said.slice(0, (stderr.columns ?? 80) - 1)}`);
  };
  let timer: NodeJS.Timeout | undefined;
  const first = setTimeout(() => {
    draw();
    timer = setInterval(draw, REDRAW_INTERVAL_MS);
  }, PROGRESS_DELAY_MS);
  return {
    onProgress({ done, total }) {
      latest = { done, total };
    },
    async quietly(ask) {
      questions += 1;
      if (said !== "") stderr.write("\r\u001b[K");
      said = "";
      try {
        return await ask();
      } finally {
        questions -= 1;
      }
    },
    end() {
      clearTimeout(first);
      clearInterval(timer);
      if (said !== "") stderr.write("\r\u001b[K");
    },
  };
}
