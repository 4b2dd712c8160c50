// Personal access tokens for the settings page: the existing ones, and what a new one can be made for.

import "server-only";
import { allOperations } from "@/lib/contract/operations";
import { APPS, EVENTS } from "@/lib/contract/people/sign-in";
import { type TokenChoices, type TokenOperation } from "@/lib/contract/people/tokens";
import { type Viewer } from "../auth/viewer";
import { listConnectionViews } from "../connections/views";

export async function getTokenChoices(viewer: Viewer): Promise<TokenChoices> {
  const connections = await listConnectionViews(viewer);
  return { connections: connections.map(({ id, name, current }) => ({ id, name, current })), operations };
}

const operations: TokenOperation[] = [
  ...allOperations.map(({ name, method, path }) => ({ name, call: `${method} ${path}` })),
  { name: EVENTS, call: "GET /ws" },
  { name: APPS, call: "POST /api/apps/{id}/runs" },
];
