/** Tells a developer what is wrong with a value that was given in the place of a workspace. */
import { escapeControls } from "../engine/escape.ts";
import { FilewrightError } from "../engine/errors.ts";

/**
 * Refuses a value that is no workspace, such as the promise of one; a closed one is refused by its calls. The check is by shape, because a program may
 * have this package twice. `entry` is the name of the function that was called.
 * @throws FilewrightError INVALID_ARGUMENT that shows the valid call
 */
export function assertWorkspace(entry: string, given: unknown): void {
  const { call, tools } = Object(given) as { readonly call?: unknown; readonly tools?: unknown };
  if (typeof call === "function" && Array.isArray(tools)) return;
  throw new FilewrightError("INVALID_ARGUMENT", `${entry}: ${mistakeOf(given)} ${validCall(entry)}.`, {
    complete: true,
    details: { entry, argument: "workspace" },
  });
}

function validCall(entry: string): string {
  return `Give an open workspace: const ws = await openWorkspace("/repo"); ${entry}(ws)`;
}

function mistakeOf(given: unknown): string {
  if (given === undefined) return "no workspace was given.";
  if (given === null) return "got null in the place of a workspace.";
  if (typeof given === "function") return "got a function in the place of a workspace.";
  if (typeof given !== "object") return `got a ${typeof given} in the place of a workspace.`;
  if (typeof (given as { readonly then?: unknown }).then === "function")
    return "got a promise: openWorkspace must be awaited.";
  const name = (Object.getPrototypeOf(given) as object | null)?.constructor?.name;
  if (name === undefined || name === "Object") return "got an object that is no workspace.";
  return `got an object of class ${escapeControls(name)}, which is no workspace.`;
}
