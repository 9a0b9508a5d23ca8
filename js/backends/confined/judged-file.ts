/** A file of a confined backend whose content may be a secret, which is known once the content was read. */
import type { HeldContent, HeldFile } from "../search/held-file.ts";
import { secretContent } from "./outside.ts";
import { holdsSecret } from "./rules.ts";

/** The contents that were judged: true for a secret. A content that stands for itself is never changed in place. */
const judgedContents = new WeakMap<object, boolean>();

/**
 * A file that is refused where its content is a secret. Until the content is judged, no index says anything about it:
 * whether a query reads a secret must not depend on what is in it.
 */
export class JudgedFile implements HeldFile {
  readonly #file: HeldFile;
  readonly #path: string;

  /** `path` is the name in an error. */
  constructor(file: HeldFile, path: string) {
    this.#file = file;
    this.#path = path;
  }

  get content(): object {
    const { content } = this.#file;
    return judgedContents.get(content) === false ? content : this;
  }

  get size(): number {
    return this.#file.size;
  }

  get near(): Uint8Array | undefined {
    return judgedContents.get(this.#file.content) === false ? this.#file.near : undefined;
  }

  /** @throws FilewrightError as `readBytes` of a secret */
  async read(signal: AbortSignal | undefined): Promise<HeldContent> {
    if (judgedContents.get(this.#file.content) === true) throw secretContent(this.#path);
    const found = await this.#file.read(signal);
    const { bytes, content } = found;
    const isSecret = (content && judgedContents.get(content)) ?? holdsSecret(bytes);
    if (content !== undefined) judgedContents.set(content, isSecret);
    if (isSecret) throw secretContent(this.#path);
    return found;
  }
}
