"use client";

import { useTranslations } from "next-intl";
import { useEffect } from "react";
import useSWRImmutable from "swr/immutable";
import { failureText } from "@/components/frame/failure-text";
import { showToast } from "@/components/ui/toast-store";
import { Compare } from "@/components/viewer/compare";
import { MOST_COMPARED } from "@/components/viewer/viewer-item";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type AssetView, toAssetView } from "@/lib/contract/asset-view";
import { type Asset } from "@/lib/contract/schemas/asset";
import { assetPath } from "./asset-calls";
import { workflowsOf } from "./read-workflow";
import { toViewerItem } from "./viewer-item-of";

type AssetsCompareProps = {
  /** As the address has them. */
  named: string;
  /** What is known already. */
  find: (id: string) => AssetView | undefined;
  connectionId?: string;
  connection?: string;
  onClose: () => void;
};

/** The pictures that an address names, beside each other; what is not at hand is read, and one that cannot be had is said. */
export function AssetsCompare({ named, find, connectionId, connection, onClose }: AssetsCompareProps) {
  const errors = useTranslations("errors");
  const ids = [...new Set(named.split(","))].slice(0, MOST_COMPARED);
  const { data, error } = useSWRImmutable<AssetView[], ApiFailure>(
    connectionId === undefined ? null : ["assets.compared", connectionId, ...ids],
    () => Promise.all(ids.map(async (id) => find(id) ?? (await readAsset(id, connectionId)))),
  );
  useEffect(() => {
    if (!error) return;
    showToast({ tone: "bad", text: failureText(errors, error) });
    onClose();
  }, [error, errors, onClose]);
  if (!data) return null;
  const items = data.map((asset) => toViewerItem(asset, { connectionId, connection }));
  return <Compare items={items} readWorkflow={workflowsOf(connectionId)} onClose={onClose} />;
}

async function readAsset(id: string, connection: string | undefined): Promise<AssetView> {
  const result = await callApi<Asset>(assetPath(id, connection));
  if (!result.ok) throw result.failure;
  return toAssetView(result.value);
}
