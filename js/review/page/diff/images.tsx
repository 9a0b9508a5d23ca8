/** The images of a change, those before it and those after it side by side. */
import type { JSX } from "preact";
import type { ChangeSummary } from "../../protocol.ts";
import { visibleText } from "./escapes.ts";

/** The number of images that are drawn. Further ones are in words only. */
const MAX_IMAGES = 8;

interface ImagesProps {
  readonly changes: readonly ChangeSummary[];
  /** Returns the address of an image of a change; undefined where images cannot be loaded. */
  address(change: number, side: string): string | undefined;
}

/** Draws the images; nothing where there are none. */
export function Images({ changes, address }: ImagesProps): JSX.Element | null {
  const shown = changes.flatMap(({ path, images = [] }, number) =>
    images.flatMap((side) => {
      const source = address(number, side);
      return source === undefined ? [] : [{ source, side, path: visibleText(path) }];
    }),
  );
  if (shown.length === 0) return null;
  return (
    <div class="images" role="group" aria-label="Images">
      {shown.slice(0, MAX_IMAGES).map(({ source, side, path }) => (
        <figure key={path + side}>
          <img src={source} alt={`${path} ${side} the change`} />
          <figcaption title={path}>{side}</figcaption>
        </figure>
      ))}
    </div>
  );
}
