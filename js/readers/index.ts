/**
 * Readers: renderers of file types for models: images, notebooks, documents, archives, and values
 * inside structured data. Text and type detection (both in the engine) and paging are elsewhere.
 */
export * from "./reader.ts";
export { type OwnReaders, readersFor, registerReader, type ReadFunction, type Readers } from "./registry.ts";
export { type FileSource, sourceFrom, sourceOf } from "./source.ts";
export { formatOf, locatePointer, type StructuredFormat } from "./structured/locate.ts";
export type { Located } from "./structured/pointer.ts";
