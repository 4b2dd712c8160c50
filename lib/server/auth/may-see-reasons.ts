// Whether the caller of the health check may see why the console is not ready: only a signed-in admin.
// Must never: allow a token or an embedded page: they are for the team's work, not for running the machine.

import "server-only";
import { type IncomingMessage } from "node:http";
import { hasRole } from "@/lib/contract/people/roles";
import { readViewer } from "./viewer";

export async function maySeeReasons({ headers }: IncomingMessage): Promise<boolean> {
  // Without a cookie, answer at once: reading a viewer waits for the start, and a load balancer needs its answer earlier.
  if (headers.cookie === undefined) return false;
  const viewer = await readViewer({ get: (name) => (name === "cookie" ? (headers.cookie ?? null) : null) });
  return viewer !== undefined && hasRole(viewer.role, "admin");
}
