import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { WholePageNote } from "@/components/ui/empty-state";
import { ButtonLink, usePathname } from "@/components/ui/link";
import { withQuery } from "@/lib/browser/urls";
import { useConnection, useConnectionParam } from "./connection-context";

/** Another member's private connection, of which only the jobs are visible. */
export function JobsOnly() {
  const t = useTranslations("frame.connection.jobsOnly");
  const connection = useConnectionParam();
  const { name = "", seenOf: owner = "" } = useConnection() ?? {};
  return (
    <WholePageNote
      title={t("title", { name })}
      text={t("text", { owner })}
      action={<ButtonLink href={withQuery("/jobs", { connection })}>{t("open")}</ButtonLink>}
    />
  );
}

export function NoSuchConnection() {
  const t = useTranslations("frame.connection.ghost");
  const errors = useTranslations("errors");
  const pathname = usePathname();
  const params = new URLSearchParams(useSearchParams() ?? undefined);
  const current = useConnection();
  params.delete("connection");
  const href = !current ? "/settings" : params.size > 0 ? `${pathname}?${params}` : pathname;
  return (
    <WholePageNote
      title={t("title")}
      text={t("text")}
      action={<ButtonLink href={href}>{current ? t("open", { name: current.name }) : errors("openSettings")}</ButtonLink>}
    />
  );
}
