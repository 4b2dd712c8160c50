"use client";

import { useLocale } from "next-intl";
import { use, useEffect, useState, useSyncExternalStore } from "react";
import { type CurrentConnection } from "@/components/frame/connection-context";
import { PageMessages } from "@/components/frame/page-messages";
import { useCloseWarning } from "@/components/ui/use-close-warning";
import { type Dropped } from "@/lib/browser/dropped-files";
import { type Language } from "@/lib/shared/languages";
import { aboutFile, newDraft, readDraft } from "./about";
import { HashDialog } from "./hash-dialog";
import { DescribeAllDialog, ItemDialog } from "./item-dialog";
import { StartDialog } from "./start-dialog";
import { tabUploads } from "./tab-uploads";
import { readHabits } from "./upload-habits";
import { type NewUpload } from "./upload-store";
import { noUploads, tallyOf } from "./upload-state";
import { type TrayView, UploadTray } from "./upload-tray";
import { UrlDialog } from "./url-dialog";
import { useDownloads } from "./use-downloads";
import { useOwnAlarms } from "./use-own-alarms";
import { type WayRequest } from "./way-request";

type RoomProps = { request: WayRequest; connection?: CurrentConnection; canAdd: boolean };

/** The words come with the room: no page carries them before somebody adds a file. */
const loadWords = {
  en: () => import("@/lib/messages/en/uploads.json"),
  "zh-CN": () => import("@/lib/messages/zh-CN/uploads.json"),
} satisfies Record<Language, () => Promise<unknown>>;
const loading = new Map<Language, ReturnType<(typeof loadWords)["en"]>>();

function wordsOf(language: Language) {
  const known = loading.get(language) ?? loadWords[language]();
  loading.set(language, known);
  return known;
}

export function UploadsRoom(props: RoomProps) {
  const { default: uploads } = use(wordsOf(useLocale()));
  return (
    <PageMessages messages={{ uploads }}>
      <Room {...props} />
    </PageMessages>
  );
}

type Open =
  { kind: "start"; dropped?: Dropped } | { kind: "url" } | { kind: "hash" } | { kind: "item"; key: number } | { kind: "all" } | undefined;

function Room({ request, connection, canAdd }: RoomProps) {
  const queue = useSyncExternalStore(tabUploads.subscribe, tabUploads.get, () => noUploads);
  const downloads = useDownloads(connection?.id);
  const [open, setOpen] = useState<Open>();
  const [isShown, setShown] = useState(false);
  const [isFolded, setFolded] = useState(false);
  const [view, setView] = useState<TrayView>("uploads");
  const close = () => setOpen(undefined);

  function add(uploads: readonly NewUpload[]) {
    // A plain local server refuses an id that was made elsewhere, after it has read the whole file.
    tabUploads.add(uploads, connection?.id, connection?.isLocal);
    setOpen(undefined);
    setShown(true);
    setFolded(false);
    setView("uploads");
  }

  const [answered, setAnswered] = useState(0);
  if (request.id !== answered) {
    setAnswered(request.id);
    if (request.way === "url" || request.way === "hash") setOpen({ kind: request.way });
    else if (request.way === "files") setOpen({ kind: "start" });
    else {
      setShown(true);
      setFolded(request.way === "resume");
      if (request.way === "resume") setView("downloads");
    }
  }
  useEffect(() => {
    if (request.way !== "files") return;
    let isWanted = true;
    void request.dropped.then((dropped) => {
      if (!isWanted) return;
      const habits = readHabits();
      const about = readDraft({ ...newDraft, tags: habits.tags });
      // Bounds that were met are something to read before anything begins, and so is what is empty or left out.
      const isPlain =
        dropped.files.length > 0 &&
        dropped.files.every(({ file }) => file.size > 0) &&
        dropped.unreadable + dropped.leftOut === 0 &&
        !dropped.isCut;
      if (habits.ask || !isPlain || !about.ok) setOpen({ kind: "start", dropped });
      else add(dropped.files.map(({ file, path }) => ({ file, about: aboutFile(about.value, path, "none") })));
    });
    return () => void (isWanted = false);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- each request is answered once, with the connection it was made on
  }, [request]);

  const ownAlarms = useOwnAlarms();
  // What this tab still lists has its own line.
  const alarms = ownAlarms.filter(({ id }) => !queue.items.some((item) => item.id === id));
  const { unfinished, all } = tallyOf(queue.items);
  useCloseWarning(unfinished > 0);

  const item = open?.kind === "item" ? queue.items.find(({ key }) => key === open.key) : undefined;
  return (
    <>
      {isShown || all > 0 || alarms.length > 0 ? (
        <UploadTray
          queue={queue}
          alarms={alarms}
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
      {open?.kind === "start" ? <StartDialog dropped={open.dropped} connection={connection} onStart={add} onClose={close} /> : null}
      {open?.kind === "url" ? (
        <UrlDialog
          connection={connection?.id}
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
    </>
  );
}
