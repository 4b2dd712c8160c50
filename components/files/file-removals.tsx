import { useTranslations } from "next-intl";
import { useRef } from "react";
import { BulkLines } from "@/components/data-table/bulk/bulk-lines";
import { summarize, useBulkWork } from "@/components/data-table/bulk/use-bulk-work";
import { failureText } from "@/components/frame/failure/fault-owner";
import { type Tone } from "@/components/ui/status-badge";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { affectsAllCalls, type BatchOutcome, callWithRetry, runInBatches, type Work } from "@/lib/browser/bulk/bulk-calls";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { addFolderPath } from "@/lib/contract/assets/file-refs";
import { isMissingOperation } from "@/lib/contract/failure";
import { type UserdataFile } from "@/lib/contract/operations/files";
import { failed, ok, type Result } from "@/lib/shared/result";
import { fileApiPath, listApiPath } from "./files-view";

const outcomes = ["deleted", "unable", "unknown", "failed", "notDone"] as const;
type Outcome = (typeof outcomes)[number];
/** `id`: the file's path. */
type DeletedFile = { id: string; outcome: Outcome; failure?: ApiFailure };

const MAX_CONCURRENT = 4;

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
export function deleteFiles(files: readonly { id: string }[], work: Work): Promise<DeletedFile[]> {
  async function batch(files: readonly { id: string }[]): Promise<BatchOutcome<DeletedFile>> {
    const entries = await Promise.all(files.map(({ id }) => deleteFile(id, work)));
    return { entries, isOver: entries.some(({ failure }) => failure && (affectsAllCalls(failure) || isMissingOperation(failure))) };
  }
  return runInBatches(files, work.isLeaving ? Math.max(1, files.length) : MAX_CONCURRENT, batch, work);
}

async function deleteFile(id: string, work: Work): Promise<DeletedFile> {
  const result = await callWithRetry(fileApiPath(id, { connection: work.connection }), { method: "DELETE" }, work);
  if (result.ok) return { id, outcome: "deleted" };
  const { failure } = result;
  const isUnknown = failure.status === 0 || failure.status >= 500;
  return { id, outcome: isMissingOperation(failure) ? "unable" : isUnknown ? "unknown" : "failed", failure };
}

const tones: Readonly<Record<Outcome, Tone>> = { deleted: "ok", unable: "off", unknown: "bad", failed: "bad", notDone: "off" };
const getTone = (outcome: Outcome) => tones[outcome];
/** Deleting is idempotent. */
const isRetryable = ({ outcome }: DeletedFile) => outcome === "unknown" || outcome === "failed" || outcome === "notDone";

function useSummarizeEntries() {
  const t = useTranslations("files.removal.count");
  return (entries: readonly DeletedFile[]) =>
    summarize(outcomes, entries, { getTone, getText: ({ outcome, count }) => t(outcome, { count }) });
}

/** Deletions can be undone for a moment. They continue after leaving the page. */
export function useFileRemoval({ connection, refresh }: { connection: string | undefined; refresh: () => Promise<unknown> }) {
  const t = useTranslations("files.removal");
  const summarizeEntries = useSummarizeEntries();
  const work = useBulkWork<"delete", { id: string }, DeletedFile>({
    connection,
    carryOut: ({ items }, context) => deleteFiles(items, context),
    onDone: () => void refresh(),
    onRestored: (_act, items) => showToast({ tone: "off", text: t("back", { count: items.length }) }),
    onUnfinished: (entries) => showToast(summarizeEntries(entries)),
    outlivesPage: true,
  });
  const isListing = useRef(false);
  const busyIds = work.works.flatMap(({ phase }) =>
    phase.kind === "undoable" || phase.kind === "working" ? phase.items.map(({ id }) => id) : [],
  );
  return {
    ...work,
    isBusy: (path: string) => busyIds.some((id) => (path.endsWith("/") ? id.startsWith(path) : id === path)),
    async remove(paths: readonly string[]): Promise<void> {
      if (isListing.current) return;
      work.dismissEnded();
      isListing.current = true;
      const items = await listFiles(paths, connection);
      isListing.current = false;
      if (items.ok) work.schedule({ action: "delete", items: items.value });
      else work.fail(items.failure);
    },
  };
}

export function RemovalLines({ removal }: { removal: ReturnType<typeof useFileRemoval> }) {
  const t = useTranslations("files.removal");
  const errors = useTranslations("errors");
  const summarizeEntries = useSummarizeEntries();
  return (
    <BulkLines
      words="files.removal"
      actions={removal}
      undoableText={({ items }) => t("undoable", { count: items.length })}
      workingText={({ doneCount, items }) => t("working", { done: doneCount, total: items.length })}
      summarize={summarizeEntries}
      failureText={(failure) => failureText(errors, failure)}
      isRetryable={isRetryable}
      entryLook={{
        getTone: ({ outcome }) => getTone(outcome),
        getText: ({ outcome, failure }) =>
          [t(`outcome.${outcome}`), failure && outcome !== "unable" && failureText(errors, failure)].filter(Boolean).join(" "),
        getName: () => undefined,
      }}
    />
  );
}
