import { refusal } from "@/lib/contract/failure";
import { consoleRoute } from "@/lib/server/bff/routes";
import { failed } from "@/lib/shared/result";

/** Below /api a wrong address is answered with data: a caller that parses the answer must not get a page. */
const notFound = consoleRoute("unknown", "runner", () =>
  Promise.resolve(failed(refusal("NOT_FOUND", "There is nothing at this address."))),
);

export { notFound as DELETE, notFound as GET, notFound as POST, notFound as PUT };
