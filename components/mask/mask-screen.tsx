"use client";

import { useTranslations } from "next-intl";
import { use, useState } from "react";
import { useConnection, useFeature } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { PageHeader } from "@/components/frame/page-header";
import { EmptyState } from "@/components/ui/empty-state";
import { ButtonLink, Link, useRouter } from "@/components/ui/link";
import { showToast } from "@/components/ui/toast-store";
import { toShortId, withQuery } from "@/lib/browser/urls";
import { type Failure } from "@/lib/contract/failure";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { type Result } from "@/lib/shared/result";
import { createMaskUploader } from "./file/mask-session";
import { toAssetSource } from "./file/mask-source";
import { encodeInWorker, openMask } from "./file/open-mask";
import { MaskLoader } from "./mask-loader";

type MaskScreenProps = { assetId: string; connection?: string; canSave: boolean; asset: Promise<Result<{ value: AssetView }, Failure>> };

/** The mask editor for an asset, on its own page. */
export function MaskScreen({ assetId, connection, canSave, asset: assetPromise }: MaskScreenProps) {
  const t = useTranslations("masks");
  const tAssets = useTranslations("assets");
  const router = useRouter();
  const assetResult = use(assetPromise);
  const connectionId = useConnection()?.id;
  const keepsPixels = !useFeature("uprightMasks");
  const assetPath = withQuery(`/assets/${encodeURIComponent(assetId)}`, { connection });
  const maskPath = withQuery(`/assets/${encodeURIComponent(assetId)}/mask`, { connection });
  const [ports] = useState(() => ({ encode: encodeInWorker, send: createMaskUploader(connectionId) }));
  const trail = (
    <>
      <Link href={withQuery("/assets", { connection })} className="rounded-sm hover:text-ink max-sm:hidden">
        {tAssets("title")} /
      </Link>{" "}
      <Link href={assetPath} className="rounded-sm hover:text-ink">
        {t("trail")} /
      </Link>
    </>
  );
  if (!assetResult.ok) {
    return (
      <>
        <PageHeader trail={trail} title={toShortId(assetId)} />
        {assetResult.failure.code === "NOT_FOUND" ? (
          <EmptyState
            title={tAssets("page.missing")}
            text={tAssets("page.missingText")}
            action={<ButtonLink href={withQuery("/assets", { connection })}>{tAssets("page.back")}</ButtonLink>}
          />
        ) : (
          <FailureMessage failure={assetResult.failure} onRetry={() => router.refresh()} className="mx-4 mt-4 md:mx-5" />
        )}
      </>
    );
  }
  const source = toAssetSource(assetResult.value.value, connectionId, keepsPixels);
  return (
    <MaskLoader
      source={source}
      open={openMask}
      ports={ports}
      canSave={canSave}
      trail={trail}
      backAction={<ButtonLink href={assetPath}>{t("refused.back")}</ButtonLink>}
      onStored={() =>
        showToast({
          tone: "wait",
          text: t("kept.toast", { name: source.title }),
          action: { label: t("kept.back"), run: () => router.push(maskPath) },
        })
      }
    />
  );
}
