// An app's own files: what its inputs are given, and where they are shown from. Whoever may run it may use these, and needs no right to the service's files.

import { type MaskPlace } from "@/components/mask/file/mask-source";
import { type SendPicture } from "@/components/run/form/controls/use-picture-upload";
import { upload } from "@/lib/browser/uploads/upload";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type AppFileAnswer } from "@/lib/contract/apps/app";
import { toImageValue } from "@/lib/contract/assets/image-ref";
import { appApi } from "./apps-address";

/** `input`: which takes it, as each has its own kind and bounds. */
export function sendAppFile(app: string, input: string): SendPicture {
  return (file, options) => {
    const form = new FormData();
    // Fields before the bytes, so that a streaming reader knows where they go.
    form.set("input", input);
    form.set("file", file, file.name);
    return upload<AppFileAnswer>(appApi(app, "files"), { form, ...options });
  };
}

export function fileAddress(app: string, name: string, edge?: 256 | 512): string {
  return apiPath(withQuery(appApi(app, "files"), { name, edge }));
}

/** Masks over what may be given to the app. */
export function masksOf(app: string): MaskPlace {
  return {
    urlOf: ({ filename, subfolder, type }) => fileAddress(app, toImageValue({ name: filename, subfolder, type })),
    saveAt: appApi(app, "masks"),
  };
}
