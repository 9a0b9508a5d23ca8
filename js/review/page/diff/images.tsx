/** The images of a change, those before it and those after it side by side. */
import type { JSX } from "preact";
import type { ChangeSummary } from "../../protocol.ts";
import { visibleText } from "./escapes.ts";
import { SafeText } from "./text.tsx";

/** The number of images that are drawn. */
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
      return source === undefined ? [] : [{ path, side, source }];
    }),
  );
  if (shown.length === 0) return null;
  // Further ones are in words only.
  shown.length = Math.min(shown.length, MAX_IMAGES);
  return (
    <div class="images" role="group" aria-label="Images">
      {shown.map(({ path, side, source }) => (
        <figure key={source + side}>
          <img src={source} alt={`${visibleText(path)} ${side} the change`} />
          <figcaption>
            {side}
            {changes.length > 1 && (
              <>
                : <SafeText text={path} />
              </>
            )}
          </figcaption>
        </figure>
      ))}
    </div>
  );
}
