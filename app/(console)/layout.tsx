import { type ReactNode } from "react";
import { EmbedShell } from "@/components/embed/embed-shell";
import { ConnectionGuard, ReadOnlyNotice } from "@/components/frame/connection/connection-guard";
import { ShareProvider } from "@/components/frame/member-context";
import { Shell } from "@/components/frame/shell";
import { UploadSources } from "@/components/transfers/add-assets";
import { canShowPage } from "@/lib/server/auth/credentials";
import { getProxySignOutUrl } from "@/lib/server/auth/viewer";
import { openPage } from "@/lib/server/bff/open-page";
import { getLayoutData } from "@/lib/server/connections/connection-views";
import { getSignInMethods } from "@/lib/server/queries/members";
import { areSharesEnabled } from "@/lib/server/queries/shares";

export default async function ConsoleLayout({ children }: { children: ReactNode }) {
  const context = await openPage({ isFrame: true });
  const { composition, viewer } = context;
  const [{ connection, connections }, methods] = await Promise.all([getLayoutData(context), getSignInMethods(context)]);
  const { memberId, name, email, role, readOnly } = viewer;
  const content = (
    <>
      {readOnly ? <ReadOnlyNotice readOnly={readOnly} /> : null}
      <ConnectionGuard>{children}</ConnectionGuard>
    </>
  );
  const embed = viewer.credential.kind === "embed" ? viewer.credential : undefined;
  const uploadSources = <UploadSources canUpload={viewer.can("operator")} canOpenRun={!embed || canShowPage(embed, "/run")} />;
  if (embed) {
    return (
      <EmbedShell
        role={viewer.role}
        session={{ origin: embed.origin, leftMs: embed.leftMs }}
        connections={connections}
        currentId={connection?.id}
        canChange={!readOnly}
      >
        {content}
        {uploadSources}
      </EmbedShell>
    );
  }
  return (
    <Shell
      canChange={!readOnly}
      signOutUrl={getProxySignOutUrl(context)}
      member={{ id: memberId, name, email, role }}
      methods={methods}
      connections={connections}
      currentId={connection?.id}
    >
      <ShareProvider value={viewer.can("operator") && viewer.credential.kind === "session" && areSharesEnabled(composition)}>
        {content}
      </ShareProvider>
      {uploadSources}
    </Shell>
  );
}
