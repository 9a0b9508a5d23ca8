/** The properties of every screen. */
import type { ReviewAnswer } from "../../protocol.ts";
import type { Notifier } from "../notifications/notify.ts";
import type { PageAction, PageState } from "../state/store.ts";

/** The actions of the page besides changes of its own state. */
export interface PageEffects {
  dispatch(action: PageAction): void;
  /** Sends an answer to the chosen question. `widening` also allows later calls, or has other contents. */
  answer(
    outcome: "allow" | "refuse" | "look_again",
    widening?: Pick<ReviewAnswer, "wider" | "grant" | "edits">,
  ): void;
  /**
   * Reads data of the server, such as `history?path=%2Frepo`. Default workspace: the chosen one.
   * @throws Error to be shown
   */
  load<T>(path: string, workspace?: string): Promise<T>;
  /** Returns the address of a script of the server; undefined where there is no server. */
  script(path: string): string | undefined;
  /** Reads a file of the server; undefined where there is no server. */
  readonly file: ((path: string) => Promise<File>) | undefined;
  /** Sends data to the server, about the chosen workspace. @throws Error to be shown */
  send<T>(path: string, body: object): Promise<T>;
  /** Hears the keys of the page: the shadow root of an element; the window otherwise. */
  readonly keyTarget?: EventTarget | undefined;
  /** Notifications of the browser; absent where there are none, as inside another page. */
  readonly notifier?: Notifier | undefined;
}

/** The properties of every screen. */
export interface ScreenProps {
  readonly state: PageState;
  readonly effects: PageEffects;
}
