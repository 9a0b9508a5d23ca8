// An adapter that writes down every answer, so that what two engines said can be
// compared word for word. FILEWRIGHT_ADAPTER says which: native, wasm, storage, or chromium.
import { appendFileSync } from "node:fs";
import process from "node:process";

const makers = {
  native: async () => (await import("./adapter.mjs")).create,
  wasm: async () => (await import("./adapter-wasm.mjs")).create,
  storage: async () => (await import("./adapter-storage.mjs")).create,
  chromium: async () => (await import("./adapter-chromium.mjs")).create,
};
const make = await makers[process.env.FILEWRIGHT_ADAPTER]();

/** Replaces everything that depends on the run or the clock. */
const settled = (text, base) =>
  text
    .replaceAll(base, "<base>")
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>")
    .replace(/"(mtime|modified|created|accessed|duration_ms|version)":("[^"]*"|[\d.]+)/g, '"$1":"<run>"');

/** `case` in the configuration is for the record alone. */
export async function create({ config: { case: id, ...config }, ...rest }) {
  const given = { ...rest, config };
  const system = await make(given);
  const base = given.vars.W.slice(0, -"/ws".length);
  return {
    ...system,
    async call(tool, args, options) {
      const result = await system.call(tool, args, options);
      const { ok, text, data, error, content } = result;
      const said = JSON.stringify({ tool, args, ok, text, data, error, content });
      appendFileSync(process.env.FILEWRIGHT_RECORD, `${id} ${settled(said, base)}\n`);
      return result;
    },
  };
}
