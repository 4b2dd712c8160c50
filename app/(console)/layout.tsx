import { type ReactNode } from "react";
import { EmbedShell } from "@/components/embed/embed-shell";
import { KnownConnection } from "@/components/frame/connection/known-connection";
import { MayShare } from "@/components/frame/member-context";
import { ReadOnlyNotice } from "@/components/frame/read-only-notice";
import { Shell } from "@/components/frame/shell";
import { WaysIn } from "@/components/transfers/ways-in";
import { signOutAt } from "@/lib/server/auth/viewer";
import { openPage } from "@/lib/server/bff/open-page";
import { getFrame } from "@/lib/server/connections/views";
import { sharesAreOn } from "@/lib/server/queries/shares";
import { getSignInMethods } from "@/lib/server/queries/sign-in";

export default async function ConsoleLayout({ children }: { children: ReactNode }) {
  const context = await openPage({ isFrame: true });
  const { composition, viewer } = context;
  const [{ connection, connections }, methods] = await Promise.all([getFrame(context), getSignInMethods(context)]);
  const { memberId, name, email, role, readOnly } = viewer;
  const content = (
    <>
      {readOnly ? <ReadOnlyNotice readOnly={readOnly} /> : null}
      <KnownConnection>{children}</KnownConnection>
    </>
  );
  const beside = <WaysIn canAdd={viewer.can("operator")} />;
  if (viewer.credential.kind === "embed") {
    return (
      <EmbedShell
        role={viewer.role}
        session={{ origin: viewer.credential.origin, leftMs: viewer.credential.leftMs }}
        connections={connections}
        currentId={connection?.id}
        canChange={!readOnly}
      >
        {content}
        {beside}
      </EmbedShell>
    );
  }
  return (
    <Shell
      canChange={!readOnly}
      signOutAt={signOutAt(context)}
      member={{ id: memberId, name, email, role }}
      methods={methods}
      connections={connections}
      currentId={connection?.id}
    >
      <MayShare value={viewer.can("operator") && viewer.credential.kind === "session" && sharesAreOn(composition)}>{content}</MayShare>
      {beside}
    </Shell>
  );
}
