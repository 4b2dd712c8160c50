// A client with one connection and one request at a time. Uses node:http, since fetch needs as much processor time for a page of jobs
// as the service itself, and both share the cores.
import { Agent, get } from "node:http";
import { type ServiceProcess } from "../processes";

export type JsonGet = (path: string) => Promise<Record<string, unknown>>;

export function createJsonGet({ url, headers }: Pick<ServiceProcess, "url" | "headers">): JsonGet {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return (path) =>
    new Promise((resolve, reject) => {
      const request = get(url + path, { headers, agent }, (response) => {
        const chunks: Uint8Array[] = [];
        response.on("data", (chunk: Uint8Array) => chunks.push(chunk));
        response.once("error", reject);
        response.once("end", () => {
          const text = Buffer.concat(chunks).toString();
          if (response.statusCode !== 200) reject(new Error(`${path} responded with ${response.statusCode}: ${text}`));
          else resolve(JSON.parse(text) as Record<string, unknown>); // all endpoints measured here return objects
        });
      });
      request.once("error", reject);
    });
}
