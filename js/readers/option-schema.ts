/** The option tables of readers. `js/schema/option.ts` describes how to add an option. */
import { callback, flag, instance, list, type Options, options, required, text } from "../schema/option.ts";
import type { Reader } from "./reader.ts";

/** A reader: any object with its kinds and a `read` function. */
export const READER: Options<Reader> = instance<Reader>("Reader", "a reader", {
  mimes: required(list(text(), { minItems: 1 })),
  reusable: flag(),
  read: required(callback()),
});

/** The readers that a host supplies. */
export interface OwnReaders {
  /** They come before all others. Default none. */
  readonly readers?: readonly Reader[] | undefined;
}

/** The options of {@link readersFor}. */
export const READERS_OPTIONS: Options<OwnReaders> = options("OwnReaders", { readers: list(READER) });
