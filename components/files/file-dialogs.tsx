import { useTranslations } from "next-intl";
import { type FormEvent, useRef, useState } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import { BulkLines } from "@/components/data-table/bulk/bulk-lines";
import { summarize, useBulkOperations } from "@/components/data-table/bulk/use-bulk-operations";
import { FailureMessage, formatFailure } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { InputField } from "@/components/ui/controls/fields";
import { Dialog, DialogFooter, FormFooter } from "@/components/ui/dialog";
import { useFilePicker } from "@/components/ui/hooks/use-file-picker";
import { type Tone } from "@/components/ui/status-badge";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { affectsAllCalls, type BatchOutcome, type BulkCallContext, callWithRetry, runInBatches } from "@/lib/browser/bulk/bulk-calls";
import { type DroppedFiles, readFileInput } from "@/lib/browser/files/dropped-files";
import { addFolderPath } from "@/lib/contract/assets/file-refs";
import { isMissingOperation } from "@/lib/contract/failure";
import { type UserdataFile } from "@/lib/contract/operations/files";
import { failed, ok, type Result } from "@/lib/shared/result";
import { getFileApiPath, getMoveApiPath, listApiPath, normalizePath } from "./files-view";

type NewFolderEntry = { connection: string | undefined; path: string };

/** Folders created in this tab that contain no file yet. */
const newFoldersStore = createStore<readonly NewFolderEntry[]>(() => []);

export function useNewFolders(connection: string | undefined) {
  const newFolders = useStore(newFoldersStore).filter((entry) => entry.connection === connection);
  return {
    paths: newFolders.map(({ path }) => path),
    add: (path: string) => newFoldersStore.setState([...newFoldersStore.getState(), { connection, path }], true),
    remove: (path: string) =>
      newFoldersStore.setState(
        newFoldersStore.getState().filter((entry) => entry.connection !== connection || entry.path !== path),
        true,
      ),
  };
}

type NewFolderProps = { onCreate: (name: string) => void; onFiles: (name: string, dropped: DroppedFiles) => void };

/** Uploads the chosen files into a new folder, since services don't store empty folders. */
export function NewFolder(props: NewFolderProps) {
  const t = useTranslations("files.newFolder");
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t("act")}</Button>
      <Dialog isOpen={isOpen} onClose={close} title={t("act")}>
        <NewFolderForm {...props} onClose={close} />
      </Dialog>
    </>
  );
}

function NewFolderForm({ onCreate, onFiles, onClose }: NewFolderProps & { onClose: () => void }) {
  const t = useTranslations("files.newFolder");
  const [nameInput, setNameInput] = useState("");
  const name = normalizePath(nameInput);
  const filePicker = useFilePicker({
    isMultiple: true,
    onFiles(files) {
      if (name === undefined) return;
      onClose();
      onFiles(name, readFileInput(files));
    },
  });
  function create(event: FormEvent) {
    event.preventDefault();
    if (name === undefined) return;
    onClose();
    onCreate(name);
  }
  return (
    <form onSubmit={create} autoComplete="off">
      <InputField
        label={t("name")}
        hint={t("hint")}
        error={nameInput.trim() !== "" && name === undefined ? t("odd") : undefined}
        value={nameInput}
        onChange={(event) => setNameInput(event.currentTarget.value)}
        autoFocus
      />
      {filePicker.input}
      <DialogFooter>
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button onClick={filePicker.open} disabled={name === undefined}>
          {t("pick")}
        </Button>
        <Button type="submit" tone="primary" disabled={name === undefined}>
          {t("create")}
        </Button>
      </DialogFooter>
    </form>
  );
}

type MoveFileProps = { path: string; connection: string | undefined; onMoved: (newPath: string) => void };

/** Renames or moves a file by its path. Replacing a file needs a second click on a warning button. */
export function MoveFile(props: MoveFileProps) {
  const t = useTranslations("files.move");
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t("act")}</Button>
      <Dialog isOpen={isOpen} onClose={close} title={t("title", { path: props.path })}>
        <MoveForm {...props} onClose={close} />
      </Dialog>
    </>
  );
}

function MoveForm({ path, connection, onMoved, onClose }: MoveFileProps & { onClose: () => void }) {
  const t = useTranslations("files.move");
  const [pathInput, setPathInput] = useState(path);
  const [isBusy, setBusy] = useState(false);
  const [isTaken, setTaken] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const newPath = normalizePath(pathInput);
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (newPath === undefined || newPath === path || isBusy) return;
    setBusy(true);
    setFailure(undefined);
    const moveResult = await callApi<UserdataFile>(getMoveApiPath(path, newPath, { connection, overwrite: isTaken }), { method: "POST" });
    setBusy(false);
    if (moveResult.ok) {
      onClose();
      // Services may normalize the name, so the returned path is used.
      return onMoved(moveResult.value.path);
    }
    if (moveResult.failure.status === 409 && !isTaken) return setTaken(true);
    if (isMissingOperation(moveResult.failure)) return onClose();
    setFailure(moveResult.failure);
  }
  return (
    <form onSubmit={(event) => void submit(event)} autoComplete="off">
      <InputField
        label={t("to")}
        hint={t("hint")}
        error={isTaken ? t("taken") : pathInput.trim() !== "" && newPath === undefined ? t("odd") : undefined}
        value={pathInput}
        autoFocus
        onChange={(event) => {
          setPathInput(event.currentTarget.value);
          setTaken(false);
        }}
      />
      {failure ? <FailureMessage failure={failure} className="mt-3" /> : null}
      <FormFooter
        onClose={onClose}
        cancelLabel={t("cancel")}
        tone={isTaken ? "danger" : "primary"}
        busy={isBusy}
        disabled={newPath === undefined || newPath === path}
        label={t(isTaken ? "replace" : "send")}
      />
    </form>
  );
}

