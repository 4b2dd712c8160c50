// A file, or a mask drawn over one, that a member gives to an app outside a run.
// Guarantees: checked against the app's limits before anything is sent; a mask is accepted only for a picture that the member may see.

import "server-only";
import { isFileKind, problemSentence } from "@/lib/contract/apps/fill";
import { toFileRef, toImageValue } from "@/lib/contract/assets/image-ref";
import { type Failure } from "@/lib/contract/failure";
import { maskUploadFieldsSchema } from "@/lib/contract/schemas/files";
import { failed, type Result } from "@/lib/shared/result";
import { type Asked, refusal } from "../bff/guard";
import { composition } from "../composition";
import { type StoredApp } from "../store/apps/apps";
import { isForm, problemOfFile, sendFile, sendMask, takeForm, type TakenFile, type TakenForm } from "./files";
import { mayName } from "./pictures";

/** Takes one file for an input of the app that takes files, and sends it on at once. */
export async function receiveFile(asked: Asked, app: StoredApp): Promise<Result<string, Failure>> {
  return withFile(asked, async ({ fields }, file) => {
    const wanted = fields.get("input");
    const input = app.definition.inputs.find(({ name, control }) => isFileKind(control.kind) && (wanted ?? name) === name);
    if (!input) return failed(refusal("UNPROCESSABLE", "This app takes no such file."));
    const problem = problemOfFile(app, input, file);
    if (problem) return failed(refusal("UNPROCESSABLE", problemSentence(problem), { problems: [problem] }));
    return sendFile(asked, app, file);
  });
}

async function withFile<T>(
  { request }: Asked,
  use: (form: TakenForm, file: TakenFile) => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  if (!isForm(request)) return failed(refusal("UNSUPPORTED_MEDIA_TYPE", "The body must be multipart/form-data."));
  const form = await takeForm(request);
  if (!form.ok) return form;
  try {
    const [file] = form.value.files;
    return file ? await use(form.value, file) : failed(refusal("MISSING_FILE", "The body holds no file."));
  } finally {
    await form.value.dispose();
  }
}

export async function receiveMask(asked: Asked, app: StoredApp): ReturnType<typeof sendMask> {
  return withFile(asked, async ({ fields }, mask) => {
    const read = maskUploadFieldsSchema.safeParse(Object.fromEntries(fields));
    if (!read.success) return failed(refusal("INVALID_BODY", "original_ref: must be JSON text with a filename."));
    const { original_ref: named } = read.data;
    const original = toImageValue({ ...named, name: named.filename });
    if (!(await mayName(asked.viewer, app, original))) return failed(refusal("NOT_FOUND", "There is no such file."));
    const input = app.definition.inputs.find(({ control }) => control.kind === "picture" && control.hasMask);
    if (!input) return failed(refusal("UNPROCESSABLE", "This app takes no mask."));
    // A mask is as large as the picture below it.
    const problem = problemOfFile({ limits: { picturePixels: app.limits.picturePixels } }, input, mask);
    if (problem) return failed(refusal("UNPROCESSABLE", problemSentence(problem), { problems: [problem] }));
    const given = await composition().store.appKeeps.file(app.connectionId, asked.viewer.memberId, original);
    // Sends the checked reference, not the client's own: services read references in different ways.
    return sendMask(asked, app, mask, { ref: toFileRef(original), original: given });
  });
}
