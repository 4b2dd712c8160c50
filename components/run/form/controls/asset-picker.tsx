import { useTranslations } from "next-intl";
import { useEffect, useState } from "react";
import { AssetChoices, ChoicesSkeleton } from "@/components/frame/asset-choices";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { TagsInput } from "@/components/frame/tags/tags-input";
import { Button } from "@/components/ui/controls/button";
import { CheckField, SearchField } from "@/components/ui/controls/fields";
import { Dialog } from "@/components/ui/dialog";
import { useClickedRange } from "@/components/ui/hooks/page-events";
import { createThumbnailUrl } from "@/lib/browser/urls";
import { useRead } from "@/lib/browser/use-read";
import { MASK_LAYER_TAG } from "@/lib/contract/assets/file-refs";
import { toAssetView } from "@/lib/contract/views/asset-view";
import { parseTags } from "@/lib/shared/text";
import { type AssetQuery, type PickedPicture, type PictureContext, toAssetValue } from "./picture-api";

export type PickedAsset = PickedPicture & { assetId: string };

type AssetPickerProps = {
  isOpen: boolean;
  picture: PictureContext;
  isMultiple?: boolean;
  onClose: () => void;
  onPicked: (pictures: PickedAsset[]) => void;
};

/** Lists the connection's pictures page by page, newest first, with filters for name and tags. */
export function AssetPicker({ isOpen, onClose, isMultiple = false, ...rest }: AssetPickerProps) {
  const t = useTranslations("run.picker");
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={t(isMultiple ? "titleMany" : "title")} className="w-[min(880px,calc(100vw-24px))]">
      <PickerBody {...rest} isMultiple={isMultiple} onClose={onClose} />
    </Dialog>
  );
}

const PAGE_SIZE = 24;
const DEBOUNCE_MS = 250;

function PickerBody({ picture, isMultiple = false, onClose, onPicked }: Omit<AssetPickerProps, "isOpen">) {
  const t = useTranslations("run.picker");
  const [name, setName] = useState("");
  const [tags, setTags] = useState("");
  const [shouldShowMaskLayers, setShowMaskLayers] = useState(false);
  const [offset, setOffset] = useState(0);
  const [selection, setSelection] = useState<ReadonlyMap<string, PickedAsset>>(new Map());
  const debouncedTags = useDebounced(tags, DEBOUNCE_MS);
  const include_tags = parseTags(debouncedTags);
  const exclude_tags = shouldShowMaskLayers || include_tags.includes(MASK_LAYER_TAG) ? [] : [MASK_LAYER_TAG];
  const query = { name_contains: name, include_tags, exclude_tags, offset, limit: PAGE_SIZE };
  const { data, error, isLoading, mutate, assets } = useAssetPage(picture, query);
  const pictures = assets.filter(({ kind }) => kind === "image");
  const hasMore = data?.has_more ?? (data?.total !== undefined ? offset + PAGE_SIZE < data.total : assets.length === PAGE_SIZE);
  const loadedTags = [...new Set(assets.flatMap((asset) => asset.tags))].slice(0, 50);
  const getRange = useClickedRange(pictures.map(({ id }) => id));
  const findPickedAssets = (assetId: string): PickedAsset[] => {
    const asset = pictures.find(({ id }) => id === assetId);
    return asset ? [{ value: toAssetValue(asset), name: asset.name, assetId: asset.id }] : [];
  };
  function toggleAsset(assetId: string, isRange: boolean) {
    if (!isMultiple) return onPicked(findPickedAssets(assetId));
    const nextSelection = new Map(selection);
    const range = getRange(assetId, isRange);
    if (range.length > 1 || !nextSelection.delete(assetId))
      for (const id of range) for (const pickedAsset of findPickedAssets(id)) nextSelection.set(id, pickedAsset);
    setSelection(nextSelection);
  }
  function search(change: () => void) {
    change();
    setOffset(0);
  }
  return (
    <div className="flex flex-col gap-3 text-ink">
      <div className="flex flex-wrap gap-2">
        <SearchField
          autoFocus
          aria-label={t("name")}
          placeholder={t("name")}
          text={name}
          maxLength={500}
          className="min-w-0 flex-1 basis-48"
          onSearch={(text) => search(() => setName(text))}
        />
        <span className="flex min-w-0 flex-1 basis-40" onKeyDown={preventEnterSubmit}>
          <TagsInput
            connection={picture.connection}
            aria-label={t("tags")}
            placeholder={t("tags")}
            value={tags}
            loadedTags={loadedTags}
            onTextChange={(text) => search(() => setTags(text))}
          />
        </span>
        <CheckField
          label={t("layers")}
          checked={shouldShowMaskLayers}
          onChange={({ target }) => search(() => setShowMaskLayers(target.checked))}
        />
      </div>
      {error ? <FailureMessage failure={error} onRetry={() => void mutate()} /> : null}
      {isLoading && !data ? <ChoicesSkeleton label={t("loading")} count={12} /> : null}
      {data && pictures.length === 0 && !error ? (
        <p className="py-8 text-center text-ink-2">
          {t(assets.length > 0 ? "noneHere" : name === "" && tags.trim() === "" ? "none" : "noneFound")}
        </p>
      ) : null}
      <AssetChoices
        label={t("list")}
        assets={pictures}
        getSrc={(asset) => createThumbnailUrl({ asset, edge: 256, connection: picture.connection })}
        selected={isMultiple ? selection : undefined}
        onClick={toggleAsset}
      />
      <div className="flex flex-wrap items-center gap-2">
        <Button disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - PAGE_SIZE))}>
          {t("newer")}
        </Button>
        <Button disabled={!hasMore} onClick={() => setOffset(offset + PAGE_SIZE)}>
          {t("older")}
        </Button>
        {data && assets.length > 0 ? (
          <span className="text-sm text-ink-3 tabular-nums">
            {data.total === undefined
              ? t("place", { from: offset + 1, to: offset + assets.length })
              : t("placeOf", { from: offset + 1, to: offset + assets.length, total: data.total })}
          </span>
        ) : null}
        <span className="ml-auto flex gap-2">
          <Button onClick={onClose}>{t("cancel")}</Button>
          {isMultiple ? (
            <Button tone="primary" disabled={selection.size === 0} onClick={() => onPicked([...selection.values()])}>
              {t("use", { count: selection.size })}
            </Button>
          ) : null}
        </span>
      </div>
    </div>
  );
}

/** Loads one page of the connection's assets. The previous page stays until the next one has loaded. */
function useAssetPage({ connection, listAssets }: PictureContext, query: AssetQuery) {
  const page = useRead(["run.assets", connection, query], () => listAssets(query), { keepPreviousData: true });
  return { ...page, assets: (page.data?.assets ?? []).map(toAssetView) };
}

/** The dialog may be inside a form, which Enter would submit. */
function preventEnterSubmit(event: { key: string; preventDefault: () => void }): void {
  if (event.key === "Enter") event.preventDefault();
}

/** Returns the value once it has been unchanged for `ms`. */
function useDebounced<T>(value: T, ms: number): T {
  const [debouncedValue, setDebouncedValue] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebouncedValue(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return debouncedValue;
}
