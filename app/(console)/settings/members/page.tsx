import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-header";
import { MembersScreen, ReadOnlyCard } from "@/components/settings/members/members-screen";
import { hasRole } from "@/lib/contract/people/roles";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
import { listInvitations, listMembers } from "@/lib/server/queries/members";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("settings.members"))("title") };
}

export default async function MembersPage() {
  const context = await openPage();
  return (
    <PageMessages messages={await pickMessages("settings")}>
      <MembersScreen
        viewer={{ id: context.viewer.memberId, role: context.viewer.role }}
        members={hasRole(context.viewer.role, "admin") ? listMembers(context) : undefined}
        invitations={hasRole(context.viewer.role, "admin") ? listInvitations(context) : undefined}
      >
        <ReadOnlyCard readOnly={context.viewer.readOnly} />
      </MembersScreen>
    </PageMessages>
  );
}
