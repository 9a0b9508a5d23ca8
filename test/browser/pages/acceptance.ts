/** The page of the acceptance kit: systems are made and called here, the runner is in Node. */
import * as filewright from "../../../js/index.ts";
import { createWith } from "../../acceptance/create.mjs";
import { loadEngine } from "./engine.ts";

interface System {
  call(tool: string, args: unknown, options: { readonly signal: AbortSignal }): Promise<unknown>;
  tools(): unknown;
  close(): Promise<void>;
  dump(): unknown;
  foreignTool(tool: {
    readonly name: string;
    readonly args: unknown;
    execute(args: unknown): unknown;
  }): unknown;
}

interface CreateRequest {
  readonly number: number;
  readonly vars: unknown;
  readonly config: { readonly hooks: readonly { readonly stage: string; readonly tool: string }[] };
  readonly confirms: boolean;
}

declare function ofRunner(number: number, name: string, args: readonly unknown[]): Promise<unknown>;

const systems = new Map<number, System>();
const signals = new Map<string, AbortController>();
const make = createWith(filewright) as (given: unknown) => Promise<System>;

/** The value or the error, as text: what `undefined` is stays out of it. */
async function said(run: () => unknown): Promise<string> {
  try {
    return JSON.stringify({ value: await run() });
  } catch (error) {
    const { message, code } = error as { readonly message: string; readonly code?: string };
    return JSON.stringify({ thrown: { message, code } });
  }
}

function plain(context: object): unknown {
  return JSON.parse(JSON.stringify(context));
}

const of = (number: number): System => systems.get(number) as System;

Object.assign(globalThis, {
  acceptance: {
    create: ({ number, vars, config, confirms }: CreateRequest) =>
      said(async () => {
        await loadEngine();
        const back =
          (name: string) =>
          (...args: readonly unknown[]) =>
            ofRunner(
              number,
              name,
              args.map((value) => plain(value as object)),
            );
        const hooks = config.hooks.map((hook, index) => ({
          ...hook,
          run: async (context: object) => {
            const reply = (await back("hook")(index, context)) as { raise_exception?: unknown } | undefined;
            if (typeof reply?.raise_exception === "string")
              reply.raise_exception = new Error(reply.raise_exception);
            return reply ?? undefined;
          },
        }));
        const confirm = confirms ? { confirm: back("confirm") } : {};
        const system = await make({ config: { ...config, hooks }, vars, ask: back("ask"), ...confirm });
        systems.set(number, system);
        return system.tools();
      }),
    call: (number: number, call: number, tool: string, args: unknown, aborted: boolean) =>
      said(async () => {
        const controller = new AbortController();
        if (aborted) controller.abort();
        signals.set(`${number} ${call}`, controller);
        try {
          return await of(number).call(tool, args, { signal: controller.signal });
        } finally {
          signals.delete(`${number} ${call}`);
        }
      }),
    abort: (number: number, call: number) => said(() => signals.get(`${number} ${call}`)?.abort()),
    close: (number: number) => said(() => of(number).close()),
    dump: (number: number) => said(() => of(number).dump()),
    foreignTool: (number: number, name: string, args: unknown) =>
      said(() =>
        of(number).foreignTool({ name, args, execute: (given) => ofRunner(number, "execute", [given]) }),
      ),
  },
});
