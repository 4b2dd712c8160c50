// Why there is no thumbnail although the service answered. Compared by identity: the route answers `noPicture` and `noPreview` with an
// empty 204 (the first may be cached, since asking again is useless), and `nothing` with 404.

import "server-only";
import { type Failure } from "@/lib/contract/failure";

/** Nothing is known of the content: it is too large, say, or its end is missing. */
export const nothing: Failure = { code: "NOT_FOUND", message: "There is no preview.", status: 404 };
/** The service offers none now, but may later. */
export const noPreview: Failure = { ...nothing };
/** The content was read completely, and no picture can be made from it. */
export const noPicture: Failure = { ...nothing, message: "No preview can be made of this content." };
