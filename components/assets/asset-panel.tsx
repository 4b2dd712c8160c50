import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { IconButton } from "@/components/ui/controls/button";
import { EmptyState } from "@/components/ui/empty-state";
import { useEscape } from "@/components/ui/hooks/page-events";
import { ButtonLink } from "@/components/ui/link";
import { LoadingBlocks } from "@/components/ui/skeleton";
import { FileName } from "@/components/ui/truncated";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { getAssetHref, useAsset, useAssetRights } from "./asset-api";
import { AssetFacts } from "./detail/asset-facts";
import { AssetActions, AssetPreview, AssetSummary } from "./detail/asset-preview";
import { AssetTags, useAssetEdits } from "./detail/asset-tags";
import { JobSiblings } from "./detail/job-siblings";

type AssetPanelProps = {
  id: string;
  /** The asset from the list, shown until its own response arrives. */
  listedAsset?: AssetView;
  connectionId?: string;
  connection?: string;
  canChange: boolean;
  onClose: () => void;
  /** Also updates the asset in the list. */
  onPatch: (id: string, change: (asset: AssetView) => AssetView) => void;
  onDeleted: (id: string) => void;
};

/** An asset's details next to the gallery. The gallery keeps the focus, so arrow keys move to the next asset and the panel follows. */
export function AssetPanel({ id, listedAsset, connectionId, connection, canChange, onClose, onPatch, onDeleted }: AssetPanelProps) {
  const t = useTranslations("assets.panel");
  const assetTexts = useTranslations("assets");
  const { asset, failure, refresh, patch } = useAsset({ id, connectionId, listedAsset });
  const rights = useAssetRights(connectionId, canChange);
  const edits = useAssetEdits({
    asset,
    connectionId,
    onPatch: (change) => {
      patch(change);
      onPatch(id, change);
    },
    onDone: () => void refresh(),
    onDeleted,
  });
  useEscape("panel", onClose);
  return (
    <aside
      aria-label={t("label", { name: asset?.name ?? id })}
      className="sticky top-[calc(52px+var(--tool-bar))] z-10 h-[calc(100*var(--dvh)-52px-var(--tool-bar))] w-[320px] shrink-0 overflow-y-auto border-l border-line bg-surface p-4"
    >
      <div className="mb-2.5 flex items-center justify-end gap-2">
        <ButtonLink href={getAssetHref(id, connection)} tone="quiet" size="small" className="mr-auto -ml-2">
          {t("openPage")}
        </ButtonLink>
        <IconButton icon={X} label={t("close")} tone="quiet" title={`${t("close")} (Esc)`} onClick={onClose} />
      </div>
      {failure && failure.code !== "NOT_FOUND" ? (
        <FailureMessage failure={failure} onRetry={() => void refresh()} className="mb-3" />
      ) : null}
      {failure?.code === "NOT_FOUND" ? <EmptyState title={t("gone")} text={t("goneText")} /> : null}
      {asset && failure?.code !== "NOT_FOUND" ? (
        <div key={id} className="flex flex-col gap-3 pb-12">
          <AssetPreview asset={asset} connectionId={connectionId} isLarge={false} />
          <div>
            <h2 className="text-lg font-semibold break-words">
              <FileName name={asset.name} />
            </h2>
            <AssetSummary asset={asset} connectionId={connectionId} />
          </div>
          <AssetTags asset={asset} connectionId={connectionId} connection={connection} rights={rights} edits={edits} />
          <AssetActions asset={asset} connectionId={connectionId} connection={connection} rights={rights} edits={edits} />
          {asset.jobId ? (
            <section aria-label={t("siblings")} className="flex flex-col gap-1.5">
              <h3 className="text-ink-3">{t("siblings")}</h3>
              <JobSiblings jobId={asset.jobId} asset={asset} connectionId={connectionId} connection={connection} />
            </section>
          ) : null}
          <AssetFacts asset={asset} connectionId={connectionId} connection={connection} />
        </div>
      ) : null}
      {!asset && !failure ? (
        <LoadingBlocks label={assetTexts("loading")} blocks={["aspect-[4/3] w-full", "h-5 w-40", "h-7 w-24 rounded-full", "h-36 w-full"]} />
      ) : null}
    </aside>
  );
}
