/** The same suite in a dedicated worker, where files can be opened synchronously. */
import { loadEngine } from "./engine.ts";
import { runContract } from "./subjects.ts";

addEventListener("message", async ({ data }: MessageEvent<string>) => {
  await loadEngine();
  postMessage(await runContract(data));
});
