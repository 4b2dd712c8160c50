"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import useSWR from "swr";
import { useConnection } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { PageHeader } from "@/components/frame/page-header";
import { Button } from "@/components/ui/controls/button";
import { SearchField } from "@/components/ui/controls/fields";
import { FileName } from "@/components/ui/cut";
import { EmptyState } from "@/components/ui/empty-state";
import { useRouter } from "@/components/ui/link";
import { Picture } from "@/components/ui/pictures/picture";
import { callApi } from "@/lib/browser/api";
import { tellHost } from "@/lib/browser/embed/host-page";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { thumbnailUrl, withQuery } from "@/lib/browser/urls";
import { type AssetsAnswer } from "@/lib/contract/schemas/asset";
import { type AssetView, toAssetView } from "@/lib/contract/views/asset-view";

const PAGE = 24;

/** The host asked for an asset: the person finds one by name, newest first, and its id goes to the host. */
export function ChooseScreen({ origin }: { origin: string }) {
  const t = useTranslations("embedding.choose");
  const router = useRouter();
  const connection = useConnection()?.id;
  const [name, setName] = useState("");
  const [offset, setOffset] = useState(0);
  const asked = { name_contains: name, sort: "created_at", order: "desc", offset, limit: PAGE, connection };
  const { data, error, isLoading, mutate } = useSWR<AssetsAnswer, ApiFailure>(connection && withQuery("/api/assets", asked), read, {
    keepPreviousData: true,
    shouldRetryOnError: false,
    revalidateOnFocus: false,
  });
  const assets = (data?.assets ?? []).map(toAssetView);
  const hasMore = data?.has_more ?? assets.length === PAGE;

  function choose({ id, name, hash }: AssetView) {
    tellHost([origin], { type: "asset-chosen", id, name, hash: hash ?? null });
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
          onSearch={(words) => {
            setName(words);
            setOffset(0);
          }}
        />
        {error ? <FailureMessage failure={error} onRetry={() => void mutate()} /> : null}
        {!error && !isLoading && assets.length === 0 ? <EmptyState title={t("none")} text={t("noneText")} /> : null}
        <ul aria-busy={isLoading} className="grid grid-cols-2 gap-2.5 sm:grid-cols-4 md:grid-cols-6">
          {assets.map((asset) => (
            <li key={asset.id}>
              <button type="button" onClick={() => choose(asset)} className="block w-full rounded-md text-left">
                <Picture
                  src={thumbnailUrl({ connection, asset: asset.id, edge: 256, fit: "fill" })}
                  alt=""
                  width={256}
                  height={192}
                  className="aspect-[4/3] w-full rounded-md"
                />
                <span className="block truncate text-sm text-ink-2">
                  <FileName name={asset.name} />
                </span>
              </button>
            </li>
          ))}
        </ul>
        {offset > 0 || hasMore ? (
          <div className="flex gap-2">
            <Button disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - PAGE))}>
              {t("newer")}
            </Button>
            <Button disabled={!hasMore} onClick={() => setOffset(offset + PAGE)}>
              {t("older")}
            </Button>
          </div>
        ) : null}
      </div>
    </>
  );
}

async function read(path: `/${string}`): Promise<AssetsAnswer> {
  const answer = await callApi<AssetsAnswer>(path);
  if (!answer.ok) throw answer.failure;
  return answer.value;
}
