// The body of an upload as a stream that counts its bytes.
// Guarantees: an upload that ends before its announced length breaks off upstream too, so nothing incomplete stays there.
// Must never: hold more than a chunk.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { type Operation } from "@/lib/contract/operation";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type UploadBody } from "../upstream/outgoing";
import { refusal } from "./guard";

/** `broken` tells afterwards why the stream ended early, if it did. */
export type CountedUpload = { body: UploadBody; broken(): "client-gone" | "truncated" | undefined };

export function openUpload(request: Request, operation: Operation): Result<CountedUpload, Failure> {
  const contentType = request.headers.get("content-type") ?? "";
  if (operation.body?.kind === "multipart" && !/^multipart\/form-data\s*;.*boundary=/i.test(contentType)) {
    return failed(refusal("UNSUPPORTED_MEDIA_TYPE", "The body must be multipart/form-data."));
  }
  const announced = request.headers.get("content-length");
  const contentLength = announced !== null && /^\d+$/.test(announced) ? Math.min(Number(announced), Number.MAX_SAFE_INTEGER) : undefined;
  if (request.body === null && operation.body?.kind === "multipart") return failed(refusal("MISSING_FILE", "The upload is empty."));
  let broken: "client-gone" | "truncated" | undefined;
  const reader = (request.body ?? new Blob([]).stream()).getReader();
  let counted = 0;
  let isGivenUp = false;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await reader.read();
          if (!next.done) {
            counted += next.value.byteLength;
            return controller.enqueue(next.value);
          }
        } catch (error) {
          broken = "client-gone";
          return controller.error(error);
        }
        // The reader has stopped: an end now is not the sender's fault.
        if (isGivenUp) return;
        if (contentLength === undefined || counted === contentLength) return controller.close();
        broken = "truncated";
        controller.error(new Error(`the upload ended after ${counted} of ${contentLength} bytes`));
      },
      cancel(reason) {
        isGivenUp = true;
        return reader.cancel(reason);
      },
    },
    // Nothing is read before the service asks: the sender may be waiting for the answer whether it has to send at all.
    { highWaterMark: 0 },
  );
  const type = operation.body?.kind === "octets" ? "application/octet-stream" : contentType;
  return ok({ body: { stream, contentType: type, contentLength }, broken: () => broken });
}
