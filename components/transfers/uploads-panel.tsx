import { useLocale } from "next-intl";
import { use, useEffect, useEffectEvent, useRef, useState, useSyncExternalStore } from "react";
import { useConnectionParam } from "@/components/frame/connection/connection-context";
import { type CurrentConnection } from "@/components/frame/connection/current-connection";
import { PageMessages } from "@/components/frame/page-header";
import { requestRun } from "@/components/frame/samples/samples";
import { useCloseWarning } from "@/components/ui/hooks/page-events";
import { useRouter } from "@/components/ui/link";
import { showToast } from "@/components/ui/toast-store";
import { type DroppedFiles, type NamedFile } from "@/lib/browser/files/dropped-files";
import { withQuery } from "@/lib/browser/urls";
import { hasFeature } from "@/lib/contract/connections";
import { asObject } from "@/lib/contract/json/json";
import { readWorkflow, workflowLimits } from "@/lib/contract/workflow/read-workflow";
import { type Language } from "@/lib/shared/languages";
import { UrlDialog } from "./downloads/url-dialog";
import { type TrayView, UploadTray } from "./upload-tray";
import { DEFAULT_DRAFT, getFieldsForFile, parseDraft, uploadPreferences } from "./uploads/asset-fields-form";
import { EditAllDialog, ItemDialog } from "./uploads/item-dialog";
import { HashDialog, StartDialog } from "./uploads/start-dialog";
import { hasContentMismatch, type UploadRequest } from "./uploads/upload-item";
import { useDownloads } from "./uploads/upload-list";
import { countUploads } from "./uploads/upload-state";
import { type NewUpload, tabUploads } from "./uploads/upload-store";

type UploadsPanelProps = { request: UploadRequest; connection?: CurrentConnection; canAdd: boolean };

/** The messages load together with this component when the first file is added. */
const loadMessages = {
  en: () => import("@/lib/messages/en/uploads.json"),
  "zh-CN": () => import("@/lib/messages/zh-CN/uploads.json"),
} satisfies Record<Language, () => Promise<unknown>>;
const messagesByLanguage = new Map<Language, Promise<Awaited<ReturnType<(typeof loadMessages)["en"]>> | undefined>>();

function getMessages(language: Language) {
  const cachedMessages = messagesByLanguage.get(language) ?? loadMessages[language]().catch(() => undefined);
  messagesByLanguage.set(language, cachedMessages);
  return cachedMessages;
}

/** Returns undefined if the messages failed to load. */
export async function loadUploadsPanel(language: Language): Promise<typeof UploadsPanel | undefined> {
  const messages = await getMessages(language);
  if (messages) return UploadsPanel;
  messagesByLanguage.delete(language);
  return undefined;
}

export function UploadsPanel(props: UploadsPanelProps) {
  const language = useLocale();
  const messages = use(getMessages(language));
  // The language was changed and its messages failed to load. The next render retries.
  useEffect(() => void (messages ?? messagesByLanguage.delete(language)));
  if (!messages) return null;
  return (
    <PageMessages messages={{ uploads: messages.default }}>
      <Panel {...props} />
    </PageMessages>
  );
}

type OpenDialog = { kind: "url"; text: string } | { kind: "hash" } | { kind: "item"; key: number } | { kind: "all" } | undefined;

function Panel({ request, connection, canAdd }: UploadsPanelProps) {
  const queue = useSyncExternalStore(tabUploads.subscribe, tabUploads.get, tabUploads.get);
  const downloads = useDownloads(connection?.id);
  const [openDialog, setOpenDialog] = useState<OpenDialog>();
  const [isShown, setShown] = useState(false);
  const [isCollapsed, setCollapsed] = useState(false);
  const [view, setView] = useState<TrayView>("uploads");
  const closeDialog = () => setOpenDialog(undefined);

  function addUploads(uploads: readonly NewUpload[]) {
    tabUploads.add(uploads, connection?.id, !hasFeature(connection, "clientIds"));
    setShown(true);
    setCollapsed(false);
    setView("uploads");
  }
  const { incomingUpload, clearIncoming, cancel, openWorkflow } = useIncomingFiles(request, addUploads);

  const [handledRequestId, setHandledRequestId] = useState(0);
  if (request.id !== handledRequestId) {
    setHandledRequestId(request.id);
    if (request.source === "hash") setOpenDialog({ kind: "hash" });
    else if (request.source === "url") {
      const currentText = openDialog?.kind === "url" ? openDialog.text : "";
      setOpenDialog({ kind: "url", text: [currentText, request.urls ?? ""].filter((text) => text !== "").join("\n") });
    } else if (request.source !== "files") {
      setShown(true);
      setCollapsed(request.source === "resume");
      if (request.source === "resume") setView("downloads");
    }
  }
  const counts = countUploads(queue.items);
  useCloseWarning(counts.unfinished > 0 || queue.items.some(hasContentMismatch));

  const item = openDialog?.kind === "item" ? queue.items.find(({ key }) => key === openDialog.key) : undefined;
  return (
    <>
      {isShown || counts.all > 0 ? (
        <UploadTray
          queue={queue}
          downloads={downloads}
          connection={connection?.id}
          canAdd={canAdd}
          view={view}
          isCollapsed={isCollapsed}
          onView={setView}
          onCollapse={setCollapsed}
          onDetails={(key) => setOpenDialog({ kind: "item", key })}
          onEditAll={() => setOpenDialog({ kind: "all" })}
          onClose={() => {
            tabUploads.clearStored();
            setShown(false);
          }}
        />
      ) : null}
      {openDialog?.kind === "url" ? (
        <UrlDialog
          connection={connection?.id}
          text={openDialog.text}
          onText={(text) => setOpenDialog((current) => (current?.kind === "url" ? { kind: "url", text } : current))}
          onStarted={() => {
            setShown(true);
            setView("downloads");
            setCollapsed(false);
            void downloads.refresh();
          }}
          onClose={closeDialog}
        />
      ) : null}
      {openDialog?.kind === "hash" ? <HashDialog connection={connection?.id} onClose={closeDialog} /> : null}
      {item ? <ItemDialog key={item.key} item={item} onClose={closeDialog} /> : null}
      {openDialog?.kind === "all" ? <EditAllDialog items={queue.items} onClose={closeDialog} /> : null}
      {incomingUpload ? (
        <StartDialog
          dropped={incomingUpload.dropped}
          connection={connection}
          onStart={(uploads) => {
            clearIncoming();
            addUploads(uploads);
          }}
          onOpen={openWorkflow}
          onClose={cancel}
        />
      ) : null}
    </>
  );
}

