/** Writes of the local disk together with the record of the change. */
import { decodeRecordedFile } from "../../engine/generated/records.ts";
import type * as addon from "../../engine/generated/binding.ts";
import type { NativeRoots } from "../../engine/generated/binding.ts";
import { Unpacker } from "../../engine/wire/unpack.ts";
import { checkPath } from "../paths.ts";
import type { RecordedWrite } from "../transaction/recorded-write.ts";
import { cancellable, nativeWriteOptions, writtenFile } from "./local-calls.ts";
import type { LocalOptions } from "./local-options.ts";

/** Returns the recorded writes of a disk. */
export function recordedWritesOf(
  native: Pick<typeof addon, "CancelToken">,
  roots: NativeRoots,
  ofBackend: LocalOptions,
): RecordedWrite {
  return async (path, bytes, options, { place, content, durable, last, ...texts }) => {
    checkPath(path);
    const { ifVersion, flags, mode, durability } = nativeWriteOptions(path, options, ofBackend);
    const lines = `${texts.id}\n${texts.begin}\n${texts.steps}\n${texts.commit}`;
    const record = [place.files, place.number, lines, content, last, durable] as const;
    const packed = await cancellable(native, path, options.signal, (cancel) =>
      roots.writeRecorded(path, bytes, ifVersion, flags, mode, durability, ...record, cancel),
    );
    const { moment, ...made } = decodeRecordedFile(new Unpacker(packed));
    return { written: writtenFile(made), moment };
  };
}
