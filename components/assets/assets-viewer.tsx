import { useTranslations } from "next-intl";
import { useEffect } from "react";
import { failureText } from "@/components/frame/failure/failure-text";
import { showToast } from "@/components/ui/toast-store";
import { type useViewing } from "@/components/viewer/use-viewing";
import { Viewer } from "@/components/viewer/viewer";
import { assetFileUrl } from "./asset-urls";
import { useAsset } from "./detail/use-asset";
import { useHandsOutFiles } from "./use-file-download";
import { toViewerItem } from "./viewer-item-of";
import { type AssetsSource } from "./wall/assets-source";

type Where = { connectionId?: string; connection?: string };
type AssetsViewerProps = Where & {
  source: AssetsSource;
  viewing: ReturnType<typeof useViewing>;
  onCompare: (ids: readonly string[]) => void;
  isCovered: boolean;
};

/** The next assets are loaded this far ahead. */
const AHEAD = 12;

/** Shows the whole filtered list, one asset at a time; an asset that a link names but the list lacks is shown alone. */
export function AssetsViewer({ source, viewing, onCompare, isCovered, ...where }: AssetsViewerProps) {
  const errors = useTranslations("errors");
  const { want, count } = source;
  const { at, id, close } = viewing;
  const isAlone = at === undefined;
  const alone = useAsset({ id: id ?? "", connectionId: isAlone && id !== undefined ? where.connectionId : undefined });
  const assetAt = (index: number) => (isAlone ? alone.asset : source.at(index));
  const shown = assetAt(at ?? 0);
  const canDownload = useHandsOutFiles(where.connectionId, shown && assetFileUrl(shown, where.connectionId));
  useEffect(() => {
    if (at !== undefined) want(Math.max(0, at - AHEAD), Math.min(count, at + AHEAD), "full view");
  }, [want, at, count]);
  useEffect(() => () => want(0, 0, "full view"), [want]);
  const { failure } = alone;
  const isLost = isAlone && failure !== undefined && !alone.asset && !isCovered;
  useEffect(() => {
    if (!isLost) return;
    showToast({ tone: "bad", text: failureText(errors, failure) });
    close();
  }, [isLost, failure, errors, close]);
  // One dialog stays open throughout: reopening it would cover a comparison that is open above it.
  return (
    <Viewer
      count={isAlone ? 1 : count}
      at={at ?? 0}
      itemAt={(index) => {
        const asset = assetAt(index);
        return asset && toViewerItem(asset, where);
      }}
      onMove={isAlone ? stay : viewing.move}
      onClose={close}
      onCompare={isAlone ? undefined : onCompare}
      isCovered={isCovered}
      canDownload={canDownload}
      shareOn={canDownload ? where.connectionId : undefined}
    />
  );
}

const stay = () => undefined;
