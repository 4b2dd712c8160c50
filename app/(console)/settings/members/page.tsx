import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-messages";
import { MembersScreen } from "@/components/settings/members/members-screen";
import { hasRole } from "@/lib/contract/people/roles";
import { requireViewer } from "@/lib/server/auth/viewer";
import { pickMessages } from "@/lib/server/i18n/messages";
import { listInvitations, listMembers } from "@/lib/server/queries/members";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("settings.members"))("title") };
}

export default async function MembersPage() {
  const viewer = await requireViewer();
  return (
    <PageMessages messages={await pickMessages("settings")}>
      <MembersScreen
        viewer={{ id: viewer.memberId, role: viewer.role }}
        readOnly={viewer.readOnly}
        members={hasRole(viewer.role, "admin") ? listMembers(viewer) : undefined}
        invitations={hasRole(viewer.role, "admin") ? listInvitations(viewer) : undefined}
      />
    </PageMessages>
  );
}
