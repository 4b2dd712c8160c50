import { type ReactNode } from "react";
import { KnownConnection } from "@/components/frame/connection/known-connection";
import { Shell } from "@/components/frame/shell";
import { WaysIn } from "@/components/transfers/ways-in";
import { hasRole } from "@/lib/contract/roles";
import { requireViewer } from "@/lib/server/auth/viewer";
import { getFrame } from "@/lib/server/queries/frame";

export default async function ConsoleLayout({ children }: { children: ReactNode }) {
  const viewer = await requireViewer();
  const { connection, connections } = await getFrame(viewer);
  return (
    <Shell member={{ name: viewer.name, email: viewer.email, role: viewer.role }} connections={connections} currentId={connection?.id}>
      <KnownConnection>{children}</KnownConnection>
      <WaysIn canAdd={hasRole(viewer.role, "operator")} />
    </Shell>
  );
}
