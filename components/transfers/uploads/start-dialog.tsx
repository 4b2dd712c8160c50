import { useLocale, useTranslations } from "next-intl";
import { useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { notifyStoredAssets } from "@/components/frame/stored-assets";
import { Button } from "@/components/ui/controls/button";
import { CheckField, InputField, Options, SelectField } from "@/components/ui/controls/fields";
import { Dialog, FormFooter } from "@/components/ui/dialog";
import { Link } from "@/components/ui/link";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { type DroppedFiles, type NamedFile } from "@/lib/browser/files/dropped-files";
import { createAssetFromHash } from "@/lib/browser/uploads/asset-from-hash";
import { getMaxHashBytes } from "@/lib/browser/uploads/upload";
import { withQuery } from "@/lib/browser/urls";
import { useRead } from "@/lib/browser/use-read";
import { isMissingOperation } from "@/lib/contract/failure";
import { type Features } from "@/lib/contract/operations/service";
import { formatBytes } from "@/lib/shared/text";
import {
  AssetFieldsForm,
  DEFAULT_DRAFT,
  DEFAULT_UPLOAD_PREFERENCES,
  type DraftErrors,
  type FolderUse,
  getFieldsForFile,
  parseDraft,
  uploadPreferences,
} from "./asset-fields-form";
import { type StoredAsset } from "./upload-item";
import { type NewUpload, tabUploads } from "./upload-store";

const MAX_SHOWN_FILES = 4;
const folderUses = ["none", "tags", "name"] as const;

type StartDialogProps = {
  /** Undefined while folders are read. */
  dropped: DroppedFiles | undefined;
  connection?: { id: string; name: string };
  onStart: (uploads: NewUpload[]) => void;
  onOpen: (workflow: NamedFile) => void;
  onClose: () => void;
};

/** Shows the files to add and the form for their fields. Enter adds them. */
export function StartDialog({ dropped, connection, onStart, onOpen, onClose }: StartDialogProps) {
  const t = useTranslations("uploads.start");
  const locale = useLocale();
  const [draft, setDraft] = useState(() => ({ ...DEFAULT_DRAFT, tags: uploadPreferences.get().tags }));
  const [draftErrors, setDraftErrors] = useState<DraftErrors>({});
  const [selectedUse, setSelectedUse] = useState<FolderUse>("none");
  const [shouldSkipDialog, setShouldSkipDialog] = useState(() => !uploadPreferences.get().ask);
  const [shouldSkipEmpty, setShouldSkipEmpty] = useState(true);
  const maxFileBytes = useUploadLimit(connection?.id);
  const maxHashBytes = getMaxHashBytes(tabUploads.getSpeeds());

  if (!dropped) return <Dialog isOpen onClose={onClose} title={t("reading")} actions={<Button onClick={onClose}>{t("cancel")}</Button>} />;
  const { unreadableCount, skippedCount, isTruncated } = dropped;
  const emptyCount = dropped.files.filter(({ file }) => file.size === 0).length;
  const files = shouldSkipEmpty ? dropped.files.filter(({ file }) => file.size > 0) : dropped.files;
  const listedFiles = [...files.filter(({ isWorkflow }) => isWorkflow), ...files.filter(({ isWorkflow }) => !isWorkflow)];
  const totalBytes = files.reduce((sum, { file }) => sum + file.size, 0);
  const tooLargeCount = maxFileBytes === undefined ? 0 : files.filter(({ file }) => file.size > maxFileBytes).length;
  const hasFolders = files.some(({ path }) => path.includes("/"));

  function startUploads() {
    // A name applies only to a single file, but may have been typed before more files were dropped.
    const fieldsResult = parseDraft(files.length === 1 ? draft : { ...draft, name: "" });
    if (!fieldsResult.ok) return setDraftErrors(fieldsResult.failure);
    uploadPreferences.set(shouldSkipDialog ? { ask: false, tags: draft.tags } : DEFAULT_UPLOAD_PREFERENCES);
    onStart(files.map(({ file, path }) => ({ file, assetFields: getFieldsForFile(fieldsResult.value, path, selectedUse) })));
  }

  return (
    <Dialog isOpen onClose={onClose} title={t("title", { count: files.length })} className="w-[min(540px,calc(100vw-24px))]">
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          startUploads();
        }}
      >
        {dropped.files.length === 0 ? <p>{t("none")}</p> : null}
        <ul className="rounded-md bg-sunken px-3 py-2 text-ink empty:hidden">
          {listedFiles.slice(0, MAX_SHOWN_FILES).map((listedFile, index) => (
            <li key={index} className="flex items-center gap-3">
              <span className="min-w-0 flex-1 truncate" title={listedFile.path}>
                {listedFile.path}
              </span>
              {listedFile.isWorkflow ? (
                <Button size="small" onClick={() => onOpen(listedFile)}>
                  {t("open")}
                </Button>
              ) : null}
              <span className="shrink-0 text-ink-3">{formatBytes(listedFile.file.size, locale)}</span>
            </li>
          ))}
          {files.length > MAX_SHOWN_FILES ? <li className="text-ink-3">{t("more", { count: files.length - MAX_SHOWN_FILES })}</li> : null}
        </ul>
        <p>
          {t("size", { size: formatBytes(totalBytes, locale), connection: connection?.name ?? "" })}{" "}
          {maxHashBytes === undefined ? t("hashFirst") : t("atOnce", { size: formatBytes(maxHashBytes, locale) })}
        </p>
        {skippedCount > 0 ? <p>{t("leftOut", { count: skippedCount })}</p> : null}
        {emptyCount > 0 ? (
          <CheckField
            label={t("empty", { count: emptyCount })}
            className="text-ink"
            checked={shouldSkipEmpty}
            onChange={({ target }) => setShouldSkipEmpty(target.checked)}
          />
        ) : null}
        {unreadableCount > 0 ? <p className="text-bad">{t("unreadable", { count: unreadableCount })}</p> : null}
        {isTruncated ? <p className="text-bad">{t("cut", { count: files.length })}</p> : null}
        {tooLargeCount > 0 ? (
          <p className="text-bad">{t("tooLarge", { count: tooLargeCount, limit: formatBytes(maxFileBytes ?? 0, locale) })}</p>
        ) : null}
        <AssetFieldsForm
          connection={connection?.id}
          draft={draft}
          errors={draftErrors}
          onChange={setDraft}
          hasNameField={files.length === 1}
          hasHashHint
        />
        {hasFolders ? (
          <SelectField
            label={<span className="text-ink">{t("folders")}</span>}
            value={selectedUse}
            onChange={({ target }) => setSelectedUse(folderUses.find((folderUse) => folderUse === target.value) ?? "none")}
          >
            <Options of={folderUses.map((folderUse) => [folderUse, t(`folderUse.${folderUse}`)])} />
          </SelectField>
        ) : null}
        <CheckField label={t("dontAsk")} checked={shouldSkipDialog} onChange={({ target }) => setShouldSkipDialog(target.checked)} />
        <FormFooter onClose={onClose} cancelLabel={t("cancel")} autoFocus disabled={files.length === 0} label={t("go")} />
      </form>
    </Dialog>
  );
}