const outcomes = ["deleted", "unable", "unknown", "failed", "notDone"] as const;
type Outcome = (typeof outcomes)[number];
/** `id`: the file's path. */
type FileDeletion = { id: string; outcome: Outcome; failure?: ApiFailure };

const MAX_CONCURRENT_DELETIONS = 4;

/** The files of these entries. Folders are replaced by all files below them. */
export async function listFiles(paths: readonly string[], connection: string | undefined): Promise<Result<{ id: string }[], ApiFailure>> {
  const files = new Set(paths.filter((path) => !path.endsWith("/")));
  for (const folder of paths.filter((path) => path.endsWith("/"))) {
    const result = await callApi<UserdataFile[]>(listApiPath(folder, connection ?? ""), { cache: "no-store" });
    if (!result.ok) return failed(result.failure);
    for (const { path } of addFolderPath(result.value, folder)) files.add(path);
  }
  return ok([...files].map((id) => ({ id })));
}

/** Deletes the files, a few at a time. Stops at a failure that would affect every other file too. */
export function deleteFiles(files: readonly { id: string }[], context: BulkCallContext): Promise<FileDeletion[]> {
  async function deleteBatch(batch: readonly { id: string }[]): Promise<BatchOutcome<FileDeletion>> {
    const entries = await Promise.all(batch.map(({ id }) => deleteFile(id, context)));
    return { entries, shouldStop: entries.some(({ failure }) => failure && (affectsAllCalls(failure) || isMissingOperation(failure))) };
  }
  return runInBatches(files, context.isLeaving ? Math.max(1, files.length) : MAX_CONCURRENT_DELETIONS, deleteBatch, context);
}

async function deleteFile(id: string, context: BulkCallContext): Promise<FileDeletion> {
  const result = await callWithRetry(getFileApiPath(id, { connection: context.connection }), { method: "DELETE" }, context);
  if (result.ok) return { id, outcome: "deleted" };
  const { failure } = result;
  const isUnknown = failure.status === 0 || failure.status >= 500;
  return { id, outcome: isMissingOperation(failure) ? "unable" : isUnknown ? "unknown" : "failed", failure };
}

const toneByOutcome: Readonly<Record<Outcome, Tone>> = { deleted: "ok", unable: "off", unknown: "bad", failed: "bad", notDone: "off" };
const getTone = (outcome: Outcome) => toneByOutcome[outcome];
/** Deleting is idempotent. */
const isRetryable = ({ outcome }: FileDeletion) => outcome === "unknown" || outcome === "failed" || outcome === "notDone";

function useSummarizeEntries() {
  const t = useTranslations("files.removal.count");
  return (entries: readonly FileDeletion[]) =>
    summarize(outcomes, entries, { getTone, getText: ({ outcome, count }) => t(outcome, { count }) });
}

/** Deletions can be undone for a moment. They continue after leaving the page. */
export function useFileRemoval({ connection, refresh }: { connection: string | undefined; refresh: () => Promise<unknown> }) {
  const t = useTranslations("files.removal");
  const summarizeEntries = useSummarizeEntries();
  const work = useBulkOperations<"delete", { id: string }, FileDeletion>({
    connection,
    execute: ({ items }, context) => deleteFiles(items, context),
    onDone: () => void refresh(),
    onRestored: (_action, items) => showToast({ tone: "off", text: t("back", { count: items.length }) }),
    onUnfinished: (entries) => showToast(summarizeEntries(entries)),
    shouldOutlivePage: true,
  });
  /** The paths being listed. Prevents a double click from deleting them twice. */
  const listedPaths = useRef(new Set<string>());
  const busyIds = work.operations.flatMap(({ phase }) =>
    phase.kind === "undoable" || phase.kind === "working" ? phase.items.map(({ id }) => id) : [],
  );
  return {
    ...work,
    isBusy: (path: string) => busyIds.some((id) => (path.endsWith("/") ? id.startsWith(path) : id === path)),
    async remove(paths: readonly string[]): Promise<void> {
      const newPaths = paths.filter((path) => !listedPaths.current.has(path));
      if (newPaths.length === 0) return;
      work.dismissEnded();
      for (const path of newPaths) listedPaths.current.add(path);
      const filesResult = await listFiles(newPaths, connection);
      for (const path of newPaths) listedPaths.current.delete(path);
      if (filesResult.ok) work.schedule({ action: "delete", items: filesResult.value });
      else work.fail(filesResult.failure);
    },
  };
}

export function RemovalLines({ removal }: { removal: ReturnType<typeof useFileRemoval> }) {
  const t = useTranslations("files.removal");
  const errors = useTranslations("errors");
  const summarizeEntries = useSummarizeEntries();
  return (
    <BulkLines
      namespace="files.removal"
      actions={removal}
      getUndoableText={({ items }) => t("undoable", { count: items.length })}
      getWorkingText={({ doneCount, items }) => t("working", { done: doneCount, total: items.length })}
      summarize={summarizeEntries}
      getFailureText={(failure) => formatFailure(errors, failure)}
      isRetryable={isRetryable}
      entryAppearance={{
        getTone: ({ outcome }) => getTone(outcome),
        getText: ({ outcome, failure }) =>
          [t(`outcome.${outcome}`), failure && outcome !== "unable" && formatFailure(errors, failure)].filter(Boolean).join(" "),
        getName: () => undefined,
      }}
    />
  );
}
