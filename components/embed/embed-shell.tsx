import { type ReactNode } from "react";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { toCurrentConnection } from "@/components/frame/connection/current-connection";
import { CountsProvider } from "@/components/frame/counts-context";
import { MemberProvider } from "@/components/frame/member-context";
import { SessionWatch } from "@/components/frame/session-watch";
import { Toasts } from "@/components/ui/toasts";
import { type ConnectionView } from "@/lib/contract/console";
import { type Role } from "@/lib/contract/members/roles";
import { type EmbeddedSession } from "./host-bridge";
import { HostMessages } from "./host-messages";

type EmbedShellProps = {
  role: Role;
  session: EmbeddedSession;
  connections: readonly ConnectionView[];
  currentId?: string;
  canChange: boolean;
  children: ReactNode;
};

/** Layout of embedded pages. Has no navigation, and exchanges messages with the host page. */
export function EmbedShell({ role, session, connections, currentId, canChange, children }: EmbedShellProps) {
  return (
    <MemberProvider role={role} canChange={canChange}>
      <ConnectionProvider currentId={currentId} connections={connections.map(toCurrentConnection)}>
        <CountsProvider>
          <main id="content" tabIndex={-1} className="flex min-w-0 flex-1 flex-col focus:outline-none">
            <SessionWatch role={role}>{children}</SessionWatch>
          </main>
        </CountsProvider>
        <Toasts />
        <HostMessages session={session} />
      </ConnectionProvider>
    </MemberProvider>
  );
}
