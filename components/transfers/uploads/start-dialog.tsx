import { useLocale, useTranslations } from "next-intl";
import { useEffect, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { tellStored } from "@/components/frame/stored-assets";
import { Button } from "@/components/ui/controls/button";
import { Checkbox, Input, Select } from "@/components/ui/controls/fields";
import { FormField } from "@/components/ui/controls/form-field";
import { Dialog, DialogFoot } from "@/components/ui/dialog";
import { Link } from "@/components/ui/link";
import { callApi } from "@/lib/browser/api";
import { type Dropped } from "@/lib/browser/files/dropped-files";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { offerHash } from "@/lib/browser/uploads/offer-hash";
import { hashFirstUpTo } from "@/lib/browser/uploads/upload";
import { withQuery } from "@/lib/browser/urls";
import { lacksOperation } from "@/lib/contract/failure";
import { type Features } from "@/lib/contract/operations/service";
import { formatBytes } from "@/lib/shared/format";
import { aboutFile, AboutForm, type DraftFaults, type FolderUse, newDraft, readDraft, uploadHabits, usualHabits } from "./about-form";
import { tabUploads } from "./tab-uploads";
import { type StoredAsset } from "./upload-item";
import { type NewUpload } from "./upload-store";

const SHOWN = 4;
const folderUses = ["none", "tags", "name"] as const;

type StartDialogProps = {
  /** Undefined while folders are read. */
  dropped: Dropped | undefined;
  connection?: { id: string; name: string };
  onStart: (uploads: NewUpload[]) => void;
  onClose: () => void;
};

/** The files about to be added, and their description. Enter adds them. */
export function StartDialog({ dropped, connection, onStart, onClose }: StartDialogProps) {
  const t = useTranslations("uploads.start");
  const locale = useLocale();
  const [draft, setDraft] = useState(() => ({ ...newDraft, tags: uploadHabits.get().tags }));
  const [faults, setFaults] = useState<DraftFaults>({});
  const [use, setUse] = useState<FolderUse>("none");
  const [isLast, setLast] = useState(() => !uploadHabits.get().ask);
  const [isEmptyOut, setEmptyOut] = useState(true);
  const limit = useUploadLimit(connection?.id);
  const atOnce = hashFirstUpTo(tabUploads.speeds());

  if (!dropped) return <Dialog isOpen onClose={onClose} title={t("reading")} actions={<Button onClick={onClose}>{t("cancel")}</Button>} />;
  const { unreadable, leftOut, isCut } = dropped;
  const empty = dropped.files.filter(({ file }) => file.size === 0).length;
  const files = isEmptyOut ? dropped.files.filter(({ file }) => file.size > 0) : dropped.files;
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  const tooLarge = limit === undefined ? 0 : files.filter(({ file }) => file.size > limit).length;
  const hasFolders = files.some(({ path }) => path.includes("/"));

  function start() {
    // A name is for a single file: it may have been typed before others were added.
    const about = readDraft(files.length === 1 ? draft : { ...draft, name: "" });
    if (!about.ok) return setFaults(about.failure);
    uploadHabits.set(isLast ? { ask: false, tags: draft.tags } : usualHabits);
    onStart(files.map(({ file, path }) => ({ file, about: aboutFile(about.value, path, use) })));
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
          {files.slice(0, SHOWN).map(({ path, file }, at) => (
            <li key={at} className="flex gap-3">
              <span className="min-w-0 flex-1 truncate" title={path}>
                {path}
              </span>
              <span className="shrink-0 text-ink-3">{formatBytes(file.size, locale)}</span>
            </li>
          ))}
          {files.length > SHOWN ? <li className="text-ink-3">{t("more", { count: files.length - SHOWN })}</li> : null}
        </ul>
        <p>
          {t("size", { size: formatBytes(bytes, locale), connection: connection?.name ?? "" })}{" "}
          {atOnce === undefined ? t("hashFirst") : t("atOnce", { size: formatBytes(atOnce, locale) })}
        </p>
        {leftOut > 0 ? <p>{t("leftOut", { count: leftOut })}</p> : null}
        {empty > 0 ? (
          <label className="flex items-center gap-2 text-ink">
            <Checkbox checked={isEmptyOut} onChange={({ target }) => setEmptyOut(target.checked)} />
            {t("empty", { count: empty })}
          </label>
        ) : null}
        {unreadable > 0 ? <p className="text-bad">{t("unreadable", { count: unreadable })}</p> : null}
        {isCut ? <p className="text-bad">{t("cut", { count: files.length })}</p> : null}
        {tooLarge > 0 ? <p className="text-bad">{t("tooLarge", { count: tooLarge, limit: formatBytes(limit ?? 0, locale) })}</p> : null}
        <AboutForm
          connection={connection?.id}
          draft={draft}
          faults={faults}
          onChange={setDraft}
          withName={files.length === 1}
          withHashHint
        />
        {hasFolders ? (
          <FormField label={<span className="text-ink">{t("folders")}</span>}>
            {(control) => (
              <Select {...control} value={use} onChange={({ target }) => setUse(folderUses.find((one) => one === target.value) ?? "none")}>
                {folderUses.map((one) => (
                  <option key={one} value={one}>
                    {t(`folderUse.${one}`)}
                  </option>
                ))}
              </Select>
            )}
          </FormField>
        ) : null}
        <label className="flex items-center gap-2">
          <Checkbox checked={isLast} onChange={({ target }) => setLast(target.checked)} />
          {t("dontAsk")}
        </label>
        <DialogFoot>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button type="submit" tone="primary" autoFocus disabled={files.length === 0}>
            {t("go")}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  );
}

/** The largest file that the service accepts; undefined if it does not say. */
function useUploadLimit(connection: string | undefined): number | undefined {
  const [limit, setLimit] = useState<number>();
  useEffect(() => {
    const asking = new AbortController();
    void callApi<Features | null>(withQuery("/api/console/optional/features", { connection }), {
      signal: asking.signal,
    }).then((answer) => {
      if (!asking.signal.aborted) setLimit(answer.ok ? answer.value?.max_upload_size : undefined);
    });
    return () => asking.abort();
  }, [connection]);
  return limit;
}

/** Makes an asset of existing content, by its hash alone. */
export function HashDialog({ connection, onClose }: { connection?: string; onClose: () => void }) {
  const t = useTranslations("uploads.hash");
  const [text, setText] = useState("");
  const [draft, setDraft] = useState(() => ({ ...newDraft, tags: uploadHabits.get().tags }));
  const [faults, setFaults] = useState<DraftFaults & { hash?: true; noTags?: true }>({});
  const [failure, setFailure] = useState<ApiFailure>();
  const [made, setMade] = useState<StoredAsset>();
  const [notMade, setNotMade] = useState<"unknown" | "notMade" | "unsure">();
  const [isBusy, setBusy] = useState(false);

  async function add() {
    const hash = readHash(text);
    const about = readDraft(draft);
    const noTags = about.ok && about.value.tags.length === 0;
    setFaults({ ...(!about.ok && about.failure), ...(!hash && { hash: true }), ...(noTags && { noTags: true }) });
    if (!hash || !about.ok || noTags) return;
    setBusy(true);
    setFailure(undefined);
    setNotMade(undefined);
    setMade(undefined);
    const { name, tags, metadata, previewId } = about.value;
    const body = { hash, tags, ...(name !== "" && { name }), ...(Object.keys(metadata).length > 0 && { user_metadata: metadata }) };
    const answer = await offerHash<StoredAsset>(body, { connection });
    const asset = answer.ok && answer.value.kind === "made" ? answer.value.asset : undefined;
    const written =
      asset && previewId !== undefined
        ? await callApi(withQuery(`/api/assets/${encodeURIComponent(asset.id)}`, { connection }), {
            method: "PUT",
            json: { preview_id: previewId },
          })
        : answer;
    setBusy(false);
    if (asset) {
      setMade(asset);
      tellStored();
    }
    if (answer.ok && answer.value.kind !== "made") {
      setNotMade(answer.value.kind);
      if ("failure" in answer.value) setFailure(answer.value.failure);
    }
    if (!written.ok) setFailure(written.failure);
  }

  const isAbsent = failure !== undefined && lacksOperation(failure);
  return (
    <Dialog isOpen onClose={onClose} title={t("title")} className="w-[min(560px,calc(100vw-24px))]">
      <form
        className="flex flex-col gap-3 text-ink"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) void add();
        }}
      >
        <FormField label={t("hash")} hint={t("hint")} error={faults.hash && t("fault")}>
          {(control) => (
            <Input
              {...control}
              value={text}
              spellCheck={false}
              autoComplete="off"
              className="font-mono"
              onChange={({ target }) => setText(target.value)}
            />
          )}
        </FormField>
        <AboutForm connection={connection} draft={draft} faults={faults} onChange={setDraft} withName isNameless />
        {faults.noTags ? <p className="text-sm text-bad">{t("tagsNeeded")}</p> : null}
        <div aria-live="polite">
          {notMade || isAbsent ? (
            <p className="mb-2 rounded-md bg-bad-soft px-3 py-2">{t(isAbsent ? "absent" : (notMade ?? "unknown"))}</p>
          ) : null}
          {failure && !isAbsent ? <FailureMessage failure={failure} /> : null}
          {made ? (
            <p className="rounded-md bg-ok-soft px-3 py-2">
              {t(made.created_new === false ? "existing" : "made")}{" "}
              <Link
                href={withQuery(`/assets/${encodeURIComponent(made.id)}`, { connection })}
                className="underline underline-offset-2"
                onClick={onClose}
              >
                {t("open", { name: made.name || made.id })}
              </Link>
            </p>
          ) : null}
        </div>
        <DialogFoot>
          <Button onClick={onClose}>{t("close")}</Button>
          <Button type="submit" tone="primary" busy={isBusy}>
            {t("go")}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  );
}

/** A pasted hash in the interface's spelling; undefined if it is no hash. */
export function readHash(text: string): string | undefined {
  const found = /^(?:(blake3|sha256):)?([0-9a-f]{64})$/.exec(text.trim().toLowerCase());
  return found ? `${found[1] ?? "blake3"}:${found[2]}` : undefined;
}
