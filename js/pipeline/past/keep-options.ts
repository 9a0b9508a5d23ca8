/**
 * The arguments of `ws.keep`, by which a person says that calls are reviewed and stay, and the option `by` that `ws.undo` and
 * `ws.rewind` have as well.
 */
import { list, type OptionalOption, type Options, options, text } from "../../schema/option.ts";

/** The options of `ws.keep`. */
export interface KeepOptions {
  /** The person who keeps the changes, for the history and the audit log. Default: not recorded. */
  readonly by?: string | undefined;
}

/** The maximum number of calls in one `ws.keep`. */
const MAX_KEPT_CALLS = 5000;
/** The maximum length of the name of a person. */
const MAX_NAME_CHARACTERS = 200;

/** The option `by`: the name of the person who asked the host for the work. */
export const BY: OptionalOption<string> = text({
  test: (by) =>
    by === "" || by.length > MAX_NAME_CHARACTERS
      ? `must have 1 to ${MAX_NAME_CHARACTERS} characters`
      : undefined,
});

/** The options of `ws.keep`. */
export const KEEP_OPTIONS: Options<KeepOptions> = options("KeepOptions", { by: BY });

/** The first argument of `ws.keep` where it is a list: the ids of calls. */
export const KEPT_CALLS: OptionalOption<readonly string[]> = list(text(), {
  minItems: 1,
  test: ({ length }) => (length > MAX_KEPT_CALLS ? `has more than ${MAX_KEPT_CALLS} calls` : undefined),
});
