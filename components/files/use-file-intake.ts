import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent } from "react";
import { showToast } from "@/components/ui/toast-store";
import { patiently } from "@/lib/browser/bulk/bulk-calls";
import { type Dropped } from "@/lib/browser/files/dropped-files";
import { upload } from "@/lib/browser/uploads/upload";
import { coalesce } from "@/lib/shared/async";
import { within } from "./crumbs";
import { createFileUploads, type FileUpload, type FileUploads, type SendFile } from "./file-uploads";
import { fileApiPath } from "./files-address";

const sendFile: SendFile = ({ path, file, connection, act }, { overwrite, signal, onProgress }) =>
  patiently(
    () => upload(fileApiPath(path, { connection, overwrite, full_info: true }), { bytes: file, onProgress, signal, act }),
    // A folder of many files meets a rate limit that one file never does.
    { signal, onWait: () => undefined },
  );

let uploads: FileUploads | undefined;
const whenStored = new Set<(upload: FileUpload) => void>();

/** The uploads of this tab: created when a page first asks for them, and kept across pages. */
function tabFileUploads(): FileUploads {
  uploads ??= createFileUploads(sendFile, (upload) => {
    for (const tell of whenStored) tell(upload);
  });
  return uploads;
}

function onFileStored(tell: (upload: FileUpload) => void): () => void {
  whenStored.add(tell);
  return () => whenStored.delete(tell);
}

type Choices = { connection: string | undefined; refresh: () => Promise<unknown> };

/** Takes files for upload, reports skipped ones, and refreshes the list while they are stored. */
export function useFileIntake({ connection, refresh }: Choices) {
  const t = useTranslations("files.upload");
  const uploads = tabFileUploads();
  const onStored = useEffectEvent(() => refresh());
  // Otherwise three hundred files would refresh the list three hundred times.
  useEffect(() => {
    const again = coalesce(() => onStored());
    return onFileStored(() => void again());
  }, []);
  function addTo(dir: string, { files, unreadable, leftOut, isCut }: Dropped) {
    uploads.add(
      files.map(({ path, file }) => ({ path: within(dir, path), file })),
      connection,
    );
    if (files.length + unreadable + leftOut === 0) showToast({ tone: "wait", text: t("nothing") });
    if (leftOut > 0) showToast({ tone: "wait", text: t("leftOut", { count: leftOut }) });
    if (unreadable > 0) showToast({ tone: "bad", text: t("unreadable", { count: unreadable }) });
    if (isCut) showToast({ tone: "bad", text: t("cut", { count: files.length }) });
  }
  return { uploads, addTo };
}
