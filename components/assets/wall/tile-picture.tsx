import { useEffect, useState } from "react";
import { type ThumbnailEdge } from "@/lib/browser/urls";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { AssetPicture } from "../asset-picture";
import { type Motion } from "./motion";

type TilePictureProps = {
  asset: AssetView;
  connectionId?: string;
  edge: ThumbnailEdge;
  fit?: "cover" | "contain";
  motion: Motion;
  /** Part of the first HTML: loaded at once. */
  isEarly: boolean;
  /** Small: the kind of file is an icon alone. */
  isPlain?: boolean;
  className?: string;
};

/** Loaded when its tile has stayed in view; a tile that is scrolled past loads nothing. */
export function TilePicture({ asset, connectionId, edge, fit, motion, isEarly, isPlain, className }: TilePictureProps) {
  const [isAsked, setAsked] = useState(isEarly);
  useEffect(() => (isAsked ? undefined : motion.onRest(() => setAsked(true))), [isAsked, motion]);
  return (
    <AssetPicture
      asset={asset}
      connection={connectionId}
      edge={edge}
      alt=""
      isAsked={isAsked}
      isPlain={isPlain}
      eager
      fit={fit}
      className={className}
    />
  );
}
