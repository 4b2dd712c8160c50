import { useLocale, useTranslations } from "next-intl";
import { useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { notifyStoredAssets } from "@/components/frame/stored-assets";
import { Button } from "@/components/ui/controls/button";
import { CheckField, InputField, Options, SelectField } from "@/components/ui/controls/fields";
import { Dialog, FormFoot } from "@/components/ui/dialog";
import { Link } from "@/components/ui/link";
import { callApi } from "@/lib/browser/api";
import { type DroppedFiles } from "@/lib/browser/files/dropped-files";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { offerHash } from "@/lib/browser/uploads/offer-hash";
import { getMaxHashBytes } from "@/lib/browser/uploads/upload";
import { withQuery } from "@/lib/browser/urls";
import { useRead } from "@/lib/browser/use-read";
import { isMissingOperation } from "@/lib/contract/failure";
import { type Features } from "@/lib/contract/operations/service";
import { formatBytes } from "@/lib/shared/text";
import {
  AssetFieldsForm,
  DEFAULT_UPLOAD_PREFERENCES,
  type DraftErrors,
  fieldsForFile,
  type FolderUse,
  newDraft,
  readDraft,
  uploadPreferences,
} from "./asset-fields-form";
import { type StoredAsset } from "./upload-item";
import { type NewUpload, tabUploads } from "./upload-store";

const MAX_SHOWN = 4;
const folderUses = ["none", "tags", "name"] as const;

type StartDialogProps = {
  /** Undefined while folders are read. */
  dropped: DroppedFiles | undefined;
  connection?: { id: string; name: string };
  onStart: (uploads: NewUpload[]) => void;
  onClose: () => void;
};

/** The files about to be added, and their description. Enter adds them. */
export function StartDialog({ dropped, connection, onStart, onClose }: StartDialogProps) {
  const t = useTranslations("uploads.start");
  const locale = useLocale();
  const [draft, setDraft] = useState(() => ({ ...newDraft, tags: uploadPreferences.get().tags }));
  const [faults, setFaults] = useState<DraftErrors>({});
  const [use, setUse] = useState<FolderUse>("none");
  const [skipsDialog, setSkipsDialog] = useState(() => !uploadPreferences.get().ask);
  const [skipsEmpty, setSkipsEmpty] = useState(true);
  const limit = useUploadLimit(connection?.id);
  const hashFirstBytes = getMaxHashBytes(tabUploads.speeds());

  if (!dropped) return <Dialog isOpen onClose={onClose} title={t("reading")} actions={<Button onClick={onClose}>{t("cancel")}</Button>} />;
  const { unreadable, leftOut, isCut } = dropped;
  const empty = dropped.files.filter(({ file }) => file.size === 0).length;
  const files = skipsEmpty ? dropped.files.filter(({ file }) => file.size > 0) : dropped.files;
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  const tooLarge = limit === undefined ? 0 : files.filter(({ file }) => file.size > limit).length;
  const hasFolders = files.some(({ path }) => path.includes("/"));

  function start() {
    // A name applies to a single file, but may have been typed before others were added.
    const assetFields = readDraft(files.length === 1 ? draft : { ...draft, name: "" });
    if (!assetFields.ok) return setFaults(assetFields.failure);
    uploadPreferences.set(skipsDialog ? { ask: false, tags: draft.tags } : DEFAULT_UPLOAD_PREFERENCES);
    onStart(files.map(({ file, path }) => ({ file, assetFields: fieldsForFile(assetFields.value, path, use) })));
  }

  return (
    <Dialog isOpen onClose={onClose} title={t("title", { count: files.length })} className="w-[min(540px,calc(100vw-24px))]">
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          start();
        }}
      >
        {dropped.files.length === 0 ? <p>{t("none")}</p> : null}
        <ul className="rounded-md bg-sunken px-3 py-2 text-ink empty:hidden">
          {files.slice(0, MAX_SHOWN).map(({ path, file }, at) => (
            <li key={at} className="flex gap-3">
              <span className="min-w-0 flex-1 truncate" title={path}>
                {path}
              </span>
              <span className="shrink-0 text-ink-3">{formatBytes(file.size, locale)}</span>
            </li>
          ))}
          {files.length > MAX_SHOWN ? <li className="text-ink-3">{t("more", { count: files.length - MAX_SHOWN })}</li> : null}
        </ul>
        <p>
          {t("size", { size: formatBytes(bytes, locale), connection: connection?.name ?? "" })}{" "}
          {hashFirstBytes === undefined ? t("hashFirst") : t("atOnce", { size: formatBytes(hashFirstBytes, locale) })}
        </p>
        {leftOut > 0 ? <p>{t("leftOut", { count: leftOut })}</p> : null}
        {empty > 0 ? (
          <CheckField
            label={t("empty", { count: empty })}
            className="text-ink"
            checked={skipsEmpty}
            onChange={({ target }) => setSkipsEmpty(target.checked)}
          />
        ) : null}
        {unreadable > 0 ? <p className="text-bad">{t("unreadable", { count: unreadable })}</p> : null}
        {isCut ? <p className="text-bad">{t("cut", { count: files.length })}</p> : null}
        {tooLarge > 0 ? <p className="text-bad">{t("tooLarge", { count: tooLarge, limit: formatBytes(limit ?? 0, locale) })}</p> : null}
        <AssetFieldsForm
          connection={connection?.id}
          draft={draft}
          faults={faults}
          onChange={setDraft}
          hasNameField={files.length === 1}
          hasHashHint
        />
        {hasFolders ? (
          <SelectField
            label={<span className="text-ink">{t("folders")}</span>}
            value={use}
            onChange={({ target }) => setUse(folderUses.find((folderUse) => folderUse === target.value) ?? "none")}
          >
            <Options of={folderUses.map((folderUse) => [folderUse, t(`folderUse.${folderUse}`)])} />
          </SelectField>
        ) : null}
        <CheckField label={t("dontAsk")} checked={skipsDialog} onChange={({ target }) => setSkipsDialog(target.checked)} />
        <FormFoot onClose={onClose} keep={t("cancel")} autoFocus disabled={files.length === 0} label={t("go")} />
      </form>
    </Dialog>
  );
}

