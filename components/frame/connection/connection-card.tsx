"use client";

import { ChevronsUpDown } from "lucide-react";
import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { type ComponentProps, useState } from "react";
import { cn } from "@/components/ui/cn";
import { Link } from "@/components/ui/link";
import { loadEmptyComponent } from "@/components/ui/skeleton";
import { toneDot } from "@/components/ui/status-badge";
import { withQuery } from "@/lib/browser/urls";
import { type ConnectionView } from "@/lib/contract/console";
import { connectionTones, useConnectionStatus, useKeyLabel } from "../counts-context";
import { useRunsAppsOnly } from "../member-context";
import { useConnection, useConnectionParam } from "./connection-context";

const ConnectionSwitch = dynamic(() => import("./connection-switch").then((module) => module.ConnectionSwitch, loadEmptyComponent), {
  ssr: false,
});

const cardStyle =
  "flex w-full items-center gap-2 rounded-md border border-line bg-surface px-2.5 py-1.5 text-left hover:border-line-strong";

/** A link that stays on the connection of this page. */
export function ConnectionLink({ href, ...props }: ComponentProps<typeof Link> & { href: `/${string}` }) {
  return <Link {...props} href={withQuery(href, { connection: useConnectionParam() })} />;
}

export function ConnectionCard({ connections, className }: { connections: readonly ConnectionView[]; className?: string }) {
  const t = useTranslations("frame.connection");
  const currentId = useConnection()?.id;
  const currentConnection = connections.find(({ id }) => id === currentId);
  const getStatus = useConnectionStatus();
  const getKeyLabel = useKeyLabel();
  const runsAppsOnly = useRunsAppsOnly();
  const [isOpen, setOpen] = useState(false);
  if (!currentConnection) {
    const content = <CardContent name={t("none")} detail={runsAppsOnly ? "" : t("noneHint")} dot="bg-off" />;
    if (runsAppsOnly) return <p className={cn(cardStyle, className)}>{content}</p>;
    return (
      <ConnectionLink href="/settings" className={cn(cardStyle, className)}>
        {content}
      </ConnectionLink>
    );
  }
  const status = getStatus(currentConnection);
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        aria-label={t("switch", { name: currentConnection.name })}
        onClick={() => setOpen(true)}
        className={cn(cardStyle, className)}
      >
        <CardContent
          name={currentConnection.name}
          detail={`${getKeyLabel(currentConnection)} · ${t(status)}`}
          dot={toneDot[connectionTones[status]]}
        />
        <ChevronsUpDown aria-hidden="true" className="size-3.5 shrink-0 text-ink-3" />
      </button>
      {isOpen ? <ConnectionSwitch connections={connections} currentId={currentConnection.id} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function CardContent({ name, detail, dot }: { name: string; detail: string; dot: string }) {
  return (
    <>
      <span aria-hidden="true" className={cn("size-[9px] shrink-0 rounded-full", dot)} />
      <span className="min-w-0 flex-1">
        <b className="block truncate leading-tight font-semibold">{name}</b>
        <small className="block truncate text-xs text-ink-3">{detail}</small>
      </span>
    </>
  );
}
