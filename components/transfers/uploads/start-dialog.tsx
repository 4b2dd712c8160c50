import { useLocale, useTranslations } from "next-intl";
import { useEffect, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { Checkbox } from "@/components/ui/controls/checkbox";
import { FormField } from "@/components/ui/controls/form-field";
import { Select } from "@/components/ui/controls/select";
import { Dialog, DialogFoot } from "@/components/ui/dialog";
import { callApi } from "@/lib/browser/api";
import { type Dropped } from "@/lib/browser/files/dropped-files";
import { hashFirstUpTo } from "@/lib/browser/uploads/upload";
import { withQuery } from "@/lib/browser/urls";
import { type Features } from "@/lib/contract/operations/service";
import { formatBytes } from "@/lib/shared/format";
import { aboutFile, type DraftFaults, type FolderUse, newDraft, readDraft } from "./about";
import { AboutForm } from "./about-form";
import { tabUploads } from "./tab-uploads";
import { uploadHabits, usualHabits } from "./upload-habits";
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
