// On workerd: the module comes with the script.
import { ready } from "filewright/engine";
import { play } from "./play.mjs";

export default {
  async fetch() {
    await ready();
    return new Response(await play());
  },
};