/** `dropped` is undefined while folders are read. */
type IncomingUpload = { dropped?: DroppedFiles };

/**
 * Collects dropped, pasted or picked files until they are added. Discards files of a batch that was cancelled while it was read. A single
 * dropped workflow opens in Run instead.
 */
function useIncomingFiles(request: UploadRequest, onReady: (uploads: readonly NewUpload[]) => void) {
  const [incomingUpload, setIncoming] = useState<IncomingUpload>();
  const [lastRequestId, setLastRequestId] = useState(0);
  const handledId = useRef(0);
  const cancelledId = useRef(0);
  const router = useRouter();
  const connectionParam = useConnectionParam();
  if (request.source === "files" && request.id !== lastRequestId) {
    setLastRequestId(request.id);
    if (!incomingUpload) setIncoming({});
  }

  function openInRun(files: readonly NamedFile[]) {
    requestRun({ files: files.map(({ file }) => file) });
    router.push(withQuery("/run", { connection: connectionParam }));
  }
  const handleDropped = useEffectEvent((dropped: DroppedFiles, problem: string | undefined) => {
    const workflows = dropped.files.filter(({ isWorkflow }) => isWorkflow);
    if (problem !== undefined && workflows.length === 0) {
      setIncoming(undefined);
      return showToast({ tone: "bad", text: problem });
    }
    if (workflows.length > 0 && (problem !== undefined || (dropped.files.length === 1 && !incomingUpload?.dropped))) {
      setIncoming(undefined);
      return openInRun(workflows);
    }
    const preferences = uploadPreferences.get();
    const fieldsResult = parseDraft({ ...DEFAULT_DRAFT, tags: preferences.tags });
    const waitingFiles = incomingUpload?.dropped;
    if (waitingFiles || preferences.ask || !canAddDirectly(dropped) || !fieldsResult.ok)
      return setIncoming({ dropped: waitingFiles ? mergeDropped(waitingFiles, dropped) : dropped });
    setIncoming(undefined);
    onReady(dropped.files.map(({ file, path }) => ({ file, assetFields: getFieldsForFile(fieldsResult.value, path, "none") })));
  });
  useEffect(() => {
    if (request.source !== "files" || request.id <= handledId.current) return;
    const { id, canOpenWorkflows, problem } = request;
    handledId.current = id;
    void request.dropped
      .then((dropped) => (canOpenWorkflows ? markWorkflows(dropped) : dropped))
      .then((dropped) => {
        if (id > cancelledId.current) handleDropped(dropped, problem);
      });
  }, [request]);

  return {
    incomingUpload,
    clearIncoming: () => setIncoming(undefined),
    cancel() {
      cancelledId.current = handledId.current;
      setIncoming(undefined);
    },
    /** Keeps the other files for adding. Only one workflow can be open at a time. */
    openWorkflow(workflow: NamedFile) {
      const dropped = incomingUpload?.dropped;
      const files = dropped?.files.filter(({ isWorkflow }) => !isWorkflow) ?? [];
      setIncoming(dropped && files.length > 0 ? { dropped: { ...dropped, files } } : undefined);
      openInRun([workflow]);
    },
  };
}

/** Finds workflows in JSON files. Files in folders are not read, since there may be thousands. */
async function markWorkflows(dropped: DroppedFiles): Promise<DroppedFiles> {
  const files: NamedFile[] = [];
  for (const file of dropped.files) files.push({ ...file, isWorkflow: await containsWorkflow(file) });
  return { ...dropped, files };
}

async function containsWorkflow({ path, file }: NamedFile): Promise<boolean> {
  if (!/^[^/]+\.json$/i.test(path) || file.size > workflowLimits.characters) return false;
  const result = readWorkflow(await file.text().catch(() => ""));
  if (result.ok) return true;
  const { failure } = result;
  if (failure.code !== "ui_format" || !Array.isArray(failure.file.nodes)) return false;
  // Other graph files have a list of nodes, too.
  return failure.file.nodes.some((node) => typeof asObject(node)?.type === "string");
}

/** Returns false if the user must first confirm exceeded limits, or empty or skipped files, or may open a workflow. */
function canAddDirectly({ files, unreadableCount, skippedCount, isTruncated }: DroppedFiles): boolean {
  return (
    files.length > 0 &&
    files.every(({ file, isWorkflow }) => file.size > 0 && !isWorkflow) &&
    unreadableCount + skippedCount === 0 &&
    !isTruncated
  );
}

function mergeDropped(earlierFiles: DroppedFiles, dropped: DroppedFiles): DroppedFiles {
  return {
    files: [...earlierFiles.files, ...dropped.files],
    unreadableCount: earlierFiles.unreadableCount + dropped.unreadableCount,
    skippedCount: earlierFiles.skippedCount + dropped.skippedCount,
    isTruncated: earlierFiles.isTruncated || dropped.isTruncated,
  };
}
