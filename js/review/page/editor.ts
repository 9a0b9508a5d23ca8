/**
 * The editor for the new content of a file. It is loaded when a person edits, and is plain DOM, so the page and other
 * people's pages can use it.
 */
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { unifiedMergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";

/** The options of {@link openEditor}. */
export interface EditorOptions {
  /** The content before the change, against which the text is compared. */
  readonly before: string;
  readonly text: string;
  /** Names the editor for those who hear the page. */
  readonly label: string;
  /** Called after each change of the text. */
  onChange(): void;
  /** Called with each key that means: write this. */
  onSubmit(): void;
}

/** An open editor. */
export interface OpenEditor {
  /** Returns the text, with the line ends of the given one. */
  text(): string;
  /** Puts another text in place of all of it, as one step that can be taken back. */
  replace(text: string): void;
  close(): void;
}

/** Opens an editor in an element, whose content it replaces. */
export function openEditor(
  host: HTMLElement,
  { before, text, label, onChange, onSubmit }: EditorOptions,
): OpenEditor {
  // The styles of the editor come as style sheets of a shadow root, which the policy of the page allows.
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  root.replaceChildren();
  const ends = lineEndsOf(text);
  // A text whose lines end differently keeps every CR as a character, so nothing is lost.
  const shown = (content: string): string => (ends === "\r\n" ? content.replaceAll("\r\n", "\n") : content);
  const submit = (): boolean => {
    onSubmit();
    return true;
  };
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: shown(text),
      extensions: [
        EditorState.lineSeparator.of("\n"),
        lineNumbers(),
        highlightSpecialChars(),
        history(),
        unifiedMergeView({ original: shown(before), mergeControls: false }),
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
        EditorView.theme(THEME),
        EditorView.updateListener.of(({ docChanged }) => {
          if (docChanged) onChange();
        }),
        keymap.of([{ key: "Mod-Enter", run: submit }, ...defaultKeymap, ...historyKeymap]),
      ],
    }),
  });
  view.focus();
  return {
    text() {
      const now = view.state.sliceDoc();
      return ends === "\r\n" ? now.replace(/\r?\n/gu, "\r\n") : now;
    },
    replace(other) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: shown(other) } });
      view.focus();
    },
    close: () => view.destroy(),
  };
}

/** Returns the line end of a text; undefined when its lines end differently. */
function lineEndsOf(text: string): "\n" | "\r\n" | undefined {
  const crs = text.split("\r").length - 1;
  if (crs === 0) return "\n";
  return crs === text.split("\r\n").length - 1 && crs === text.split("\n").length - 1 ? "\r\n" : undefined;
}

/** The look of the editor, in the colours of the page. */
const THEME = {
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--ground)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", fontSize: "12px", lineHeight: "20px" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-gutters": {
    backgroundColor: "var(--panel)",
    color: "var(--quiet)",
    borderRight: "1px solid var(--line)",
  },
  "&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine": { backgroundColor: "var(--added)" },
  "&.cm-merge-b .cm-changedText": { background: "var(--added-number)" },
  ".cm-deletedChunk": { backgroundColor: "var(--removed)", color: "var(--text)" },
  ".cm-deletedChunk .cm-deletedText": { background: "var(--removed-number)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
};
