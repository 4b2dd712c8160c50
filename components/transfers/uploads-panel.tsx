import { useLocale } from "next-intl";
import { use, useEffect, useState, useSyncExternalStore } from "react";
import { type CurrentConnection } from "@/components/frame/connection/current-connection";
import { PageMessages } from "@/components/frame/page-header";
import { useCloseWarning } from "@/components/ui/hooks/page-events";
import { hasFeature } from "@/lib/contract/connections";
import { type Language } from "@/lib/shared/languages";
import { UrlDialog } from "./downloads/url-dialog";
import { type TrayView, UploadTray } from "./upload-tray";
import { EditAllDialog, ItemDialog } from "./uploads/item-dialog";
import { HashDialog, StartDialog } from "./uploads/start-dialog";
import { hasContentMismatch, type UploadRequest } from "./uploads/upload-item";
import { useDownloads } from "./uploads/upload-list";
import { countUploads } from "./uploads/upload-state";
import { type NewUpload, tabUploads } from "./uploads/upload-store";
import { useIncomingFiles } from "./uploads/use-incoming-files";

/** `requests`: all requests since the page was loaded, because several can arrive while this component loads. */
type UploadsPanelProps = { requests: readonly UploadRequest[]; connection?: CurrentConnection; canAdd: boolean };

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
  // If the messages of a new language fail to load, the next render retries.
  useEffect(() => void (messages ?? messagesByLanguage.delete(language)));
  if (!messages) return null;
  return (
    <PageMessages messages={{ uploads: messages.default }}>
      <Panel {...props} />
    </PageMessages>
  );
}

type OpenDialog = { kind: "url"; text: string } | { kind: "hash" } | { kind: "item"; key: number } | { kind: "all" } | undefined;

function Panel({ requests, connection, canAdd }: UploadsPanelProps) {
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
  const { incomingUpload, clearIncoming, cancel, openWorkflow } = useIncomingFiles(requests, addUploads);

  const [handledCount, setHandledCount] = useState(0);
  if (requests.length > handledCount) setHandledCount(requests.length);
  for (const request of requests.slice(handledCount)) {
    if (request.source === "hash") setOpenDialog({ kind: "hash" });
    else if (request.source === "url") {
      const { urls = "" } = request;
      setOpenDialog((current) => ({
        kind: "url",
        text: [current?.kind === "url" ? current.text : "", urls].filter((text) => text !== "").join("\n"),
      }));
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
