/** The parts that requests about a workspace have in common. */
import { FilewrightError } from "../../engine/errors.ts";
import type { RowsRange } from "../past/past-changes.ts";
import type { ReviewedWorkspace } from "../past/reviewed.ts";
import { asksForSecrets } from "../secrets/hidden-rows.ts";
import { reviewedOf, type RouteRequest } from "./route.ts";

/** Returns the workspace that a request is about. @throws FilewrightError NOT_FOUND when it is not attached */
export function attached(request: RouteRequest): ReviewedWorkspace {
  const reviewed = reviewedOf(request);
  if (reviewed !== undefined) return reviewed;
  throw new FilewrightError("NOT_FOUND", "No such workspace is attached to this page.", { complete: true });
}

/** Returns the part of the rows that a request asks for with `change`, `from` and `last`; undefined for no numbers. */
export function rowsRangeOf({ url }: RouteRequest): RowsRange | undefined {
  const number = (name: string): number => Number(url.searchParams.get(name) ?? 0);
  const last = url.searchParams.has("last") ? number("last") : undefined;
  const range = { change: number("change"), from: number("from"), last, isShown: asksForSecrets(url) };
  const isValid = [range.change, range.from, last ?? 0].every((one) => Number.isSafeInteger(one) && one >= 0);
  return isValid ? range : undefined;
}
