import { upload } from "@/lib/browser/upload";
import { withQuery } from "@/lib/browser/urls";
import { createUploadStore, type UploadedAsset } from "./upload-store";

/** One for the tab: uploads outlive the page that started them. */
export const tabUploads = createUploadStore(({ file, connection }, options) => {
  const form = new FormData();
  // Fields before the bytes, so that a streaming reader knows what comes.
  form.set("tags", JSON.stringify(["input"]));
  form.set("file", file, file.name);
  return upload<UploadedAsset>(withQuery("/api/assets", { connection }), { form, ...options });
});
