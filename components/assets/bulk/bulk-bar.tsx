import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { BottomBar, SelectionBar, SelectionButton, selectionItemStyle } from "@/components/data-table/bulk/bottom-bar";
import { useFeature } from "@/components/frame/connection/connection-context";
import { formatFailure } from "@/components/frame/failure/failure-message";
import { useCanShare } from "@/components/frame/member-context";
import { useCopy } from "@/components/ui/controls/copy-button";
import { ConfirmDialog } from "@/components/ui/dialog";
import { Link } from "@/components/ui/link";
import { showToast } from "@/components/ui/toast-store";
import { MAX_COMPARED } from "@/components/viewer/use-viewing";
import { callApi } from "@/lib/browser/api";
import { saveUrl } from "@/lib/browser/files/save-file";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type ArchiveResponse } from "@/lib/contract/console";
import { type AssetRights, getAssetFileUrl, getAssetLink, getRunHref, MAX_RUN_ASSETS, useFileDownload, useServesFiles } from "../asset-api";
import { AssetThumbnail } from "../asset-thumbnail";
import { getAssetsApiPath } from "../assets-urls";
import { TagsDialog } from "../tags-dialog";
import {
  type AssetAction,
  AssetLines,
  type Entry,
  MAX_PER_ACTION,
  type PendingAssetAction,
  type SelectedAssets,
  useAssetBulk,
  useAssetSummary,
} from "./use-asset-bulk";

const ShareDialog = dynamic(() => import("@/components/frame/share/share-dialog").then((module) => module.ShareDialog), { ssr: false });

/** Maximum files per share. */
const MAX_SHARED_FILES = 100;

type BulkBarProps = {
  selected: SelectedAssets;
  connectionId?: string;
  connection?: string;
  rights: AssetRights;
  onDone: (action: AssetAction, entries: readonly Entry[]) => void;
  onCompare: (ids: readonly string[]) => void;
  onClear: () => void;
  /** Called when a deletion is undone, with the assets to select again. */
  onRestored: (ids: readonly string[]) => void;
  /** Whether the assets to select are still loading. */
  isLoading: boolean;
  total: number | undefined;
  /** Selects all matching assets. Absent if all are selected. */
  onSelectAll?: () => void;
};

/** Shows the actions for the selection, then the running action and its result. Stays mounted to show the result. */
export function BulkBar({
  selected,
  connectionId,
  connection,
  rights,
  onDone,
  onCompare,
  onClear,
  onRestored,
  isLoading,
  total = 0,
  onSelectAll,
}: BulkBarProps) {
  const t = useTranslations("assets.bulk");
  const copy = useCopy();
  const summarizeEntries = useAssetSummary();
  const bulk = useAssetBulk({
    connection: connectionId,
    onDone,
    onUnfinished: (entries) => showToast({ ...summarizeEntries(entries), tone: "off" }),
    onStarted: onClear,
    onRestored: (assets) => {
      showToast({ tone: "off", text: t("back", { count: assets.length }) });
      onRestored(assets.map(({ id }) => id));
    },
  });
  const [pendingDialog, setPendingDialog] = useState<"addTags" | "removeTags">();
  const canShare = useCanShare();
  const [sharedIds, setSharedIds] = useState<readonly string[]>();
  const download = useFileDownload();
  const archive = useArchive(connectionId);
  const selectedAssets = selected.kind === "named" ? selected.assets : undefined;
  const count = selectedAssets ? selectedAssets.length : selected.kind === "matching" ? selected.total : 0;
  const selectedTags = [...new Set(selectedAssets?.flatMap(({ tags }) => tags))];
  const comparableAssets = selectedAssets?.every(({ kind }) => kind === "image") ? selectedAssets : [];
  const hasFiles = useServesFiles(connectionId, selectedAssets?.[0] && getAssetFileUrl(selectedAssets[0], connectionId));
  const singleAsset = selectedAssets?.length === 1 ? selectedAssets[0] : undefined;
  function copySelected(kind: "ids" | "links") {
    if (selected.kind === "matching") return void bulk.collect(selected.query);
    const texts = selected.assets.map(({ id }) => (kind === "ids" ? id : getAssetLink(id, connection ?? connectionId)));
    void copy(texts.join("\n"), t(kind === "ids" ? "copiedIds" : "copiedLinks", { count: texts.length }));
  }
  return (
    <>
      <BottomBar>
        <AssetLines bulk={bulk} connection={connection ?? connectionId} rights={rights} />
        <SelectionBar count={count} onClear={onClear}>
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            {isLoading ? <span role="status">{t("reading")}</span> : null}
            {onSelectAll ? <SelectionButton onClick={onSelectAll}>{t("all", { total })}</SelectionButton> : null}
            {/* Actions are disabled while the selection is still loading. */}
            <span inert={isLoading} className={`contents ${isLoading ? "[&>*]:opacity-50" : ""}`}>
              {rights.canTag ? <SelectionButton onClick={() => setPendingDialog("addTags")}>{t("addTags")}</SelectionButton> : null}
              {rights.can("tags.remove") ? (
                <SelectionButton onClick={() => setPendingDialog("removeTags")}>{t("removeTags")}</SelectionButton>
              ) : null}
              {singleAsset && hasFiles ? (
                <SelectionButton onClick={() => void download(getAssetFileUrl(singleAsset, connectionId), singleAsset.name)}>
                  {t("download")}
                </SelectionButton>
              ) : null}
              {singleAsset || !hasFiles ? null : (
                <SelectionButton onClick={() => void archive.download(selected)}>{t("downloadZip")}</SelectionButton>
              )}
              {comparableAssets.length >= 2 && comparableAssets.length <= MAX_COMPARED ? (
                <SelectionButton onClick={() => onCompare(comparableAssets.map(({ id }) => id))}>{t("compare")}</SelectionButton>
              ) : null}
              {canShare && rights.canTag && hasFiles && selectedAssets && selectedAssets.length <= MAX_SHARED_FILES ? (
                <SelectionButton onClick={() => setSharedIds(selectedAssets.map(({ id }) => id))}>{t("share")}</SelectionButton>
              ) : null}
              <SelectionButton onClick={() => copySelected("ids")}>{t("copyIds")}</SelectionButton>
              {selectedAssets ? <SelectionButton onClick={() => copySelected("links")}>{t("copyLinks")}</SelectionButton> : null}
              {rights.canTag && selectedAssets && selectedAssets.length <= MAX_RUN_ASSETS ? (
                <Link
                  href={getRunHref(
                    selectedAssets.map(({ id }) => id),
                    connection,
                  )}
                  prefetch={false}
                  className={selectionItemStyle}
                >
                  {t("useInRun")}
                </Link>
              ) : null}
              {rights.can("assets.delete") ? (
                <SelectionButton onClick={() => bulk.start({ kind: "delete" }, selected)}>{t("delete")}</SelectionButton>
              ) : null}
            </span>
          </span>
        </SelectionBar>
      </BottomBar>
      {pendingDialog ? (
        <TagsDialog
          title={t(pendingDialog)}
          label={t("tagsLabel")}
          connectionId={connectionId}
          loadedTags={selectedTags}
          isExistingOnly={pendingDialog === "removeTags" && selectedAssets !== undefined}
          onTags={(tags) => bulk.start({ kind: pendingDialog, tags }, selected)}
          onClose={() => setPendingDialog(undefined)}
        />
      ) : null}
      {sharedIds ? (
        <ShareDialog subject={{ assets: sharedIds }} connectionId={connectionId} onClose={() => setSharedIds(undefined)} />
      ) : null}
      <BulkConfirm
        pendingAction={bulk.pendingAction}
        connectionId={connectionId}
        onClose={bulk.cancelConfirmation}
        onConfirm={bulk.confirm}
      />
    </>
  );
}

