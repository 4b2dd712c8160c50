"use client";

import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { usePathname } from "@/components/ui/hooks/use-router";
import { buttonStyle } from "@/components/ui/controls/button";
import { Link } from "@/components/ui/link";
import { WholePageNote } from "@/components/ui/whole-page-note";
import { withQuery } from "@/lib/browser/urls";
import { isClosed } from "../destinations";
import { useConnection, useConnections, useLinkedConnection } from "./connection-context";

/** If the address names a connection that the member does not have, the page says so; a list would only report its own items as missing. */
export function KnownConnection({ children }: { children: ReactNode }) {
  const wanted = useLinkedConnection();
  const pathname = usePathname();
  const isKnown = useConnections().some(({ id }) => id === wanted);
  const { name = "", seenOf } = useConnection() ?? {};
  if (seenOf !== undefined && isClosed(pathname ?? "")) return <JobsOnly name={name} owner={seenOf} />;
  // Settings are about all connections, and are where one is added.
  if (!wanted || isKnown || pathname === "/settings" || pathname?.startsWith("/settings/")) return children;
  return <NoSuchConnection />;
}

/** Another member's own connection, of which only the jobs may be seen. */
function JobsOnly({ name, owner }: { name: string; owner: string }) {
  const t = useTranslations("frame.connection.jobsOnly");
  const connection = useLinkedConnection();
  return (
    <WholePageNote
      title={t("title", { name })}
      text={t("text", { owner })}
      action={
        <Link href={withQuery("/jobs", { connection })} className={buttonStyle()}>
          {t("open")}
        </Link>
      }
    />
  );
}

function NoSuchConnection() {
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
      action={
        <Link href={href} className={buttonStyle()}>
          {current ? t("open", { name: current.name }) : errors("openSettings")}
        </Link>
      }
    />
  );
}
