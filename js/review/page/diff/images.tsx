/** The images of a change, those before it and those after it side by side. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ChangeSummary } from "../../protocol.ts";
import { visibleText } from "./escapes.ts";

/** The number of images that are drawn. Further ones are in words only. */
const MAX_IMAGES = 8;

interface ImagesProps {
  /** The id of the question. */
  readonly question: string;
  readonly changes: readonly ChangeSummary[];
  /** Reads a file of the server; undefined where images cannot be loaded. */
  readonly file: ((path: string) => Promise<File>) | undefined;
}

/** Draws the images; nothing where there are none. */
export function Images({ question, changes, file }: ImagesProps): JSX.Element | null {
  const shown = changes.flatMap(({ path, images = [] }, number) =>
    images.map((side) => ({ number, side, path: visibleText(path) })),
  );
  if (shown.length === 0 || file === undefined) return null;
  return (
    <div class="images" role="group" aria-label="Images">
      {shown.slice(0, MAX_IMAGES).map(({ number, side, path }) => (
        <figure key={path + side}>
          <LoadedImage
            file={file}
            path={`approvals/${encodeURIComponent(question)}/changes/${number}/image/${side}`}
            label={`${path} ${side} the change`}
          />
          <figcaption title={path}>{side}</figcaption>
        </figure>
      ))}
    </div>
  );
}

/** Draws an image of the server, which the browser cannot load by itself: the request needs the key of the login. */
function LoadedImage({
  file,
  path,
  label,
}: {
  readonly file: (path: string) => Promise<File>;
  readonly path: string;
  readonly label: string;
}): JSX.Element {
  const [source, setSource] = useState<string>();
  useEffect(() => {
    let address: string | undefined;
    let isWanted = true;
    file(path).then(
      (blob) => {
        if (!isWanted) return;
        address = URL.createObjectURL(blob);
        setSource(address);
      },
      () => {}, // The text in place of the image stays.
    );
    return () => {
      isWanted = false;
      if (address !== undefined) URL.revokeObjectURL(address);
    };
  }, [file, path]);
  return <img src={source} alt={label} />;
}
