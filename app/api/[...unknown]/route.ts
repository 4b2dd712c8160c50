import { createFailure } from "@/lib/contract/failure";
import { consoleRoute } from "@/lib/server/bff/routes";
import { failed } from "@/lib/shared/result";

/** Unknown URLs under /api return JSON, because callers parse the response. */
const notFound = consoleRoute("unknown", "runner", () =>
  Promise.resolve(failed(createFailure("NOT_FOUND", "There is nothing at this address."))),
);

export { notFound as DELETE, notFound as GET, notFound as POST, notFound as PUT };
