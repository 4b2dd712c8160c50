import { type ReactNode } from "react";
import { cn } from "../cn";
import { inTurn, watchLost } from "./picture-turns";

type PlainPictureProps = {
  src?: string;
  width: number;
  height: number;
  /** The file's kind. Its icon replaces a missing picture of a video or audio file. */
  kind?: string;
  className?: string;
};

/**
 * For long lists: the same box, without state. A picture that fails to load is marked, and the stylesheet draws the placeholder. Not lazy,
 * as such a list renders only what is near.
 */
export function plainPicture({ src, width, height, kind, className }: PlainPictureProps): ReactNode {
  if (!src) return <span aria-hidden="true" className={cn("picture", className)} />;
  return (
    <img
      key={src}
      ref={watch}
      src={src}
      alt=""
      width={width}
      height={height}
      decoding="async"
      data-kind={kind}
      // Otherwise React preloads the first pictures before styles and scripts, which delays the list.
      fetchPriority="low"
      className={cn("picture", className)}
    />
  );
}

/** The same as `attach` of a Picture. */
function watch(image: HTMLImageElement): () => void {
  let giveUp: (() => void) | undefined;
  const lose = () => {
    image.dataset.lost = "";
    giveUp?.();
    giveUp = watchLost(image.currentSrc || image.src, comeBack);
  };
  const comeBack = () => {
    delete image.dataset.lost;
    const src = image.getAttribute("src") ?? "";
    leave();
    image.removeAttribute("src");
    image.setAttribute("src", src);
    leave = inTurn(image);
  };
  if (image.complete && image.naturalWidth === 0 && image.currentSrc) lose();
  let leave = inTurn(image);
  image.addEventListener("error", lose);
  return () => {
    image.removeEventListener("error", lose);
    giveUp?.();
    leave();
  };
}
