/** Calls whose end a test takes for granted: a call that must succeed, and one that must fail. */
import { expect } from "vitest";
import { FilewrightError, type Workspace } from "../../js/index.node.ts";

/** Calls a tool, which must succeed, and returns the id of the call. */
export async function idOfCall(ws: Workspace, tool: string, args: object): Promise<string> {
  const result = await ws.call(tool, args as Record<string, unknown>);
  expect([tool, result.ok ? "" : result.text]).toEqual([tool, ""]);
  return result.meta.call_id ?? "";
}

/** Returns the error of an operation, which must fail. @throws Error when it succeeds, and every error of another class */
export async function errorOf(operation: Promise<unknown>): Promise<FilewrightError> {
  try {
    await operation;
  } catch (error) {
    if (error instanceof FilewrightError) return error;
    throw error;
  }
  throw new Error("the operation succeeded");
}
