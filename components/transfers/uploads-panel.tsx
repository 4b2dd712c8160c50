import { useLocale } from "next-intl";
import { use, useEffect, useEffectEvent, useRef, useState, useSyncExternalStore } from "react";
import { type CurrentConnection } from "@/components/frame/connection/current-connection";
import { PageMessages } from "@/components/frame/page-header";
import { useCloseWarning } from "@/components/ui/hooks/page-events";
import { type DroppedFiles } from "@/lib/browser/files/dropped-files";
import { hasFeature } from "@/lib/contract/connections";
import { type Language } from "@/lib/shared/languages";
import { UrlDialog } from "./downloads/url-dialog";
import { type TrayView, UploadTray } from "./upload-tray";
import { fieldsForFile, newDraft, readDraft, uploadPreferences } from "./uploads/asset-fields-form";
import { DescribeAllDialog, ItemDialog } from "./uploads/item-dialog";
import { HashDialog, StartDialog } from "./uploads/start-dialog";
import { isAlarm, type UploadRequest } from "./uploads/upload-item";
import { useDownloads } from "./uploads/upload-list";
import { countUploads } from "./uploads/upload-state";
import { type NewUpload, tabUploads } from "./uploads/upload-store";

type UploadsPanelProps = { request: UploadRequest; connection?: CurrentConnection; canAdd: boolean };

/** The messages load together with this component, once a file is added. */
const loadMessages = {
  en: () => import("@/lib/messages/en/uploads.json"),
  "zh-CN": () => import("@/lib/messages/zh-CN/uploads.json"),
} satisfies Record<Language, () => Promise<unknown>>;
const messagesByLanguage = new Map<Language, ReturnType<(typeof loadMessages)["en"]>>();

function getMessages(language: Language) {
  const cachedMessages = messagesByLanguage.get(language) ?? loadMessages[language]();
  messagesByLanguage.set(language, cachedMessages);
  return cachedMessages;
}

export function UploadsPanel(props: UploadsPanelProps) {
  const { default: uploads } = use(getMessages(useLocale()));
  return (
    <PageMessages messages={{ uploads }}>
      <Panel {...props} />
    </PageMessages>
  );
}

type Open = { kind: "url"; text: string } | { kind: "hash" } | { kind: "item"; key: number } | { kind: "all" } | undefined;

function Panel({ request, connection, canAdd }: UploadsPanelProps) {
  const queue = useSyncExternalStore(tabUploads.subscribe, tabUploads.get, tabUploads.get);
  const downloads = useDownloads(connection?.id);
  const [open, setOpen] = useState<Open>();
  const [isShown, setShown] = useState(false);
  const [isFolded, setFolded] = useState(false);
  const [view, setView] = useState<TrayView>("uploads");
  const close = () => setOpen(undefined);

  function add(uploads: readonly NewUpload[]) {
    tabUploads.add(uploads, connection?.id, !hasFeature(connection, "clientIds"));
    setShown(true);
    setFolded(false);
    setView("uploads");
  }
  const { coming, added, cancel } = useIncomingFiles(request, add);

  const [handledCount, setHandledCount] = useState(0);
  if (request.id !== handledCount) {
    setHandledCount(request.id);
    if (request.source === "hash") setOpen({ kind: "hash" });
    else if (request.source === "url") {
      const before = open?.kind === "url" ? open.text : "";
      setOpen({ kind: "url", text: [before, request.address ?? ""].filter((text) => text !== "").join("\n") });
    } else if (request.source !== "files") {
      setShown(true);
      setFolded(request.source === "resume");
      if (request.source === "resume") setView("downloads");
    }
  }
  const { unfinished, all } = countUploads(queue.items);
  useCloseWarning(unfinished > 0 || queue.items.some(isAlarm));

  const item = open?.kind === "item" ? queue.items.find(({ key }) => key === open.key) : undefined;
  return (
    <>
      {isShown || all > 0 ? (
        <UploadTray
          queue={queue}
          downloads={downloads}
          connection={connection?.id}
          canAdd={canAdd}
          view={view}
          isFolded={isFolded}
          onView={setView}
          onFold={setFolded}
          onDetails={(key) => setOpen({ kind: "item", key })}
          onDescribeAll={() => setOpen({ kind: "all" })}
          onClose={() => {
            tabUploads.clear();
            setShown(false);
          }}
        />
      ) : null}
      {open?.kind === "url" ? (
        <UrlDialog
          connection={connection?.id}
          text={open.text}
          onText={(text) => setOpen((current) => (current?.kind === "url" ? { kind: "url", text } : current))}
          onStarted={() => {
            setShown(true);
            setView("downloads");
            setFolded(false);
            void downloads.refresh();
          }}
          onClose={close}
        />
      ) : null}
      {open?.kind === "hash" ? <HashDialog connection={connection?.id} onClose={close} /> : null}
      {item ? <ItemDialog key={item.key} item={item} onClose={close} /> : null}
      {open?.kind === "all" ? <DescribeAllDialog items={queue.items} onClose={close} /> : null}
      {coming ? (
        <StartDialog
          dropped={coming.dropped}
          connection={connection}
          onStart={(uploads) => {
            added();
            add(uploads);
          }}
          onClose={cancel}
        />
      ) : null}
    </>
  );
}

/** `dropped` is undefined while folders are read. */
type IncomingUpload = { dropped?: DroppedFiles };

/** Dropped, pasted or picked files that wait to be added. Later ones join them, unless the batch was cancelled while it was read. */
function useIncomingFiles(request: UploadRequest, onPlain: (uploads: readonly NewUpload[]) => void) {
  const [incoming, setIncoming] = useState<IncomingUpload>();
  const [lastRequestId, setLastRequestId] = useState(0);
  const handledId = useRef(0);
  const cancelled = useRef(0);
  if (request.source === "files" && request.id !== lastRequestId) {
    setLastRequestId(request.id);
    if (!incoming) setIncoming({});
  }

  const handleDropped = useEffectEvent((dropped: DroppedFiles) => {
    const preferences = uploadPreferences.get();
    const fields = readDraft({ ...newDraft, tags: preferences.tags });
    const waiting = incoming?.dropped;
    if (waiting || preferences.ask || !canAddDirectly(dropped) || !fields.ok)
      return setIncoming({ dropped: waiting ? mergeDropped(waiting, dropped) : dropped });
    setIncoming(undefined);
    onPlain(dropped.files.map(({ file, path }) => ({ file, assetFields: fieldsForFile(fields.value, path, "none") })));
  });
  useEffect(() => {
    if (request.source !== "files" || request.id <= handledId.current) return;
    const { id } = request;
    handledId.current = id;
    void request.dropped.then((dropped) => {
      if (id > cancelled.current) handleDropped(dropped);
    });
  }, [request]);

  return {
    coming: incoming,
    added: () => setIncoming(undefined),
    cancel() {
      cancelled.current = handledId.current;
      setIncoming(undefined);
    },
  };
}

/** False if the user must first see exceeded limits, or empty or skipped files. */
function canAddDirectly({ files, unreadable, leftOut, isCut }: DroppedFiles): boolean {
  return files.length > 0 && files.every(({ file }) => file.size > 0) && unreadable + leftOut === 0 && !isCut;
}

function mergeDropped(before: DroppedFiles, dropped: DroppedFiles): DroppedFiles {
  return {
    files: [...before.files, ...dropped.files],
    unreadable: before.unreadable + dropped.unreadable,
    leftOut: before.leftOut + dropped.leftOut,
    isCut: before.isCut || dropped.isCut,
  };
}
