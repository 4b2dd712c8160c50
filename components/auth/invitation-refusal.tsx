import { useTranslations } from "next-intl";
import { buttonStyle } from "@/components/ui/controls/button";
import { FailureNotice } from "@/components/ui/failure-notice";
import { Link } from "@/components/ui/link";
import { type InvitationReason } from "./invitation-reason";

/** Why this link cannot be used, and who can make a new one. */
export function InvitationRefusal({ reason }: { reason: InvitationReason }) {
  const t = useTranslations("auth.invitation");
  return (
    <FailureNotice
      title={t(`${reason}.title`)}
      next={t(`${reason}.text`)}
      actions={
        <Link href="/sign-in" className={buttonStyle()}>
          {t("toSignIn")}
        </Link>
      }
    />
  );
}
