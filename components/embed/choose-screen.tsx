"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { AssetChoices } from "@/components/frame/asset-choices";
import { useConnection } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { PageHeader } from "@/components/frame/page-header";
import { Button } from "@/components/ui/controls/button";
import { SearchField } from "@/components/ui/controls/fields";
import { EmptyState } from "@/components/ui/empty-state";
import { useRouter } from "@/components/ui/link";
import { callApi } from "@/lib/browser/api";
import { postToHost } from "@/lib/browser/embed/host-page";
import { createThumbnailUrl, withQuery } from "@/lib/browser/urls";
import { useRead } from "@/lib/browser/use-read";
import { type AssetsResponse } from "@/lib/contract/schemas/asset";
import { type AssetView, toAssetView } from "@/lib/contract/views/asset-view";

const PAGE_SIZE = 24;

/** Lets the user choose an asset for the host page, and sends its id to the host. */
export function ChooseScreen({ origin }: { origin: string }) {
  const t = useTranslations("embedding.choose");
  const router = useRouter();
  const connection = useConnection()?.id;
  const [name, setName] = useState("");
  const [offset, setOffset] = useState(0);
  const path = withQuery("/api/assets", { name_contains: name, sort: "created_at", order: "desc", offset, limit: PAGE_SIZE, connection });
  const { data, error, isLoading, mutate } = useRead(connection && path, () => callApi<AssetsResponse>(path), { keepPreviousData: true });
  const assets = (data?.assets ?? []).map(toAssetView);
  const hasMore = data?.has_more ?? assets.length === PAGE_SIZE;

  function sendAsset(asset: AssetView | undefined) {
    if (!asset) return;
    postToHost([origin], { type: "asset-chosen", id: asset.id, name: asset.name, hash: asset.hash ?? null });
    router.back();
  }
  return (
    <>
      <PageHeader title={t("title")}>
        <Button onClick={() => router.back()}>{t("cancel")}</Button>
      </PageHeader>
      <div className="flex flex-col gap-3 p-4 md:px-5">
        <SearchField
          className="max-w-[420px]"
          aria-label={t("name")}
          placeholder={t("name")}
          maxLength={500}
          text={name}
          onSearch={(text) => {
            setName(text);
            setOffset(0);
          }}
        />
        {error ? <FailureMessage failure={error} onRetry={() => void mutate()} /> : null}
        {!error && !isLoading && assets.length === 0 ? <EmptyState title={t("none")} text={t("noneText")} /> : null}
        <AssetChoices
          label={t("list")}
          isFullPage
          assets={assets}
          getSrc={(asset) => createThumbnailUrl({ connection, asset, edge: 256, fit: "fill" })}
          onClick={(id) => sendAsset(assets.find((asset) => asset.id === id))}
        />
        {offset > 0 || hasMore ? (
          <div className="flex gap-2">
            <Button disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - PAGE_SIZE))}>
              {t("newer")}
            </Button>
            <Button disabled={!hasMore} onClick={() => setOffset(offset + PAGE_SIZE)}>
              {t("older")}
            </Button>
          </div>
        ) : null}
      </div>
    </>
  );
}
