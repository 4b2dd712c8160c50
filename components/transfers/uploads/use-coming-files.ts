import { useEffect, useEffectEvent, useRef, useState } from "react";
import { type Dropped } from "@/lib/browser/files/dropped-files";
import { aboutFile, newDraft, readDraft } from "./about";
import { uploadHabits } from "./upload-habits";
import { type NewUpload } from "./upload-store";
import { type WayRequest } from "./way-request";

/** `dropped` is undefined while folders are read. */
export type Coming = { dropped?: Dropped };

/** Files dropped, pasted or picked that wait to be added: later ones join them; a batch cancelled while it was read stays away. */
export function useComingFiles(request: WayRequest, onPlain: (uploads: readonly NewUpload[]) => void) {
  const [coming, setComing] = useState<Coming>();
  const [asked, setAsked] = useState(0);
  const taken = useRef(0);
  const cancelled = useRef(0);
  if (request.way === "files" && request.id !== asked) {
    setAsked(request.id);
    if (!coming) setComing({});
  }

  const settle = useEffectEvent((dropped: Dropped) => {
    const habits = uploadHabits.get();
    const about = readDraft({ ...newDraft, tags: habits.tags });
    const waiting = coming?.dropped;
    if (waiting || habits.ask || !isPlain(dropped) || !about.ok)
      return setComing({ dropped: waiting ? joined(waiting, dropped) : dropped });
    setComing(undefined);
    onPlain(dropped.files.map(({ file, path }) => ({ file, about: aboutFile(about.value, path, "none") })));
  });
  useEffect(() => {
    if (request.way !== "files" || request.id <= taken.current) return;
    const { id } = request;
    taken.current = id;
    void request.dropped.then((dropped) => {
      if (id > cancelled.current) settle(dropped);
    });
  }, [request]);

  return {
    coming,
    added: () => setComing(undefined),
    cancel() {
      cancelled.current = taken.current;
      setComing(undefined);
    },
  };
}

/** Exceeded limits, and empty or skipped files, must be shown before anything begins. */
function isPlain({ files, unreadable, leftOut, isCut }: Dropped): boolean {
  return files.length > 0 && files.every(({ file }) => file.size > 0) && unreadable + leftOut === 0 && !isCut;
}

function joined(before: Dropped, more: Dropped): Dropped {
  return {
    files: [...before.files, ...more.files],
    unreadable: before.unreadable + more.unreadable,
    leftOut: before.leftOut + more.leftOut,
    isCut: before.isCut || more.isCut,
  };
}
