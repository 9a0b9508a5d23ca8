/** A page with everything on it, for tests that say in place what they do. */
import * as filewright from "../../../js/index.ts";
import { loadEngine } from "./engine.ts";

/** Returns the value of a call, or the code, the details and the hint of its failure. */
export async function outcome(run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof filewright.FilewrightError)) return String(error);
    const { code, details, hint } = error;
    return { code, ...(details === undefined ? {} : { details }), ...(hint === undefined ? {} : { hint }) };
  }
}

/** The names in a directory of the private files, as the browser has them. */
export async function raw(directory: string): Promise<string[]> {
  const handle = await (await navigator.storage.getDirectory()).getDirectoryHandle(directory);
  const names: string[] = [];
  for await (const name of handle.keys()) names.push(name);
  return names.sort();
}

const lab = { ...filewright, loadEngine, outcome, raw };
/** The functions of the page that tests call. */
export type Lab = typeof lab;
Object.assign(globalThis, { lab });
