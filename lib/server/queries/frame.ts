// What the frame around every page needs.
// Guarantees: never fails for a service that is down: it reads the console's own store only.

import "server-only";
import { type ConnectionView } from "@/lib/contract/console";
import { type Viewer } from "../auth/viewer";
import { listConnectionViews } from "../connections/views";

export async function getFrame(
  viewer: Viewer,
  connection?: string,
): Promise<{ connection?: ConnectionView; connections: ConnectionView[] }> {
  const connections = await listConnectionViews(viewer, connection);
  return { connection: connections.find((view) => view.current), connections };
}
