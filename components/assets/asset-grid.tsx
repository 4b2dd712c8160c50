"use client";

import { useTranslations } from "next-intl";
import { type KeyboardEvent } from "react";
import { type AssetView } from "@/lib/contract/asset-view";
import { AssetTile } from "./asset-tile";
import { nextTile } from "./grid-keys";

type AssetGridProps = {
  assets: readonly AssetView[];
  connectionId?: string;
  connection?: string;
  openId?: string;
  onOpen: (id: string) => void;
};

/** About the first screen of a wide window: fetched at once, the others when they come near. */
const EARLY = 15;

export function AssetGrid({ assets, connectionId, connection, openId, onOpen }: AssetGridProps) {
  const t = useTranslations("assets.grid");
  function move(event: KeyboardEvent<HTMLUListElement>) {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const tiles = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-asset]")];
    const at = tiles.findIndex((tile) => tile.contains(document.activeElement));
    const to = nextTile(
      event.key,
      at,
      tiles.map((tile) => tile.offsetTop),
    );
    if (to === undefined) return;
    event.preventDefault();
    tiles[to]?.focus();
  }
  return (
    <ul
      aria-label={t("label")}
      onKeyDown={move}
      className="grid grid-cols-[repeat(auto-fill,minmax(150px,1fr))] gap-x-2.5 gap-y-2 p-4 md:px-5"
    >
      {assets.map((asset, index) => (
        <AssetTile
          key={asset.id}
          asset={asset}
          connectionId={connectionId}
          connection={connection}
          isOpen={asset.id === openId}
          isEarly={index < EARLY}
          onOpen={onOpen}
        />
      ))}
    </ul>
  );
}
