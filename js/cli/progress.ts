/** How far long work is, for who watches: on a terminal's standard error, gone when it ends. */
import process from "node:process";
import type { CallOptions } from "../workspace/index.ts";

/** What is quicker is not shown. Milliseconds. */
const PATIENCE_MS = 400;
const PACE_MS = 100;

/** Progress that is shown. */
export interface ShownProgress {
  readonly onProgress?: CallOptions["onProgress"];
  /** Shows nothing while a person is asked: what is drawn would write over the question. */
  quietly<T>(ask: () => Promise<T>): Promise<T>;
  end(): void;
}

/** Shows progress; `end` removes it. Nothing is shown where nobody looks. */
export function showProgress(): ShownProgress {
  const { stderr } = process;
  if (stderr.isTTY !== true || process.env["TERM"] === "dumb")
    return { quietly: (ask) => ask(), end: () => {} };
  const began = performance.now();
  let said = "";
  let latest = "";
  let questions = 0;
  const draw = (): void => {
    if (questions > 0) return;
    const seconds = Math.floor((performance.now() - began) / 1000);
    said = `${latest === "" ? "working" : latest}${seconds > 0 ? ` · ${seconds} s` : ""}`;
    stderr.write(`\r\u001b[K${said.slice(0, (stderr.columns ?? 80) - 1)}`);
  };
  let timer: NodeJS.Timeout | undefined;
  const first = setTimeout(() => {
    draw();
    timer = setInterval(draw, PACE_MS);
  }, PATIENCE_MS);
  return {
    onProgress({ done, total, message }) {
      latest = `${message ?? ""}${message === undefined ? "" : " "}${done}${total === undefined ? "" : ` of ${total}`}`;
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
