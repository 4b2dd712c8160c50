"use client";

import Link from "next/link";
import { useLocale } from "next-intl";
import { memo, type MouseEvent } from "react";
import { cn } from "@/components/ui/cn";
import { type AssetView } from "@/lib/contract/asset-view";
import { formatBytes } from "@/lib/shared/format";
import { AssetPicture } from "./asset-picture";
import { assetHref } from "./asset-urls";

type AssetTileProps = {
  asset: AssetView;
  /** Of the service, for the preview. */
  connectionId?: string;
  /** Of the address, where it names one. */
  connection?: string;
  isOpen: boolean;
  isEarly: boolean;
  onOpen: (id: string) => void;
};

/** A link to the asset's page, which a plain press opens beside the grid instead. */
export const AssetTile = memo(function AssetTile({ asset, connectionId, connection, isOpen, isEarly, onOpen }: AssetTileProps) {
  const locale = useLocale();
  function open(event: MouseEvent) {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    onOpen(asset.id);
  }
  return (
    <li className="min-w-0">
      <Link
        href={assetHref(asset.id, connection)}
        prefetch={false}
        onClick={open}
        aria-current={isOpen ? "true" : undefined}
        data-asset={asset.id}
        className={cn("block rounded-sm outline-offset-3", isOpen && "outline-2 outline-accent")}
      >
        <AssetPicture asset={asset} connection={connectionId} edge={512} alt="" eager={isEarly} />
        <span className="flex items-baseline gap-2 px-px py-1">
          <span title={asset.name} className="min-w-0 flex-1 truncate">
            {asset.name}
          </span>
          {asset.sizeBytes === undefined ? null : (
            <span className="text-sm whitespace-nowrap text-ink-3">{formatBytes(asset.sizeBytes, locale)}</span>
          )}
        </span>
      </Link>
    </li>
  );
});
