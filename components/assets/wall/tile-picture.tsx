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
  /** Of the first HTML: asked for at once. */
  isEarly: boolean;
  /** Small: the kind of file as an icon alone. */
  isPlain?: boolean;
  className?: string;
};

/** Asked for when its tile has rested in view; a tile that flew past asks for nothing. */
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