/** Downloads files as one archive: the console stores the selection, and a plain link streams the archive. */
function useArchive(connectionId: string | undefined) {
  const t = useTranslations("assets.bulk");
  const errors = useTranslations("errors");
  const [isPreparing, setPreparing] = useState(false);
  async function download(selected: SelectedAssets): Promise<void> {
    if (isPreparing) return;
    setPreparing(true);
    const json =
      selected.kind === "named"
        ? { ids: selected.assets.map(({ id }) => id) }
        : { query: getAssetsApiPath({ ...selected.query, offset: 0 }, undefined).split("?")[1] ?? "" };
    const path = withQuery("/api/console/archive", { connection: connectionId });
    const result = await callApi<ArchiveResponse>(path, { method: "POST", json });
    setPreparing(false);
    if (!result.ok) return showToast({ tone: "bad", text: formatFailure(errors, result.failure) });
    const { id, count, isCut } = result.value;
    saveUrl(apiPath(`/api/console/archive/${encodeURIComponent(id)}`), "");
    if (isCut) showToast({ tone: "wait", text: t("archiveCut", { count: count ?? 0 }) });
  }
  return { download, isPreparing };
}

type BulkConfirmProps = {
  pendingAction: PendingAssetAction | undefined;
  connectionId: string | undefined;
  onClose: () => void;
  onConfirm: () => void;
};

const MAX_THUMBNAILS = 12;

/** Confirms the action with a count and thumbnails, and warns if the selection exceeds the limit. */
function BulkConfirm({ pendingAction, connectionId, onClose, onConfirm }: BulkConfirmProps) {
  const t = useTranslations("assets.bulk.ask");
  const removesFiles = useFeature("fileRemoval");
  if (!pendingAction) return null;
  const { action, selected } = pendingAction;
  const total = selected.kind === "named" ? selected.assets.length : selected.total;
  const loadedAssets = selected.kind === "named" ? selected.assets : selected.loadedAssets;
  const deletableAssets = loadedAssets.filter(({ immutable }) => !immutable);
  const immutableCount = loadedAssets.length === total ? total - deletableAssets.length : 0;
  const count = Math.min(total - immutableCount, MAX_PER_ACTION);
  const title = t(`${action.kind}.title`, { count, tags: action.kind === "delete" ? "" : action.tags.join(", ") });
  return (
    <ConfirmDialog isOpen title={title} tone={action.kind === "delete" ? "danger" : "primary"} onConfirm={onConfirm} onClose={onClose}>
      <p>{t(`${action.kind}.text`)}</p>
      {action.kind === "delete" ? (
        <ul aria-label={t("pictures")} className="mt-3 grid grid-cols-4 gap-1.5 sm:grid-cols-6">
          {deletableAssets.slice(0, MAX_THUMBNAILS).map((asset) => (
            <li key={asset.id} title={asset.name}>
              <AssetThumbnail asset={asset} connection={connectionId} edge={128} alt={asset.name} isPlain eager />
            </li>
          ))}
        </ul>
      ) : null}
      {action.kind === "delete" && count > MAX_THUMBNAILS ? (
        <p className="mt-1.5 text-sm text-ink-3">{t("more", { count: count - Math.min(deletableAssets.length, MAX_THUMBNAILS) })}</p>
      ) : null}
      {action.kind === "delete" && !removesFiles ? <p className="mt-2">{t("onDisk")}</p> : null}
      {immutableCount > 0 ? <p className="mt-2">{t("fixed", { count: immutableCount })}</p> : null}
      {total > MAX_PER_ACTION ? <p className="mt-2">{t("bound", { max: MAX_PER_ACTION, act: action.kind })}</p> : null}
    </ConfirmDialog>
  );
}
