"use client";

import { useTranslations } from "next-intl";
import { useEffect } from "react";
import { failureText } from "@/components/frame/failure-text";
import { showToast } from "@/components/ui/toast-store";
import { type useViewing } from "@/components/viewer/use-viewing";
import { Viewer } from "@/components/viewer/viewer";
import { useAsset } from "./detail/use-asset";
import { assetFileUrl } from "./asset-urls";
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

/** The next few are read before they are shown. */
const AHEAD = 12;

/** Through the whole filtered list, as it stands, one asset at a time; one that a link names and the list does not hold stands alone. */
export function AssetsViewer({ source, viewing, onCompare, isCovered, ...where }: AssetsViewerProps) {
  const { want, count } = source;
  const { at, id } = viewing;
  const shown = at === undefined ? undefined : source.at(at);
  const canDownload = useHandsOutFiles(where.connectionId, shown && assetFileUrl(shown, where.connectionId));
  useEffect(() => {
    if (at !== undefined) want(Math.max(0, at - AHEAD), Math.min(count, at + AHEAD));
  }, [want, at, count]);
  if (at === undefined) return id === undefined ? null : <Alone key={id} id={id} onClose={viewing.close} {...where} />;
  return (
    <Viewer
      count={count}
      at={at}
      itemAt={(index) => {
        const asset = source.at(index);
        return asset && toViewerItem(asset, where);
      }}
      onMove={viewing.move}
      onClose={viewing.close}
      onCompare={onCompare}
      isCovered={isCovered}
      canDownload={canDownload}
    />
  );
}

function Alone({ id, onClose, ...where }: Where & { id: string; onClose: () => void }) {
  const errors = useTranslations("errors");
  const { asset, failure } = useAsset({ id, connectionId: where.connectionId });
  useEffect(() => {
    if (asset || !failure) return;
    showToast({ tone: "bad", text: failureText(errors, failure) });
    onClose();
  }, [asset, failure, errors, onClose]);
  const canDownload = useHandsOutFiles(where.connectionId, asset && assetFileUrl(asset, where.connectionId));
  return (
    <Viewer
      count={1}
      at={0}
      itemAt={() => asset && toViewerItem(asset, where)}
      onMove={() => undefined}
      onClose={onClose}
      canDownload={canDownload}
    />
  );
}
