import { useTranslations } from "next-intl";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { FailureNotice } from "@/components/ui/empty-state";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type EndedSession } from "@/lib/contract/console";

/** `isLive`: the session is valid, but the page was rendered for another role or member. */
export type SessionNoticeState = (EndedSession & { isLive?: true }) | { cause: "other"; isLive: true };

export function SessionNotice({ notice, isEmbedded }: { notice: SessionNoticeState; isEmbedded: boolean }) {
  const t = useTranslations("frame.session");
  const roleName = useTranslations("frame.member.role");
  const action =
    notice.cause === "suspended" || notice.cause === "removed" ? notice.cause : notice.isLive || isEmbedded ? "reload" : "signIn";
  return (
    <FailureNotice
      title={notice.cause === "role" ? t("role", { from: roleName(notice.from), to: roleName(notice.to) }) : t(notice.cause)}
      remedy={t(`next.${action}`)}
      actions={
        action === "signIn" ? (
          // Opens a new tab, so that this page keeps unsaved input.
          <a href={apiPath(withQuery("/sign-in", { callbackUrl: "/confirmed" }))} target="_blank" rel="noopener" className={buttonStyle()}>
            {t("signIn")}
          </a>
        ) : action === "reload" ? (
          <Button onClick={() => window.location.reload()}>{t("reload")}</Button>
        ) : undefined
      }
    />
  );
}
