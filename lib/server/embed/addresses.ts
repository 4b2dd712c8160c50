// Where a host page finds this console, and the audience that its tickets must name.

import "server-only";
import { consoleUrl, type Env } from "../env";

/** The first one is shown to people; without a public address this machine also has two more names. */
export function audiencesOf(env: Env, hostId: string): string[] {
  const own = ["127.0.0.1", "localhost"].map((name) => consoleUrl(env, `http://${name}:${env.port}`));
  return [...new Set([consoleUrl(env), ...own])].map((address) => `${address}/embed/${hostId}`);
}
