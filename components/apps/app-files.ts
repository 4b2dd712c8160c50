// An app's own files: what its inputs are given, and where they are shown from. Members who may run the app may use them without any right
// to the service's files.

import { type MaskPlace } from "@/components/mask/file/mask-source";
import { type SendPicture } from "@/components/run/form/controls/picture-api";
import { upload } from "@/lib/browser/uploads/upload";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type AppField, type AppFileAnswer } from "@/lib/contract/apps/app";
import { type AppProblem, isFileKind, problemOf } from "@/lib/contract/apps/fill";
import { toImageValue } from "@/lib/contract/assets/file-refs";
import { own } from "@/lib/contract/json/own";
import { appApi } from "./apps-address";

/** `input`: the input that gets the file, as each has its own kinds and limits. */
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

/** Which stored values name files that the service no longer has, or that are no longer kept for this member. */
export async function filesGone(
  app: string,
  inputs: readonly AppField[],
  values: Readonly<Record<string, unknown>>,
): Promise<AppProblem[]> {
  const asked = inputs.map(async (input): Promise<AppProblem[]> => {
    const value = isFileKind(input.control.kind) ? own(values, input.name) : undefined;
    if (typeof value !== "string" || value === "") return [];
    // A failed request says nothing about the file.
    const answer = await fetch(fileAddress(app, value), { method: "HEAD" }).catch(() => undefined);
    return answer?.status === 404 ? [problemOf(input, "not_yours")] : [];
  });
  return (await Promise.all(asked)).flat();
}

/** Masks on pictures that may be given to the app. */
export function masksOf(app: string): MaskPlace {
  return {
    urlOf: ({ filename, subfolder, type }) => fileAddress(app, toImageValue({ name: filename, subfolder, type })),
    saveAt: appApi(app, "masks"),
  };
}
