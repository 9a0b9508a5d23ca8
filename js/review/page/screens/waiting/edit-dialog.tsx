/** The dialog in which a person writes another content of one file before the change is allowed. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { visibleText } from "../../diff/escapes.ts";
import { SafeText } from "../../diff/text.tsx";
import type { OpenEditor, openEditor } from "../../editor.ts";
import type { ChangeContent } from "../../../protocol.ts";
import { chosenEnd, editedChange, whyEnded, whyNotEdited } from "../../state/answers.ts";
import { chosenQuestion } from "../../state/choice.ts";
import { AnswerButtons, useModal } from "../dialog.tsx";
import { useLoaded } from "../loaded.ts";
import type { ScreenProps } from "../props.ts";

/** Loads the editor from the server of the questions: the script of an element may come from elsewhere. */
const loadEditor = async (address: string): Promise<typeof openEditor> => {
  const url = new URL(address, document.baseURI).href;
  return ((await import(url)) as { readonly openEditor: typeof openEditor }).openEditor;
};

/** Draws the dialog. */
export function EditDialog({ state, effects }: ScreenProps): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<OpenEditor | undefined>(undefined);
  const [failure, setFailure] = useState<string>();
  const [isOpen, setIsOpen] = useState(false);
  // The question stays the one for which the dialog was opened, also when it is settled meanwhile.
  const [{ question, number }] = useState(() => ({
    question: chosenQuestion(state) ?? chosenEnd(state)?.question,
    number: editedChange(state) ?? 0,
  }));
  const { id = "" } = question ?? {};
  const change = question?.kind === "change" ? question.changes[number] : undefined;
  const draft = state.drafts.get(id)?.get(number);
  const [isChanged, setIsChanged] = useState(draft !== undefined);
  const content = useLoaded<ChangeContent>(
    effects,
    question === undefined ? undefined : `approvals/${encodeURIComponent(id)}/changes/${number}/content`,
  );
  const ended = whyEnded(state, id);
  const why = whyNotEdited(state) ?? ended;
  const close = (): void => effects.dispatch({ type: "dialog", dialog: undefined });
  const submit = useRef<() => void>(() => {});
  submit.current = () => {
    if (why !== undefined || editor.current === undefined) return;
    effects.answer("allow", { edits: [{ change: number, text: editor.current.text() }] });
  };

  const dialog = useModal(close);
  useEffect(() => {
    const { data } = content;
    if (data === undefined) return undefined;
    const address = effects.script("editor.js");
    if (address === undefined) return setFailure("no server has the editor");
    let isWanted = true;
    loadEditor(address).then(
      (open) => {
        if (!isWanted || host.current === null) return;
        editor.current = open(host.current, {
          before: data.before,
          text: draft ?? data.text,
          label: `The new content of ${visibleText(change?.path ?? "")}`,
          onChange() {
            setIsChanged(true);
            effects.dispatch({ type: "typing" });
          },
          onSubmit: () => submit.current(),
        });
        setIsOpen(true);
      },
      () => isWanted && setFailure("the editor could not be loaded"),
    );
    return () => {
      isWanted = false;
      const text = editor.current?.text();
      // However the dialog was closed, what was typed is kept.
      if (text !== undefined)
        effects.dispatch({ type: "draft", id, change: number, text: text === data.text ? undefined : text });
      editor.current?.close();
      editor.current = undefined;
    };
  }, [content.data]);

  const problem = content.failure ?? failure;
  return (
    <dialog ref={dialog} class="edit" aria-labelledby="edit-head">
      <h2 id="edit-head" class="dialog-head">
        Edit <SafeText text={change?.path ?? ""} />
      </h2>
      <p class="quiet">
        The text is written in place of the planned one, with the encoding of the file, and the model is told
        what you changed.
        {question?.kind === "change" && question.changes.length > 1 && " Other files are written as planned."}
      </p>
      {ended !== undefined && (
        <p class="bar warning" role="alert">
          {visibleText(ended)} Your text is still here to copy.
        </p>
      )}
      {problem !== undefined && <p class="bar failure">It cannot be edited here: {problem}.</p>}
      {problem === undefined && !isOpen && <p class="quiet">Loading the content…</p>}
      <div class="editor" ref={host} />
      <div class="answers">
        {isOpen && isChanged && content.data !== undefined && (
          <button type="button" onClick={() => editor.current?.replace(content.data?.text ?? "")}>
            Back to the agent's text
          </button>
        )}
        <AnswerButtons
          why={ended === undefined ? why : undefined}
          isDisabled={why !== undefined || !isOpen}
          onCancel={close}
          onConfirm={() => submit.current()}
        >
          Allow with this content <kbd>Ctrl Enter</kbd>
        </AnswerButtons>
      </div>
    </dialog>
  );
}
