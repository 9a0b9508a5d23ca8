/** The preview of a change, for a hook or a host that decides about it. It is judged by itself, and nothing is written. */
import type { HookPreview } from "../hooks/hook.ts";
import { Facts } from "../pipeline/facts.ts";
import { historyForCaller } from "../pipeline/past/history.ts";
import { show } from "../tools/change/show.ts";
import type { Arguments } from "../tools/lib/schema.ts";
import type { AnyChangingTool } from "../tools/lib/tool.ts";
import type { MeantCall, SentCall } from "./call.ts";
import { judgeNow } from "./steps.ts";

/** Returns the preview of a change with these arguments. @throws FilewrightError as the call itself would */
export async function previewOfSent(
  sent: SentCall,
  tool: AnyChangingTool,
  raw: Arguments,
): Promise<HookPreview> {
  const { session, options } = sent.request;
  const parsed = await tool.parse(raw, options);
  const args = (await tool.prepare?.(parsed, historyForCaller(session, options.agent))) ?? parsed;
  return previewOfMeant({ ...sent, args, modified: [] }, tool);
}

/** Returns the preview of a change whose arguments are checked. @throws FilewrightError as the call itself would */
export async function previewOfMeant(meant: MeantCall, tool: AnyChangingTool): Promise<HookPreview> {
  const { args } = meant;
  const request = { ...meant.request, facts: new Facts() };
  const { admitted } = await judgeNow({ ...meant, request }, undefined);
  const { call } = admitted;
  const { callId } = call.about;
  const plan = await tool.plan(args, call);
  const path = call.locations[0]?.path ?? "";
  if (plan.kind === "settled") {
    const title = `${tool.title}: nothing changes`;
    return { title, path, diff: "", originalContent: null, newContent: null, risk: "low", callId };
  }
  const { title, location, diff, originalContent, newContent, risk } = await show(plan, call);
  const at = call.locations[location]?.path ?? path;
  return { title, path: at, diff, originalContent, newContent, risk, callId };
}