/** Returns the maximum file size in bytes, or undefined if the service reports none. */
function useUploadLimit(connection: string | undefined): number | undefined {
  const path = withQuery("/api/console/optional/features", { connection });
  return useRead(path, () => callApi<Features | null>(path)).data?.max_upload_size;
}

/** Creates an asset from existing content by its hash. */
export function HashDialog({ connection, onClose }: { connection?: string; onClose: () => void }) {
  const t = useTranslations("uploads.hash");
  const [text, setText] = useState("");
  const [draft, setDraft] = useState(() => ({ ...DEFAULT_DRAFT, tags: uploadPreferences.get().tags }));
  const [errors, setErrors] = useState<DraftErrors & { hash?: true; noTags?: true }>({});
  const [outcome, setOutcome] = useState<{ asset?: StoredAsset; problem?: "unknown" | "notMade" | "unsure"; failure?: ApiFailure }>({});
  const { asset: createdAsset, problem, failure } = outcome;
  const [isBusy, setBusy] = useState(false);

  async function createAsset() {
    const hash = parseHash(text);
    const fieldsResult = parseDraft(draft);
    const hasNoTags = fieldsResult.ok && fieldsResult.value.tags.length === 0;
    setErrors({ ...(!fieldsResult.ok && fieldsResult.failure), ...(!hash && { hash: true }), ...(hasNoTags && { noTags: true }) });
    if (!hash || !fieldsResult.ok || hasNoTags) return;
    setBusy(true);
    setOutcome({});
    const { name, tags, metadata, previewId } = fieldsResult.value;
    const body = { hash, tags, ...(name !== "" && { name }), ...(Object.keys(metadata).length > 0 && { user_metadata: metadata }) };
    const result = await createAssetFromHash<StoredAsset>(body, { connection });
    const asset = result.ok && result.value.kind === "made" ? result.value.asset : undefined;
    const saveResult =
      asset && previewId !== undefined
        ? await callApi(withQuery(`/api/assets/${encodeURIComponent(asset.id)}`, { connection }), {
            method: "PUT",
            json: { preview_id: previewId },
          })
        : result;
    setBusy(false);
    if (asset) notifyStoredAssets();
    const problemOutcome = result.ok && result.value.kind !== "made" ? result.value : undefined;
    setOutcome({
      asset,
      problem: problemOutcome?.kind,
      failure: !saveResult.ok ? saveResult.failure : problemOutcome && "failure" in problemOutcome ? problemOutcome.failure : undefined,
    });
  }

  const isUnsupported = failure !== undefined && isMissingOperation(failure);
  return (
    <Dialog isOpen onClose={onClose} title={t("title")} className="w-[min(560px,calc(100vw-24px))]">
      <form
        className="flex flex-col gap-3 text-ink"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) void createAsset();
        }}
      >
        <InputField
          label={t("hash")}
          hint={t("hint")}
          error={errors.hash && t("fault")}
          value={text}
          spellCheck={false}
          autoComplete="off"
          className="font-mono"
          onChange={({ target }) => setText(target.value)}
        />
        <AssetFieldsForm connection={connection} draft={draft} errors={errors} onChange={setDraft} hasNameField isNameless />
        {errors.noTags ? <p className="text-sm text-bad">{t("tagsNeeded")}</p> : null}
        <div aria-live="polite">
          {problem || isUnsupported ? (
            <p className="mb-2 rounded-md bg-bad-soft px-3 py-2">{t(isUnsupported ? "absent" : (problem ?? "unknown"))}</p>
          ) : null}
          {failure && !isUnsupported ? <FailureMessage failure={failure} /> : null}
          {createdAsset ? (
            <p className="rounded-md bg-ok-soft px-3 py-2">
              {t(createdAsset.created_new === false ? "existing" : "made")}{" "}
              <Link
                href={withQuery(`/assets/${encodeURIComponent(createdAsset.id)}`, { connection })}
                className="underline underline-offset-2"
                onClick={onClose}
              >
                {t("open", { name: createdAsset.name || createdAsset.id })}
              </Link>
            </p>
          ) : null}
        </div>
        <FormFooter onClose={onClose} cancelLabel={t("close")} busy={isBusy} label={t("go")} />
      </form>
    </Dialog>
  );
}

/** Normalizes a pasted hash to the API's format. Returns undefined if it is invalid. */
export function parseHash(text: string): string | undefined {
  const match = /^(?:(blake3|sha256):)?([0-9a-f]{64})$/.exec(text.trim().toLowerCase());
  return match ? `${match[1] ?? "blake3"}:${match[2]}` : undefined;
}
