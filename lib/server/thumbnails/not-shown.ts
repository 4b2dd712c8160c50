// Why there is no thumbnail although the service answered. To a browser each is the same 404; inside this folder they are told apart by
// identity.

import "server-only";
import { type Failure } from "@/lib/contract/failure";

/** Nothing is known of the content: it is too large, say, or its end is missing. */
export const nothing: Failure = { code: "NOT_FOUND", message: "There is no preview.", status: 404 };
/** The service offers none now, but may later. */
export const noPreview: Failure = { ...nothing };
/** The content was read completely, and no picture can be made from it. */
export const noPicture: Failure = { ...nothing, message: "No preview can be made of this content." };
