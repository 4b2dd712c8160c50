// The program of the processes of `npm run bench -- queue`.
import { isLibrary, serveOrders } from "./process";

const [name = "", url = ""] = process.argv.slice(2);
if (!isLibrary(name)) throw new Error(`there is no queue ${name}`);
await serveOrders(name, url);
