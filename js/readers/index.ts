/**
 * Readers convert files to text and images for models: images, notebooks, documents, archives, and single
 * values of structured files. Detecting the type of a file, reading text, and paging are elsewhere.
 */
export * from "./reader.ts";
export { type OwnReaders, readersFor, registerReader, type ReadFunction, type Readers } from "./registry.ts";
export { type FileSource, sourceFrom, sourceOf } from "./source.ts";
export { formatOf, isLongToParse, locatePointer, type StructuredFormat } from "./structured/locate.ts";
export type { Located } from "./structured/pointer.ts";
