/** Runs the effects of keys that are pressed. */
import type { Cell } from "../state/cell.ts";
import { effectOfKey } from "./keys.ts";
import type { PageEffects } from "../screens/props.ts";
import type { PageState } from "../state/store.ts";

/** Listens to the keys that are pressed in `target`, the window or the shadow root of an element, until `signal`. */
export function listenToKeys(
  target: EventTarget,
  state: Cell<PageState>,
  effects: PageEffects,
  signal?: AbortSignal,
): void {
  const listener = (given: Event): void => {
    const event = given as KeyboardEvent;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const at = event.target as HTMLElement;
    // A dialog has keys of its own.
    if ((at.getRootNode() as ParentNode).querySelector("dialog") !== null) return;
    // Fields need every key that is typed into them; buttons and check boxes need the space bar.
    if (at.matches("input[type=text], input[type=datetime-local], textarea, select")) return;
    if (event.key === " " && at.matches("button, input, summary, a")) return;
    const done = effectOfKey(state.value, event.key, performance.now());
    if (done === undefined) return;
    event.preventDefault();
    if (done.type === "answer") effects.answer(done.outcome);
    else effects.dispatch(done);
  };
  target.addEventListener("keydown", listener, signal === undefined ? {} : { signal });
}
