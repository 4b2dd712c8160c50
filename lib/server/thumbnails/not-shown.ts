// Why there is no thumbnail although the service answered. Compared by identity: the route answers `noPicture` and `noPreview` with an
// empty 204 (the first may be cached, since asking again is useless), and `nothing` with 404.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { isObject } from "@/lib/contract/json/json";
import { TOO_LARGE_HEADER } from "@/lib/shared/picture-size";

type Size = { width: number; height: number };

/** The picture is too large to decode. */
export function tooLargeToShow({ width, height }: Size): Failure {
  return { code: "UNPROCESSABLE", message: "The picture is too large to preview.", status: 422, details: { width, height } };
}

/** Undefined for any other failure. */
export function headersIfTooLarge({ code, details }: Failure): Record<string, string> | undefined {
  if (code !== "UNPROCESSABLE" || !isObject(details) || typeof details.width !== "number" || typeof details.height !== "number")
    return undefined;
  return { [TOO_LARGE_HEADER]: `${details.width}x${details.height}` };
}

/** Nothing is known of the content: it is too large, say, or its end is missing. */
export const nothing: Failure = { code: "NOT_FOUND", message: "There is no preview.", status: 404 };
/** The service offers none now, but may later. */
export const noPreview: Failure = { ...nothing };
/** The content was read completely, and no picture can be made from it. */
export const noPicture: Failure = { ...nothing, message: "No preview can be made of this content." };
