/**
 * An approver in a notebook: the question is shown as a MIME bundle for Jupyter and similar front
 * ends, and answered through the kernel's input.
 */
import type { GrantQuestion, GrantReply } from "../policy/index.ts";
import { callback, optionChecker, instance, type Options, required } from "../schema/option.ts";
import { escapeHtml } from "../tools/render/diff_html.ts";
import type { Approver, Confirmation, ConfirmReply } from "./confirm.ts";
import { escapeForPrinting, questionLines, type ShownQuestion } from "./question.ts";
import { keyChoicesOf, outcomeOfKey, renderQuestion, renderChoices } from "./terminal-view.ts";

/** One content in several forms, by MIME type; the front end uses the richest it supports. */
export type MimeBundle = Readonly<Record<string, unknown>>;

/** The MIME type of a question as plain data, for front ends that render it themselves. See {@link plainDetails}. */
export const APPROVAL_MIME = "application/vnd.filewright.approval.v1+json";

/** The functions of a notebook that an approver needs. */
export interface NotebookHost {
  /** Shows a bundle in the output of the running cell. */
  display(bundle: MimeBundle): void | Promise<void>;
  /** Asks the user for a line of text, as `input()` does. Null or an error counts as a refusal. */
  input(prompt: string): Promise<string | null>;
}

/** The description of a notebook: any object with these methods. */
export const NOTEBOOK_HOST: Options<NotebookHost> = instance<NotebookHost>("NotebookHost", "a notebook", {
  display: required(callback()),
  input: required(callback()),
});

const checkHost = optionChecker("notebookApprover", NOTEBOOK_HOST);

/**
 * A question as plain data, for user interfaces elsewhere. As JSON its `changes` have no contents: those are plain
 * data by {@link changeDetails}.
 */
export type PlainDetails = Omit<Confirmation, "onConfirm" | "signal" | "isStale" | "conflict" | "onStale">;

/** Returns a question without the members that cannot be serialized. */
export function plainDetails(question: Confirmation): PlainDetails {
  const { onConfirm: _, signal: _1, isStale: _2, onStale: _3, conflict: _4, ...details } = question;
  return details;
}

/** Returns a question about a change as text, as HTML and as data. */
export function approvalBundle(details: Confirmation): MimeBundle {
  const { text } = renderQuestion(details, { colour: false, maxLines: Number.POSITIVE_INFINITY });
  return Object.freeze({
    "text/plain": text.trim(),
    "text/html": approvalHtml(details),
    [APPROVAL_MIME]: plainDetails(details),
  });
}

/** Returns a question as HTML without scripts; every byte of content is escaped. */
export function approvalHtml(details: Pick<Confirmation, "title" | "tool" | "risk"> & ShownQuestion): string {
  const shown = (text: string): string => escapeHtml(escapeForPrinting(text));
  const lines = details.args === undefined ? questionLines(details) : [];
  const rows = lines.map(({ text, part }) => {
    const kind = part === "diff" ? DIFF_LINE_CLASSES[text[0] ?? " "] : undefined;
    return `<span class="${kind ?? "same"}">${shown(text)}</span>`;
  });
  const args = Object.entries(details.args ?? {}).map(
    ([name, value]) =>
      `<dt>${shown(name)}</dt><dd><code>${shown(typeof value === "string" ? value : (JSON.stringify(value) ?? ""))}</code></dd>`,
  );
  return [
    `<div class="filewright-approval"><style>${APPROVAL_CSS}</style>`,
    `<p><strong>${shown(details.title)}</strong> (${shown(details.tool)}, ${shown(details.risk)} risk)</p>`,
    ...(rows.length === 0 ? [] : [`<pre>${rows.join("\n")}</pre>`]),
    ...(args.length === 0 ? [] : [`<dl>${args.join("")}</dl>`]),
    "</div>",
  ].join("\n");
}

const DIFF_LINE_CLASSES: Readonly<Record<string, string>> = { "+": "added", "-": "removed", "@": "hunk" };
const APPROVAL_CSS =
  ".filewright-approval .added{color:#116329;background:#dafbe1}.filewright-approval .removed{color:#82071e;background:#ffebe9}.filewright-approval .hunk{color:#0550ae}";

/** Creates an approver that asks in a notebook. @throws FilewrightError INVALID_ARGUMENT when a method is missing */
export function notebookApprover(given: NotebookHost): Approver {
  const host = checkHost(given);
  const key = async (prompt: string): Promise<string> => {
    try {
      return ((await host.input(prompt)) ?? "n").trim().toLowerCase();
    } catch {
      return "n"; // No front end can answer.
    }
  };
  return Object.freeze({
    async confirm(details: Confirmation): Promise<ConfirmReply> {
      // A notebook has no editor to open, and no list of parts; front ends can use the data form to offer both.
      const scopes = details.scopes.filter(
        ({ outcome }) => outcome !== "modify_with_editor" && outcome !== "proceed_parts",
      );
      await host.display(approvalBundle(details));
      const outcome = outcomeOfKey(await key(renderChoices(keyChoicesOf(scopes), false)), scopes);
      return { outcome: outcome ?? "cancel" };
    },
    async ask(question: string, _options: readonly string[], { access }: GrantQuestion): Promise<GrantReply> {
      const reads = access === "read" ? ", r: read only" : "";
      const answer = await key(`${question} (y: read and write${reads}, n: refuse) `);
      if (answer === "r" && access === "read") return { answer: "yes", access: "read" };
      return { answer: answer === "y" || answer === "yes" ? "yes" : "no" };
    },
  });
}
