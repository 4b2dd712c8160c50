"use client";

import { usePathname, useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { Button, buttonStyle } from "@/components/ui/button";
import { FailureNotice } from "@/components/ui/failure-notice";
import { Link } from "@/components/ui/link";
import { withQuery } from "@/lib/browser/urls";
import { toSaidCode, whoseFault } from "./whose";

type FailureMessageProps = {
  failure: { code: string; message: string; requestId?: string };
  onRetry?: () => void;
  /** What was to be done; without it, what failed speaks for itself. */
  about?: string;
  /** Further actions, behind "Try again". */
  actions?: ReactNode;
  className?: string;
};

/** A failure in words: what failed, whose fault it is, what to do. The other side's own words follow, marked as such. */
export function FailureMessage({ failure, about, onRetry, actions, className }: FailureMessageProps) {
  const t = useTranslations("errors");
  const common = useTranslations("common");
  const code = toSaidCode(failure.code);
  const said = failure.message ? t("said", { message: failure.message }) : undefined;
  const request = failure.requestId ? `${common("requestId")} ${failure.requestId}` : undefined;
  return (
    <FailureNotice
      title={about ?? t(`${code}.title`)}
      whose={t("at", { whose: t(`whose.${whoseFault[code]}`) })}
      next={about === undefined ? t(`${code}.next`) : common("because", { title: t(`${code}.title`), next: t(`${code}.next`) })}
      detail={said || request ? [said, request].filter(Boolean).join(" · ") : undefined}
      className={className}
      actions={
        <>
          {onRetry ? <Button onClick={onRetry}>{common("retry")}</Button> : null}
          <WayOut code={code} />
          {actions}
        </>
      }
    />
  );
}

function WayOut({ code }: { code: string }) {
  const t = useTranslations("errors");
  const pathname = usePathname();
  const search = useSearchParams()?.toString();
  if (code === "UNAUTHORIZED") {
    const here = pathname && pathname !== "/sign-in" ? `${pathname}${search ? `?${search}` : ""}` : undefined;
    return <LinkButton href={withQuery("/sign-in", { callbackUrl: here })} label={t("signIn")} />;
  }
  const needsSettings = code === "NO_CONNECTION" || code === "API_KEY_MISSING" || code.startsWith("UPSTREAM_");
  return needsSettings ? <LinkButton href="/settings" label={t("openSettings")} /> : null;
}

function LinkButton({ href, label }: { href: string; label: string }) {
  return (
    <Link href={href} className={buttonStyle()}>
      {label}
    </Link>
  );
}
