// One client on one connection that waits for each answer and reads it whole. Uses node:http: for a page of a hundred jobs, fetch takes
// as much time again as the service takes to make it, and the two share the cores.
import { Agent, get } from "node:http";
import { type PortService } from "../processes";

export type Ask = (path: string) => Promise<Record<string, unknown>>;

export function createAsk({ url, headers }: Pick<PortService, "url" | "headers">): Ask {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return (path) =>
    new Promise((resolve, reject) => {
      const request = get(url + path, { headers, agent }, (answer) => {
        const pieces: Uint8Array[] = [];
        answer.on("data", (piece: Uint8Array) => pieces.push(piece));
        answer.once("error", reject);
        answer.once("end", () => {
          const text = Buffer.concat(pieces).toString();
          if (answer.statusCode !== 200) reject(new Error(`${path} answered ${answer.statusCode}: ${text}`));
          else resolve(JSON.parse(text) as Record<string, unknown>); // every answer requested here is an object
        });
      });
      request.once("error", reject);
    });
}
