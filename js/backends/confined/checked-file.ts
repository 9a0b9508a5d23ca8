/** A file of a confined backend whose content may be a secret, which is known once the content was read. */
import type { ContentSource, HeldContent, HeldFile } from "../search/held-file.ts";
import { secretContent } from "./outside.ts";
import { holdsSecret } from "./rules.ts";

/** The results of the secret check by content object: true for a secret. The bytes of a content object never change. */
const secretByContent = new WeakMap<object, boolean>();

/**
 * A file whose read fails if its content is a secret. Until the content is known to be no secret, `content` is this
 * object, which the index does not have, so every query reads the file. Otherwise an index entry of a secret would
 * decide whether a query reads it, and so reveal its content.
 */
export class CheckedFile implements HeldFile {
  readonly #file: HeldFile;
  readonly #path: string;

  /** `path` is the name in an error. */
  constructor(file: HeldFile, path: string) {
    this.#file = file;
    this.#path = path;
  }

  get content(): object {
    const { content } = this.#file;
    return secretByContent.get(content) === false ? content : this;
  }

  get size(): number {
    return this.#file.size;
  }

  near(source: ContentSource | undefined): Uint8Array | undefined {
    return secretByContent.get(this.#file.content) === false ? this.#file.near(source) : undefined;
  }

  /** @throws FilewrightError as `readBytes` of a secret */
  async read(source: ContentSource | undefined, signal: AbortSignal | undefined): Promise<HeldContent> {
    if (secretByContent.get(this.#file.content) === true) throw secretContent(this.#path);
    const found = await this.#file.read(source, signal);
    const { bytes, content } = found;
    const isSecret = (content && secretByContent.get(content)) ?? holdsSecret(bytes);
    if (content !== undefined) secretByContent.set(content, isSecret);
    if (isSecret) throw secretContent(this.#path);
    return found;
  }
}
