// The entry of the processes that `npm run bench -- queue` starts.
import { isLibrary, serveOrders } from "./process";

const [name = "", url = ""] = process.argv.slice(2);
if (!isLibrary(name)) throw new Error(`there is no queue ${name}`);
await serveOrders(name, url);
