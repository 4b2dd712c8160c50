import { useLocale, useTranslations } from "next-intl";
import { type ReactNode, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Fact } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { CopyableId } from "@/components/ui/controls/copy-button";
import { Dialog, FormFooter } from "@/components/ui/dialog";
import { Link } from "@/components/ui/link";
import { withQuery } from "@/lib/browser/urls";
import { formatBytes } from "@/lib/shared/text";
import { type AssetFields, AssetFieldsForm, DEFAULT_DRAFT, type DraftErrors, mergeFields, parseDraft, toDraft } from "./asset-fields-form";
import { hasContentMismatch, type UploadItem } from "./upload-item";
import { getDifferentName, getStateText, isChangeUnsupported } from "./upload-state";
import { tabUploads } from "./upload-store";

const dialogClass = "w-[min(560px,calc(100vw-24px))]";

/** Shows a file's details and hashes, and edits its fields. */
export function ItemDialog({ item, onClose }: { item: UploadItem; onClose: () => void }) {
  const t = useTranslations("uploads");
  const errors = useTranslations("errors");
  const locale = useLocale();
  const { file, status, hash } = item;
  const asset = status.kind === "done" ? status.asset : undefined;
  const differentName = getDifferentName(item);
  const updateFields = (assetFields: AssetFields) => tabUploads.updateFields(new Set([item.key]), () => assetFields);
  const facts: [string, ReactNode][] = [
    // For a failed file, the reason is shown above.
    ...(status.kind === "failed" ? [] : [[t("item.state"), getStateText(item, { t, errors, locale })] satisfies [string, ReactNode]]),
    [t("item.size"), formatBytes(file.size, locale)],
    ...(hash ? [[t("item.hash"), <CopyableId key="ours" id={`blake3:${hash}`} />] satisfies [string, ReactNode]] : []),
    ...(asset?.asset_hash ? [[t("item.theirs"), <CopyableId key="theirs" id={asset.asset_hash} />] satisfies [string, ReactNode]] : []),
  ];
  return (
    <Dialog isOpen onClose={onClose} title={file.name} className={dialogClass}>
      {status.kind === "failed" ? (
        <FailureMessage failure={status.failure} onRetry={() => tabUploads.retry(item.key)} className="mb-3" />
      ) : null}
      {hasContentMismatch(item) ? (
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
          {isChangeUnsupported(item) ? null : (
            <Button size="small" onClick={() => updateFields({ ...item.assetFields, name: file.name })}>
              {t("item.rename", { name: file.name })}
            </Button>
          )}
        </p>
      )}
      <FieldsForm
        connection={item.connection}
        initialDraft={toDraft(item.assetFields)}
        hasNameField
        isStored={asset !== undefined}
        label={t(asset ? "item.saveStored" : "item.save")}
        onSave={updateFields}
        onClose={onClose}
      />
    </Dialog>
  );
}

/** Adds the entered values to the fields of all listed files. */
export function EditAllDialog({ items, onClose }: { items: readonly UploadItem[]; onClose: () => void }) {
  const t = useTranslations("uploads.item");
  const [firstItem] = items;
  const keys = new Set(items.map(({ key }) => key));
  return (
    <Dialog isOpen onClose={onClose} title={t("titleAll", { count: items.length })} className={dialogClass}>
      <p className="mb-3">{t("all")}</p>
      <FieldsForm
        connection={firstItem?.connection}
        initialDraft={{ ...DEFAULT_DRAFT, tags: "" }}
        label={t("save")}
        onSave={(newFields) => tabUploads.updateFields(keys, ({ assetFields }) => mergeFields(assetFields, newFields))}
        onClose={onClose}
      />
    </Dialog>
  );
}

type FieldsFormProps = {
  connection: string | undefined;
  initialDraft: ReturnType<typeof toDraft>;
  label: string;
  hasNameField?: boolean;
  isStored?: boolean;
  onSave: (assetFields: AssetFields) => void;
  onClose: () => void;
};

function FieldsForm({ connection, initialDraft, label, hasNameField, isStored, onSave, onClose }: FieldsFormProps) {
  const t = useTranslations("uploads.item");
  const [draft, setDraft] = useState(initialDraft);
  const [draftErrors, setDraftErrors] = useState<DraftErrors>({});
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const fieldsResult = parseDraft(draft);
        if (!fieldsResult.ok) return setDraftErrors(fieldsResult.failure);
        onSave(fieldsResult.value);
        onClose();
      }}
    >
      <AssetFieldsForm
        connection={connection}
        draft={draft}
        errors={draftErrors}
        onChange={setDraft}
        hasNameField={hasNameField}
        isStored={isStored}
      />
      <FormFooter onClose={onClose} cancelLabel={t("close")} label={label} />
    </form>
  );
}
