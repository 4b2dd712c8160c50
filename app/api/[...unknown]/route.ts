import { consoleRoute } from "@/lib/server/bff/console-route";
import { refusal } from "@/lib/server/bff/guard";
import { failed } from "@/lib/shared/result";

/** Below /api a wrong address is answered as data: a caller that parses must not meet a page. */
const nothing = consoleRoute("unknown", "runner", () => Promise.resolve(failed(refusal("NOT_FOUND", "There is nothing at this address."))));

export { nothing as DELETE, nothing as GET, nothing as POST, nothing as PUT };
