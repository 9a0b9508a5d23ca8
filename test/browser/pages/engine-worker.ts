/** The script of the engine's workers. */
import "../../../js/engine/worker.ts";
