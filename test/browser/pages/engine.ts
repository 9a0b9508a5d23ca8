/** The engine of the test pages: the module is next to the script. */
import { ready } from "../../../js/engine/index.ts";

export async function loadEngine(): Promise<void> {
  await ready(new URL("filewright_bg.wasm", location.href));
}
