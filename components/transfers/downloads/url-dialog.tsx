import { useLocale, useTranslations } from "next-intl";
import { useId, useMemo, useState } from "react";
import { formatFailure } from "@/components/frame/failure/failure-message";
import { notifyStoredAssets } from "@/components/frame/stored-assets";
import { TextareaField } from "@/components/ui/controls/fields";
import { Dialog, FormFooter } from "@/components/ui/dialog";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { withQuery } from "@/lib/browser/urls";
import { isMissingOperation } from "@/lib/contract/failure";
import { ACTION_HEADER } from "@/lib/shared/headers";
import { createUuid } from "@/lib/shared/text";
import { AssetFieldsForm, DEFAULT_DRAFT, type DraftErrors, parseDraft, uploadPreferences } from "../uploads/asset-fields-form";
import { MAX_URLS, parseUrlEntries, type UrlEntry, UrlRow, useUrlChecks } from "./url-row";

/** Not translated. */
const EXAMPLE_URL = "https://huggingface.co/org/repo/resolve/main/model.safetensors";

type UrlDialogProps = {
  connection?: string;
  text: string;
  onText: (text: string) => void;
  onStarted: () => void;
  onClose: () => void;
};

/** Starts downloads from URLs by the service. Checks each URL while typing. Refused URLs remain in the field with the reason. */
export function UrlDialog({ connection, text, onText, onStarted, onClose }: UrlDialogProps) {
  const t = useTranslations("uploads.url");
  const errors = useTranslations("errors");
  const locale = useLocale();
  const listId = useId();
  const [draft, setDraft] = useState(() => ({ ...DEFAULT_DRAFT, tags: uploadPreferences.get().tags }));
  const [draftErrors, setDraftErrors] = useState<DraftErrors>({});
  const [refusals, setRefusals] = useState<ReadonlyMap<string, ApiFailure>>(new Map());
  const [isBusy, setBusy] = useState(false);
  const { entries, isTruncated } = useMemo(() => parseUrlEntries(text), [text]);
  const { checks, retryCheck } = useUrlChecks(entries, connection);
  const validEntries = entries.filter(({ url, problem }) => {
    const check = checks.get(url);
    return problem === undefined && check?.kind !== "refused" && !(check?.kind === "known" && check.facts.errors.length > 0);
  });

  async function startDownloads() {
    const fieldsResult = parseDraft(draft);
    if (!fieldsResult.ok) return setDraftErrors(fieldsResult.failure);
    setBusy(true);
    const { tags, metadata, previewId } = fieldsResult.value;
    const options = {
      tags,
      ...(Object.keys(metadata).length > 0 && { user_metadata: metadata }),
      ...(previewId && { preview_id: previewId }),
    };
    const failures = new Map<string, ApiFailure>();
    const headers = { [ACTION_HEADER]: createUuid() };
    const counts = { existing: 0, started: 0 };
    // One at a time. A refused URL doesn't stop the others.
    for (const { url } of validEntries) {
      const result = await callApi<{ id?: string; task_id?: string }>(withQuery("/api/assets/download", { connection }), {
        method: "POST",
        headers,
        json: { source_url: url, ...options },
      });
      if (!result.ok) failures.set(url, result.failure);
      else if (result.value.task_id !== undefined) counts.started += 1;
      else {
        counts.existing += 1;
        if (result.value.id) notifyStoredAssets();
      }
    }
    setBusy(false);
    if (counts.existing > 0) showToast({ tone: "ok", text: t("already", { count: counts.existing }) });
    if (counts.started > 0) onStarted();
    setRefusals(failures);
    // Refused and unrequested URLs remain in the field.
    const addedUrls = new Set(validEntries.map(({ url }) => url).filter((url) => !failures.has(url)));
    const remainingEntries = entries.filter(({ url }) => !addedUrls.has(url));
    if (remainingEntries.length === 0) return onClose();
    onText(remainingEntries.map(({ url }) => url).join("\n"));
  }

  const getRefusalText = ({ url }: UrlEntry) => {
    const failure = refusals.get(url);
    if (!failure) return undefined;
    return t("refused", { reason: isMissingOperation(failure) ? t("absent") : formatFailure(errors, failure) });
  };

  return (
    <Dialog isOpen onClose={onClose} title={t("title")} className="w-[min(640px,calc(100vw-24px))]">
      <form
        className="flex flex-col gap-3 text-ink"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy && validEntries.length > 0) void startDownloads();
        }}
      >
        <TextareaField
          label={t("addresses")}
          hint={t("hint")}
          error={isTruncated ? t("tooMany", { count: MAX_URLS }) : undefined}
          rows={Math.min(8, Math.max(3, entries.length + 1))}
          spellCheck={false}
          autoComplete="off"
          placeholder={EXAMPLE_URL}
          className="font-mono break-all"
          aria-controls={listId}
          readOnly={isBusy}
          value={text}
          onChange={({ target }) => onText(target.value)}
        />
        <ul id={listId} aria-label={t("list")} aria-live="polite" className="max-h-64 overflow-y-auto rounded-md bg-sunken empty:hidden">
          {entries.map((entry, index) => (
            <li key={index} className="border-b border-line px-3 py-2 last:border-0">
              <UrlRow entry={entry} check={checks.get(entry.url)} refusal={getRefusalText(entry)} locale={locale} onRetry={retryCheck} />
            </li>
          ))}
        </ul>
        <AssetFieldsForm connection={connection} draft={draft} errors={draftErrors} onChange={setDraft} />
        <FormFooter
          onClose={onClose}
          cancelLabel={t("close")}
          busy={isBusy}
          disabled={validEntries.length === 0}
          label={isBusy ? t("going") : t("go", { count: validEntries.length })}
        />
      </form>
    </Dialog>
  );
}
