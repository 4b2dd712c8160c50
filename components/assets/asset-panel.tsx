"use client";

import { X } from "lucide-react";
import Link from "next/link";
import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useRef } from "react";
import { FailureMessage } from "@/components/frame/failure-message";
import { Button, buttonStyle } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Skeleton } from "@/components/ui/skeleton";
import { usePoll } from "@/lib/browser/use-poll";
import { withQuery } from "@/lib/browser/urls";
import { type AssetView, toAssetView } from "@/lib/contract/asset-view";
import { type Asset } from "@/lib/contract/schemas/asset";
import { AssetActions, AssetPreview, AssetSummary, AssetTags } from "./asset-details";
import { AssetFacts } from "./asset-facts";
import { assetHref } from "./asset-urls";

type AssetPanelProps = {
  id: string;
  /** The list's own, where it holds this asset: nothing needs to be asked. */
  listed?: AssetView;
  connectionId?: string;
  connection?: string;
  onClose: () => void;
};

const readAsset = (asset: Asset) => toAssetView(asset);
const still = () => "background" as const;

/** Beside the grid on wide screens, over it on narrow ones. The grid keeps its place. */
export function AssetPanel({ id, listed, connectionId, connection, onClose }: AssetPanelProps) {
  const t = useTranslations("assets.panel");
  const path = listed || !connectionId ? undefined : withQuery(`/api/assets/${encodeURIComponent(id)}`, { connection: connectionId });
  const { value, failure, refresh } = usePoll(path, { read: readAsset, motion: still });
  const asset = listed ?? value;
  const panel = useRef<HTMLElement>(null);
  const close = useEffectEvent(onClose);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented) close();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  useEffect(() => {
    // Over the grid it takes the focus; beside it, the grid keeps it, so that arrows go on to the next picture.
    if (window.matchMedia?.("(max-width: 1023px)").matches) panel.current?.focus({ preventScroll: true });
  }, [id]);
  return (
    <aside
      ref={panel}
      tabIndex={-1}
      aria-label={t("label", { name: asset?.name ?? id })}
      className="fixed inset-0 z-40 overflow-y-auto bg-surface p-4 focus:outline-none lg:sticky lg:inset-auto lg:top-[103px] lg:z-10 lg:h-[calc(100dvh-103px)] lg:w-[320px] lg:shrink-0 lg:border-l lg:border-line"
    >
      <div className="mb-2.5 flex items-center justify-end gap-2">
        <Link href={assetHref(id, connection)} className={buttonStyle({ tone: "quiet", size: "small", className: "mr-auto -ml-2" })}>
          {t("openPage")}
        </Link>
        <Button tone="quiet" size="icon" aria-label={t("close")} title={t("close")} onClick={onClose}>
          <X aria-hidden="true" className="size-4" />
        </Button>
      </div>
      {asset ? (
        <div className="flex flex-col gap-3">
          <AssetPreview asset={asset} connectionId={connectionId} edge={512} />
          <div>
            <h2 className="text-lg font-semibold break-words">{asset.name}</h2>
            <AssetSummary asset={asset} />
          </div>
          <AssetTags asset={asset} connection={connection} />
          <AssetFacts asset={asset} connection={connection} />
          <div className="flex flex-wrap gap-2">
            <AssetActions asset={asset} connectionId={connectionId} />
          </div>
        </div>
      ) : null}
      {!asset && failure?.code === "NOT_FOUND" ? <EmptyState title={t("gone")} text={t("goneText")} /> : null}
      {!asset && failure && failure.code !== "NOT_FOUND" ? <FailureMessage failure={failure} onRetry={() => void refresh()} /> : null}
      {!asset && !failure ? <PanelSkeleton /> : null}
    </aside>
  );
}

function PanelSkeleton() {
  const t = useTranslations("assets");
  return (
    <div role="status" aria-label={t("loading")} className="flex flex-col gap-3">
      <Skeleton className="aspect-[4/3] w-full" />
      <Skeleton className="h-5 w-40" />
      <Skeleton className="h-7 w-24 rounded-full" />
      <Skeleton className="h-36 w-full" />
    </div>
  );
}
