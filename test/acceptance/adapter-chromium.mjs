// The kit in a page of Chromium: the system lives there; questions, hooks and
// what they answer cross to the runner here. FILEWRIGHT_BROWSER is the browser's
// address, FILEWRIGHT_PAGE the page's.
import process from "node:process";
import { chromium } from "playwright-core";

const browser = await chromium.connect(process.env.FILEWRIGHT_BROWSER);
const page = await (await browser.newContext()).newPage();
/** The functions of each system, by number: the page asks for them by name. */
const systems = new Map();
await page.exposeFunction("ofRunner", (number, name, args) => systems.get(number)[name](...args));
await page.goto(process.env.FILEWRIGHT_PAGE);

let count = 0;

export async function create({ config = {}, vars, ask, confirm }) {
  const number = ++count;
  const raised = new Map();
  const hooks = config.hooks ?? [];
  const functions = {
    ask,
    confirm,
    async hook(index, context) {
      const reply = await hooks[index].run(context);
      if (!reply?.raise_exception) return reply;
      raised.set(reply.raise_exception.message, reply.raise_exception);
      return { ...reply, raise_exception: reply.raise_exception.message };
    },
  };
  systems.set(number, functions);
  const given = {
    number,
    vars,
    config: { ...config, hooks: hooks.map(({ stage, tool }) => ({ stage, tool })) },
    confirms: confirm !== undefined,
  };
  const ask_ = async (name, ...args) => {
    const { value, thrown } = JSON.parse(
      await page.evaluate(([name, args]) => globalThis.acceptance[name](...args), [name, args]),
    );
    if (thrown === undefined) return value;
    throw raised.get(thrown.message) ?? Object.assign(new Error(thrown.message), { code: thrown.code });
  };
  const tools = await ask_("create", given);
  let calls = 0;
  return {
    tools: () => tools,
    async call(tool, args, { signal } = {}) {
      const call = ++calls;
      const abort = () => void ask_("abort", number, call);
      if (signal?.aborted) return ask_("call", number, call, tool, args, true);
      signal?.addEventListener("abort", abort, { once: true });
      try {
        return await ask_("call", number, call, tool, args, false);
      } finally {
        signal?.removeEventListener("abort", abort);
      }
    },
    close: () => ask_("close", number),
    dump: () => ask_("dump", number),
    async foreignTool({ name, args, execute }) {
      functions.execute = execute;
      return ask_("foreignTool", number, name, args);
    },
  };
}
