/** Prints the result of a call in the requested form, and returns the exit status. */
import type { ToolResult } from "../workspace/index.ts";
import type { Command, ToolCall } from "./command.ts";
import { EXIT } from "./exit-status.ts";
import { commandHint } from "./hints.ts";
import { print, printError, printJson, printJsonLines, printNote, textOf } from "./output.ts";
import type { Parsed } from "../schema/command-line.node.ts";
import type { Form } from "./person/form.ts";
import { page } from "./person/pager.ts";
import { personalText } from "./person/view.ts";

/** Prints the result; returns the exit status. */
export async function show(
  command: Command,
  call: ToolCall,
  result: ToolResult,
  { values }: Parsed,
  form: Form,
): Promise<number> {
  const outcome = result.ok ? (command.outcome?.(result.data) ?? "found") : "unknown";
  const told = command.speaksToModels === true ? result.text : commandHint(result.text, call.tool);
  if (values["quiet"] === true) {
    if (!result.ok) printError(told);
  } else if (values["jsonl"] === true) printJsonLines(result.ok ? result.data : result);
  else if (values["json"] === true) printJson(result);
  else if (!result.ok) printError(told);
  // A script that reads results gets no notice about an empty result, which is for people.
  else if (outcome !== "found") printNote(told);
  else {
    const text =
      ((form.person || values["long"] === true) && command.speaksToModels !== true
        ? personalText(call, result, form)
        : undefined) ?? textOf(call.tool, result);
    if (!(form.pager && command.pages === true && (await page(text)))) print(text);
  }
  return outcome === "found" ? EXIT.ok : outcome === "nothing" ? EXIT.nothing : EXIT.error;
}
