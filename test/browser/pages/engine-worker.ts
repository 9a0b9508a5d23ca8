/** The script of the engine's workers. */
import "../../../js/engine/workers/worker.ts";
