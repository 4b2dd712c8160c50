import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { FullPageMessage } from "@/components/ui/empty-state";
import { ButtonLink, usePathname } from "@/components/ui/link";
import { withQuery } from "@/lib/browser/urls";
import { useConnection, useConnectionParam } from "./connection-context";

/** Shown on another member's private connection, where only jobs are visible. */
export function JobsOnly() {
  const t = useTranslations("frame.connection.jobsOnly");
  const connection = useConnectionParam();
  const { name = "", seenOf: owner = "" } = useConnection() ?? {};
  return (
    <FullPageMessage
      title={t("title", { name })}
      text={t("text", { owner })}
      action={<ButtonLink href={withQuery("/jobs", { connection })}>{t("open")}</ButtonLink>}
    />
  );
}

export function ConnectionNotFound() {
  const t = useTranslations("frame.connection.ghost");
  const errors = useTranslations("errors");
  const pathname = usePathname();
  const params = new URLSearchParams(useSearchParams() ?? undefined);
  const currentConnection = useConnection();
  params.delete("connection");
  const href = !currentConnection ? "/settings" : params.size > 0 ? `${pathname}?${params}` : pathname;
  return (
    <FullPageMessage
      title={t("title")}
      text={t("text")}
      action={
        <ButtonLink href={href}>{currentConnection ? t("open", { name: currentConnection.name }) : errors("openSettings")}</ButtonLink>
      }
    />
  );
}