/** The largest file that the service accepts; undefined if it reports none. */
function useUploadLimit(connection: string | undefined): number | undefined {
  const path = withQuery("/api/console/optional/features", { connection });
  return useRead(path, () => callApi<Features | null>(path)).data?.max_upload_size;
}

/** Creates an asset from existing content by its hash. */
export function HashDialog({ connection, onClose }: { connection?: string; onClose: () => void }) {
  const t = useTranslations("uploads.hash");
  const [text, setText] = useState("");
  const [draft, setDraft] = useState(() => ({ ...newDraft, tags: uploadPreferences.get().tags }));
  const [faults, setFaults] = useState<DraftErrors & { hash?: true; noTags?: true }>({});
  const [outcome, setOutcome] = useState<{ asset?: StoredAsset; notMade?: "unknown" | "notMade" | "unsure"; failure?: ApiFailure }>({});
  const { asset: createdAsset, notMade, failure } = outcome;
  const [isBusy, setBusy] = useState(false);

  async function add() {
    const hash = readHash(text);
    const assetFields = readDraft(draft);
    const noTags = assetFields.ok && assetFields.value.tags.length === 0;
    setFaults({ ...(!assetFields.ok && assetFields.failure), ...(!hash && { hash: true }), ...(noTags && { noTags: true }) });
    if (!hash || !assetFields.ok || noTags) return;
    setBusy(true);
    setOutcome({});
    const { name, tags, metadata, previewId } = assetFields.value;
    const body = { hash, tags, ...(name !== "" && { name }), ...(Object.keys(metadata).length > 0 && { user_metadata: metadata }) };
    const result = await offerHash<StoredAsset>(body, { connection });
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
    const notCreated = result.ok && result.value.kind !== "made" ? result.value : undefined;
    setOutcome({
      asset,
      notMade: notCreated?.kind,
      failure: !saveResult.ok ? saveResult.failure : notCreated && "failure" in notCreated ? notCreated.failure : undefined,
    });
  }

  const isAbsent = failure !== undefined && isMissingOperation(failure);
  return (
    <Dialog isOpen onClose={onClose} title={t("title")} className="w-[min(560px,calc(100vw-24px))]">
      <form
        className="flex flex-col gap-3 text-ink"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) void add();
        }}
      >
        <InputField
          label={t("hash")}
          hint={t("hint")}
          error={faults.hash && t("fault")}
          value={text}
          spellCheck={false}
          autoComplete="off"
          className="font-mono"
          onChange={({ target }) => setText(target.value)}
        />
        <AssetFieldsForm connection={connection} draft={draft} faults={faults} onChange={setDraft} hasNameField isNameless />
        {faults.noTags ? <p className="text-sm text-bad">{t("tagsNeeded")}</p> : null}
        <div aria-live="polite">
          {notMade || isAbsent ? (
            <p className="mb-2 rounded-md bg-bad-soft px-3 py-2">{t(isAbsent ? "absent" : (notMade ?? "unknown"))}</p>
          ) : null}
          {failure && !isAbsent ? <FailureMessage failure={failure} /> : null}
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
        <FormFoot onClose={onClose} keep={t("close")} busy={isBusy} label={t("go")} />
      </form>
    </Dialog>
  );
}

/** Normalizes a pasted hash to the API's format; undefined if invalid. */
export function readHash(text: string): string | undefined {
  const match = /^(?:(blake3|sha256):)?([0-9a-f]{64})$/.exec(text.trim().toLowerCase());
  return match ? `${match[1] ?? "blake3"}:${match[2]}` : undefined;
}
