/**
 * Vitest runs this file before every test file, also where the files of a process share their modules. A
 * hook in a module that several files import would be registered for the first of them alone.
 */
import { afterEach } from "vitest";
import { cleanUp } from "./cleanups.ts";

afterEach(cleanUp);
