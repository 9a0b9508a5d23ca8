/** `<filewright-diff>`. */
import { render } from "preact";
import type { FilewrightDiffElement } from "../../elements.ts";
import type { ChangeRows } from "../../protocol.ts";
import { DiffView } from "../diff/diff-view.tsx";
import { BaseElement, shadowOf, takeEarlyProperties } from "./base.ts";
import { rowsOfPatch } from "./patch.ts";

/** Draws a change. It has no connection, and nothing in it can be chosen. */
export class FilewrightDiff extends BaseElement implements FilewrightDiffElement {
  #patch = "";
  #rows: readonly ChangeRows[] = [];
  #shadow: ReturnType<typeof shadowOf> | undefined;

  get patch(): string {
    return this.#patch;
  }
  set patch(text: string) {
    this.#patch = text;
    this.rows = rowsOfPatch(text);
  }

  get rows(): readonly ChangeRows[] {
    return this.#rows;
  }
  set rows(rows: readonly ChangeRows[]) {
    this.#rows = rows;
    this.#draw();
  }

  connectedCallback(): void {
    takeEarlyProperties(this, ["patch", "rows"]);
    this.#draw();
  }

  #draw(): void {
    if (!this.isConnected) return;
    this.#shadow ??= shadowOf(this, "only-diff");
    const view = (
      <DiffView
        pages={this.#rows}
        leftOut={undefined}
        canChoose={false}
        hunk={-1}
        line={undefined}
        onToggle={() => {}}
        onHunk={() => {}}
        onLines={() => {}}
        onLine={() => {}}
      />
    );
    render(view, this.#shadow.node);
  }
}
