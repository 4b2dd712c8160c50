// Whether whoever asks for the console's health may see why it is not ready: an admin who is signed in.
// Must never: let a token or an embedded page see it: these are for what a team does, not for the machine.

import "server-only";
import { type IncomingMessage } from "node:http";
import { hasRole } from "@/lib/contract/people/roles";
import { readViewer } from "./viewer";

export async function maySeeReasons({ headers }: IncomingMessage): Promise<boolean> {
  // A viewer is read once the start is over, and a balancer has to hear before that.
  if (headers.cookie === undefined) return false;
  const viewer = await readViewer({ get: (name) => (name === "cookie" ? (headers.cookie ?? null) : null) });
  return viewer !== undefined && hasRole(viewer.role, "admin");
}
