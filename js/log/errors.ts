/** The errors about calls and places of the history. */
import { FilewrightError } from "../engine/errors.ts";
import { hasTrait } from "../schema/tool-facts.ts";

/** Creates the error of an id that no call of the history has. */
export function unknownCallError(callId: string): FilewrightError {
  return new FilewrightError("NOT_FOUND", `There is no call '${callId.slice(0, 80)}' in the history.`, {
    complete: true,
    hint: "history lists the calls that can be undone",
  });
}

/** Creates the error of a call of which the history has only the name and the paths. `kept` are its limits in words. */
export function notKeptError(callId: string, tool: string, kept: string): FilewrightError {
  const reason = hasTrait(tool, "runsCommands")
    ? "what a command changes is not recorded"
    : `of one call the history keeps ${kept}, and it was larger`;
  return new FilewrightError("UNSUPPORTED_OPERATION", `The call '${callId}' cannot be undone: ${reason}.`, {
    complete: true,
  });
}

/** Creates the error of a place in the history that later records have pushed out. */
export function beyondHistoryError(): FilewrightError {
  return new FilewrightError("LIMIT_EXCEEDED", "The history no longer reaches back that far.", {
    complete: true,
    hint: "rewind to a later place",
  });
}

/** Creates the error of a second mark with one name. */
export function markExistsError(name: string): FilewrightError {
  return new FilewrightError("ALREADY_EXISTS", `There is a mark '${name}' already.`, {
    complete: true,
    hint: "choose another name",
  });
}

/** Creates the error of a change that is to be reviewed afterwards, where nothing records it. */
export function cannotBeReviewedError(): FilewrightError {
  return new FilewrightError(
    "UNSUPPORTED_OPERATION",
    "The change is to be reviewed after it, and there is no history that records it.",
    { complete: true, hint: "the host can open the workspace with a history" },
  );
}

/** Creates the error of a list that was taken back, because only steps can make the change. */
export function needsStepsError(): FilewrightError {
  const details = { reason: "steps" };
  return new FilewrightError("CONFLICT", "the files cannot be changed in one job", {
    details,
    hint: "change them one by one",
  });
}

/** Returns true for the error of a list that was taken back, after which the change is planned again and made by steps. */
export function needsSteps(error: FilewrightError): boolean {
  return error.details?.["reason"] === "steps";
}
