import { useLocale, useTranslations } from "next-intl";
import { useId, useMemo, useState } from "react";
import { failureText } from "@/components/frame/failure/failure-message";
import { notifyStoredAssets } from "@/components/frame/stored-assets";
import { TextareaField } from "@/components/ui/controls/fields";
import { Dialog, FormFoot } from "@/components/ui/dialog";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { isMissingOperation } from "@/lib/contract/failure";
import { ACT_HEADER } from "@/lib/shared/headers";
import { createUuid } from "@/lib/shared/text";
import { AssetFieldsForm, type DraftErrors, newDraft, readDraft, uploadPreferences } from "../uploads/asset-fields-form";
import { type Address, AddressLine, MAX_ADDRESSES, readAddresses, useAddressChecks } from "./address-line";

/** Not translated. */
const EXAMPLE = "https://huggingface.co/org/repo/resolve/main/model.safetensors";

type UrlDialogProps = {
  connection?: string;
  text: string;
  onText: (text: string) => void;
  onStarted: () => void;
  onClose: () => void;
};

/** URLs that the service downloads. Each is checked while typing; refused ones remain in the field, with the reason. */
export function UrlDialog({ connection, text, onText, onStarted, onClose }: UrlDialogProps) {
  const t = useTranslations("uploads.url");
  const errors = useTranslations("errors");
  const locale = useLocale();
  const listId = useId();
  const [draft, setDraft] = useState(() => ({ ...newDraft, tags: uploadPreferences.get().tags }));
  const [faults, setFaults] = useState<DraftErrors>({});
  const [refused, setRefused] = useState<ReadonlyMap<string, ApiFailure>>(new Map());
  const [isBusy, setBusy] = useState(false);
  const { addresses, isCut } = useMemo(() => readAddresses(text), [text]);
  const { checks, retryCheck } = useAddressChecks(addresses, connection);
  const validAddresses = addresses.filter(({ url, fault }) => {
    const check = checks.get(url);
    return fault === undefined && check?.kind !== "refused" && !(check?.kind === "known" && check.facts.errors.length > 0);
  });

  async function start() {
    const assetFields = readDraft(draft);
    if (!assetFields.ok) return setFaults(assetFields.failure);
    setBusy(true);
    const { tags, metadata, previewId } = assetFields.value;
    const options = {
      tags,
      ...(Object.keys(metadata).length > 0 && { user_metadata: metadata }),
      ...(previewId && { preview_id: previewId }),
    };
    const failures = new Map<string, ApiFailure>();
    const headers = { [ACT_HEADER]: createUuid() };
    const count = { already: 0, started: 0 };
    // One at a time. A refused URL doesn't stop the others.
    for (const { url } of validAddresses) {
      const result = await callApi<{ id?: string; task_id?: string }>(withQuery("/api/assets/download", { connection }), {
        method: "POST",
        headers,
        json: { source_url: url, ...options },
      });
      if (!result.ok) failures.set(url, result.failure);
      else if (result.value.task_id !== undefined) count.started += 1;
      else {
        count.already += 1;
        if (result.value.id) notifyStoredAssets();
      }
    }
    setBusy(false);
    if (count.already > 0) showToast({ tone: "ok", text: t("already", { count: count.already }) });
    if (count.started > 0) onStarted();
    setRefused(failures);
    // Refused URLs, and those never requested, remain in the field.
    const addedUrls = new Set(validAddresses.map(({ url }) => url).filter((url) => !failures.has(url)));
    const remaining = addresses.filter(({ url }) => !addedUrls.has(url));
    if (remaining.length === 0) return onClose();
    onText(remaining.map(({ url }) => url).join("\n"));
  }

  const note = ({ url }: Address) => {
    const failure = refused.get(url);
    if (!failure) return undefined;
    return t("refused", { reason: isMissingOperation(failure) ? t("absent") : failureText(errors, failure) });
  };

  return (
    <Dialog isOpen onClose={onClose} title={t("title")} className="w-[min(640px,calc(100vw-24px))]">
      <form
        className="flex flex-col gap-3 text-ink"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy && validAddresses.length > 0) void start();
        }}
      >
        <TextareaField
          label={t("addresses")}
          hint={t("hint")}
          error={isCut ? t("tooMany", { count: MAX_ADDRESSES }) : undefined}
          rows={Math.min(8, Math.max(3, addresses.length + 1))}
          spellCheck={false}
          autoComplete="off"
          placeholder={EXAMPLE}
          className="font-mono break-all"
          aria-controls={listId}
          value={text}
          onChange={({ target }) => onText(target.value)}
        />
        <ul id={listId} aria-label={t("list")} aria-live="polite" className="max-h-64 overflow-y-auto rounded-md bg-sunken empty:hidden">
          {addresses.map((address, at) => (
            <li key={at} className="border-b border-line px-3 py-2 last:border-0">
              <AddressLine address={address} check={checks.get(address.url)} refused={note(address)} locale={locale} onRetry={retryCheck} />
            </li>
          ))}
        </ul>
        <AssetFieldsForm connection={connection} draft={draft} faults={faults} onChange={setDraft} />
        <FormFoot
          onClose={onClose}
          keep={t("close")}
          busy={isBusy}
          disabled={validAddresses.length === 0}
          label={isBusy ? t("going") : t("go", { count: validAddresses.length })}
        />
      </form>
    </Dialog>
  );
}
