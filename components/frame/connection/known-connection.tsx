"use client";

import { usePathname, useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { buttonStyle } from "@/components/ui/controls/button";
import { Link } from "@/components/ui/link";
import { WholePageNote } from "@/components/ui/whole-page-note";
import { useConnection, useConnections, useLinkedConnection } from "./connection-context";

/** A page whose address names a connection that the member has not says so itself: no list could, as each would blame what it lists. */
export function KnownConnection({ children }: { children: ReactNode }) {
  const wanted = useLinkedConnection();
  const pathname = usePathname();
  const isKnown = useConnections().some(({ id }) => id === wanted);
  // Settings speak of all connections, and are where one is added.
  if (!wanted || isKnown || pathname === "/settings" || pathname?.startsWith("/settings/")) return children;
  return <NoSuchConnection />;
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
