import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { useFeature } from "@/components/frame/connection/connection-context";
import { ShareButton } from "@/components/frame/share/share-button";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { ButtonLink } from "@/components/ui/link";
import { MASK } from "@/lib/contract/secrets/secret-texts";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { canContainWorkflow } from "@/lib/contract/views/outputs-view";
import { type AssetRights } from "../asset-calls";
import { assetFileUrl, embeddedWorkflowHref, maskHref, runHref, useFileDownload, useServesFiles } from "../asset-urls";
import { toRows } from "../filter/metadata-rows";
import { type AssetEdits } from "./asset-tags";

const EditDialog = dynamic(() => import("./edit-dialog").then((module) => module.EditDialog), { ssr: false });

type AssetActionsProps = { asset: AssetView; connectionId?: string; connection?: string; rights: AssetRights; edits: AssetEdits };

/** The available actions for one asset, with the reason for unavailable ones. */
export function AssetActions({ asset, connectionId, connection, rights, edits }: AssetActionsProps) {
  const t = useTranslations("assets.details");
  const removesFiles = useFeature("fileRemoval");
  const common = useTranslations("common");
  const download = useFileDownload();
  const [isEditing, setEditing] = useState(false);
  const file = assetFileUrl(asset, connectionId);
  const hasFiles = useServesFiles(connectionId, file);
  // The owner is unknown, so everyone who may change the asset sees the warning.
  const leaks = rights.canTag ? toRows(asset.metadata).filter(({ value }) => value.includes(MASK)) : [];
  const reason = asset.immutable
    ? "whyImmutable"
    : rights.why === "service"
      ? "whyService"
      : rights.why === "unsure"
        ? "whyUnsure"
        : undefined;
  return (
    <div>
      <div className="flex flex-wrap gap-2">
        {hasFiles ? (
          <a
            href={file}
            download={asset.name}
            className={buttonStyle()}
            onClick={(event) => {
              if (event.metaKey || event.ctrlKey || event.shiftKey) return;
              event.preventDefault();
              void download(file, asset.name);
            }}
          >
            {t("download")}
          </a>
        ) : null}
        {rights.canTag ? <ButtonLink href={runHref([asset.id], connection)}>{t("useInRun")}</ButtonLink> : null}
        {rights.canTag && hasFiles && canContainWorkflow(asset.name) ? (
          <ButtonLink href={embeddedWorkflowHref(asset.id, connection)}>{t("openWorkflow")}</ButtonLink>
        ) : null}
        {rights.canTag && hasFiles && asset.kind === "image" ? (
          <ButtonLink href={maskHref(asset.id, connection)}>{t("drawMask")}</ButtonLink>
        ) : null}
        {rights.canTag && hasFiles ? <ShareButton subject={{ assets: [asset.id] }} connectionId={connectionId} /> : null}
        {rights.can("assets.edit") && !asset.immutable ? <Button onClick={() => setEditing(true)}>{t("edit")}</Button> : null}
        {rights.can("assets.delete") && !asset.immutable ? (
          <Button
            tone="danger"
            busy={edits.busy === "delete"}
            disabled={edits.going.some(({ payload }) => payload.id === asset.id)}
            onClick={edits.remove}
          >
            {t("delete")}
          </Button>
        ) : null}
      </div>
      {leaks.length > 0 ? (
        <p className="mt-2 rounded-md bg-wait-soft px-2.5 py-2 break-words">
          {t("secretIn", { count: leaks.length, fields: leaks.map(({ path }) => path).join(", ") })}
        </p>
      ) : null}
      {hasFiles ? null : <p className="mt-2 text-sm text-ink-3">{t("noFiles")}</p>}
      {reason && rights.canTag ? <p className="mt-2 text-sm text-ink-3">{t(reason)}</p> : null}
      {isEditing ? <EditDialog asset={asset} edits={edits} onClose={() => setEditing(false)} /> : null}
      {edits.going.map(({ key, payload }) => (
        <div key={key} role="status" className="mt-2 rounded-md bg-off-soft p-2">
          <p className="mb-1.5 break-words">{t(removesFiles ? "going" : "goingLocal", payload)}</p>
          <Button size="small" onClick={() => edits.undo(key)}>
            {common("undo")}
          </Button>
        </div>
      ))}
    </div>
  );
}
