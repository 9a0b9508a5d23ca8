/** The dialog in which a person writes another content of one file before the change is allowed. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { visibleText } from "../../diff/escapes.ts";
import { SafeText } from "../../diff/text.tsx";
import type { OpenEditor, openEditor } from "../../editor.ts";
import type { ChangeContent } from "../../../protocol.ts";
import { editedChange, whyNotEdited } from "../../state/answers.ts";
import { chosenQuestion } from "../../state/choice.ts";
import { AnswerButtons, useModal } from "../dialog.tsx";
import { useLoaded } from "../loaded.ts";
import type { ScreenProps } from "../props.ts";

/** The texts that were typed and not written, by question and change, so that a closed dialog loses nothing. */
const drafts = new Map<string, string>();

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
  const question = chosenQuestion(state);
  const number = editedChange(state) ?? 0;
  const change = question?.kind === "change" ? question.changes[number] : undefined;
  const draft = `${question?.id}:${number}`;
  const content = useLoaded<ChangeContent>(
    effects,
    question === undefined
      ? undefined
      : `approvals/${encodeURIComponent(question.id)}/changes/${number}/content`,
  );
  const why = whyNotEdited(state);
  const keep = (): void => {
    if (editor.current !== undefined) drafts.set(draft, editor.current.text());
  };
  const close = (): void => {
    keep();
    effects.dispatch({ type: "dialog", dialog: undefined });
  };
  const submit = useRef<() => void>(() => {});
  submit.current = () => {
    if (why !== undefined || editor.current === undefined) return;
    keep();
    effects.answer("allow", { edits: [{ change: number, text: editor.current.text() }] });
  };

  const dialog = useModal(close);
  useEffect(() => {
    const { data } = content;
    if (data === undefined) return undefined;
    const address = effects.address("editor.js");
    if (address === undefined) return setFailure("no server has the editor");
    let isWanted = true;
    loadEditor(address).then(
      (open) => {
        if (!isWanted || host.current === null) return;
        editor.current = open(host.current, {
          before: data.before,
          text: drafts.get(draft) ?? data.text,
          label: `The new content of ${visibleText(change?.path ?? "")}`,
          onSubmit: () => submit.current(),
        });
        setIsOpen(true);
      },
      () => isWanted && setFailure("the editor could not be loaded"),
    );
    return () => {
      isWanted = false;
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
      {problem !== undefined && <p class="bar failure">It cannot be edited here: {problem}.</p>}
      {problem === undefined && !isOpen && <p class="quiet">Loading the content…</p>}
      <div class="editor" ref={host} />
      <div class="answers">
        <AnswerButtons
          why={why}
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
