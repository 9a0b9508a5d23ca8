/**
 * Readers: kinds of files that a read renders for a model: images, notebooks,
 * documents, archives, and values inside structured data. Not here: text itself,
 * telling kinds apart (both are the engine's), and paging.
 */
export * from "./reader.ts";
export type { OwnReaders } from "./option-schema.ts";
export { readersFor, registerReader, type ReadFunction, type Readers } from "./registry.ts";
export { type FileSource, sourceFrom, sourceOf } from "./source.ts";
export { formatOf, locatePointer, type StructuredFormat } from "./structured/locate.ts";
export type { Located } from "./structured/pointer.ts";
