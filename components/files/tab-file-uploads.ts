import { patiently } from "@/lib/browser/bulk/patient-call";
import { upload } from "@/lib/browser/uploads/upload";
import { fileApiPath } from "./files-address";
import { createFileUploads, type FileUpload, type FileUploads, type SendFile } from "./file-uploads";

const sendFile: SendFile = ({ path, file, connection, act }, { overwrite, signal, onProgress }) =>
  patiently(
    () => upload(fileApiPath(path, { connection, overwrite, full_info: true }), { bytes: file, onProgress, signal, act }),
    // A folder of many files meets a rate limit that one file never sees.
    { signal, onWait: () => undefined },
  );

let uploads: FileUploads | undefined;
const whenStored = new Set<(upload: FileUpload) => void>();

/** Those of this tab: made when the first page asks for them, and kept over pages. */
export function tabFileUploads(): FileUploads {
  uploads ??= createFileUploads(sendFile, (upload) => {
    for (const tell of whenStored) tell(upload);
  });
  return uploads;
}

export function onFileStored(tell: (upload: FileUpload) => void): () => void {
  whenStored.add(tell);
  return () => whenStored.delete(tell);
}
