import { useLocale, useTranslations } from "next-intl";
import { type ReactNode, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Fact } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { CopyableId } from "@/components/ui/controls/copy-button";
import { Dialog, FormFoot } from "@/components/ui/dialog";
import { Link } from "@/components/ui/link";
import { withQuery } from "@/lib/browser/urls";
import { formatBytes } from "@/lib/shared/text";
import { type AssetFields, AssetFieldsForm, type DraftErrors, mergeFields, newDraft, readDraft, toDraft } from "./asset-fields-form";
import { isAlarm, type UploadItem } from "./upload-item";
import { cannotChange, otherName, stateText } from "./upload-state";
import { tabUploads } from "./upload-store";

const dialogWidth = "w-[min(560px,calc(100vw-24px))]";

/** A file's details, hashes and description. */
export function ItemDialog({ item, onClose }: { item: UploadItem; onClose: () => void }) {
  const t = useTranslations("uploads");
  const errors = useTranslations("errors");
  const locale = useLocale();
  const { file, status, hash } = item;
  const asset = status.kind === "done" ? status.asset : undefined;
  const differentName = otherName(item);
  const describe = (assetFields: AssetFields) => tabUploads.describe(new Set([item.key]), () => assetFields);
  const facts: [string, ReactNode][] = [
    // For a failed file, the reason is shown above.
    ...(status.kind === "failed" ? [] : [[t("item.state"), stateText(item, { t, errors, locale })] satisfies [string, ReactNode]]),
    [t("item.size"), formatBytes(file.size, locale)],
    ...(hash ? [[t("item.hash"), <CopyableId key="ours" id={`blake3:${hash}`} />] satisfies [string, ReactNode]] : []),
    ...(asset?.asset_hash ? [[t("item.theirs"), <CopyableId key="theirs" id={asset.asset_hash} />] satisfies [string, ReactNode]] : []),
  ];
  return (
    <Dialog isOpen onClose={onClose} title={file.name} className={dialogWidth}>
      {status.kind === "failed" ? (
        <FailureMessage failure={status.failure} onRetry={() => tabUploads.again(item.key)} className="mb-3" />
      ) : null}
      {isAlarm(item) ? (
        <p className="mb-3 rounded-md bg-bad-soft px-3 py-2 text-ink">
          <strong>{t("item.next")}</strong> {t("item.alarm")}
        </p>
      ) : null}
      <dl className="mb-4 grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-ink">
        {facts.map(([name, value]) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
      </dl>
      {asset ? (
        <p className="mb-4">
          <Link
            href={withQuery(`/assets/${encodeURIComponent(asset.id)}`, { connection: item.connection })}
            className="text-accent underline underline-offset-2"
            onClick={onClose}
          >
            {t("act.open")}
          </Link>
        </p>
      ) : null}
      {differentName === undefined ? null : (
        <p className="mb-4 flex flex-wrap items-center gap-2">
          <span className="min-w-0 break-words">{t("item.deduplicatedAs", { name: differentName })}</span>
          {cannotChange(item) ? null : (
            <Button size="small" onClick={() => describe({ ...item.assetFields, name: file.name })}>
              {t("item.rename", { name: file.name })}
            </Button>
          )}
        </p>
      )}
      <Describe
        connection={item.connection}
        start={toDraft(item.assetFields)}
        withName
        isStored={asset !== undefined}
        label={t(asset ? "item.saveStored" : "item.save")}
        onSave={describe}
        onClose={onClose}
      />
    </Dialog>
  );
}

/** Describes all listed files at once by adding the values to each. */
export function DescribeAllDialog({ items, onClose }: { items: readonly UploadItem[]; onClose: () => void }) {
  const t = useTranslations("uploads.item");
  const [first] = items;
  const keys = new Set(items.map(({ key }) => key));
  return (
    <Dialog isOpen onClose={onClose} title={t("titleAll", { count: items.length })} className={dialogWidth}>
      <p className="mb-3">{t("all")}</p>
      <Describe
        connection={first?.connection}
        start={{ ...newDraft, tags: "" }}
        label={t("save")}
        onSave={(newFields) => tabUploads.describe(keys, ({ assetFields }) => mergeFields(assetFields, newFields))}
        onClose={onClose}
      />
    </Dialog>
  );
}

type DescribeProps = {
  connection: string | undefined;
  start: ReturnType<typeof toDraft>;
  label: string;
  withName?: boolean;
  isStored?: boolean;
  onSave: (assetFields: AssetFields) => void;
  onClose: () => void;
};

function Describe({ connection, start, label, withName, isStored, onSave, onClose }: DescribeProps) {
  const t = useTranslations("uploads.item");
  const [draft, setDraft] = useState(start);
  const [faults, setFaults] = useState<DraftErrors>({});
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const assetFields = readDraft(draft);
        if (!assetFields.ok) return setFaults(assetFields.failure);
        onSave(assetFields.value);
        onClose();
      }}
    >
      <AssetFieldsForm
        connection={connection}
        draft={draft}
        faults={faults}
        onChange={setDraft}
        hasNameField={withName}
        isStored={isStored}
      />
      <FormFoot onClose={onClose} keep={t("close")} label={label} />
    </form>
  );
}
