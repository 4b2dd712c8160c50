// Where a host finds this console, and the name by which its tickets mean it.

import "server-only";
import { consoleUrl, type Env } from "../env";

/** The first one is told; without a public address this machine has two names. */
export function audiencesOf(env: Env, hostId: string): string[] {
  const own = ["127.0.0.1", "localhost"].map((name) => consoleUrl(env, `http://${name}:${env.port}`));
  return [...new Set([consoleUrl(env), ...own])].map((address) => `${address}/embed/${hostId}`);
}
