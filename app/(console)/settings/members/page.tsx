import { createConsolePage } from "@/app/(console)/console-page";
import { MembersScreen, ReadOnlyCard } from "@/components/settings/members/members-screen";
import { hasRole } from "@/lib/contract/members/roles";
import { createPageTitle } from "@/lib/server/i18n/messages";
import { listInvitations, listMembers } from "@/lib/server/queries/members";

export const generateMetadata = createPageTitle("settings.members.title");

export default createConsolePage(["settings"], (context) => {
  const { memberId: id, role, readOnly } = context.viewer;
  const lists = hasRole(role, "admin") ? { members: listMembers(context), invitations: listInvitations(context) } : {};
  return (
    <MembersScreen viewer={{ id, role }} {...lists}>
      <ReadOnlyCard readOnly={readOnly} />
    </MembersScreen>
  );
});
