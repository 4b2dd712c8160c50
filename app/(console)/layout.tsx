import { type ReactNode } from "react";
import { KnownConnection } from "@/components/frame/connection/known-connection";
import { Shell } from "@/components/frame/shell";
import { WaysIn } from "@/components/transfers/ways-in";
import { requireViewer } from "@/lib/server/auth/viewer";
import { getFrame } from "@/lib/server/queries/frame";

export default async function ConsoleLayout({ children }: { children: ReactNode }) {
  const viewer = await requireViewer();
  const { connection, connections } = await getFrame(viewer);
  return (
    <Shell
      readOnly={viewer.readOnly}
      member={{ name: viewer.name, email: viewer.email, role: viewer.role }}
      connections={connections}
      currentId={connection?.id}
    >
      <KnownConnection>{children}</KnownConnection>
      <WaysIn canAdd={viewer.can("operator")} />
    </Shell>
  );
}
