/** The options of `ws.keep`, and the person for whom a host does something. */
import { list, type OptionalOption, type Options, options, text } from "../../schema/option.ts";

/** The options of `ws.keep`. */
export interface KeepOptions {
  /** The person who keeps the changes, for the history and the audit log. Default: not recorded. */
  readonly by?: string | undefined;
}

/** The maximum number of calls that are kept at once. */
const MAX_KEPT_CALLS = 5000;
/** The maximum length of the name of a person. */
const MAX_NAME_CHARACTERS = 200;

/** The name of a person for whom a host does something. */
export const BY: OptionalOption<string> = text({
  test: (by) =>
    by === "" || by.length > MAX_NAME_CHARACTERS
      ? `must have 1 to ${MAX_NAME_CHARACTERS} characters`
      : undefined,
});

/** The options of `ws.keep`. */
export const KEEP_OPTIONS: Options<KeepOptions> = options("KeepOptions", { by: BY });

/** The ids of the calls that are kept at once. */
export const KEPT_CALLS: OptionalOption<readonly string[]> = list(text(), {
  minItems: 1,
  test: ({ length }) => (length > MAX_KEPT_CALLS ? `has more than ${MAX_KEPT_CALLS} calls` : undefined),
});
