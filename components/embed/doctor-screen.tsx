"use client";

import { Check, Minus, X } from "lucide-react";
import { useTranslations } from "next-intl";
import { useEffect, useState } from "react";
import { PageHeader } from "@/components/frame/page-header";
import { Card } from "@/components/ui/card";
import { callApi } from "@/lib/browser/api";
import { endEmbedSession, shareBearer, startEmbedSession } from "@/lib/browser/embed/embed-session";
import { isFramed, onHostMessage, postToHost, type TicketMessage } from "@/lib/browser/embed/host-page";
import { withQuery } from "@/lib/browser/urls";
import { type EmbedCheck } from "@/lib/contract/embed/embedding";
import { parseEmbedPath } from "@/lib/shared/console-paths";

/** Checks the requirements of an embedded page. Each row passes or shows what to change. */
export function DoctorScreen({ origins, origin }: { origins: readonly string[]; origin: string }) {
  const t = useTranslations("embedding.doctor");
  const [results, setResults] = useState<readonly DoctorResult[]>([]);
  const [isDone, setDone] = useState(false);
  useEffect(() => shareBearer(), []);
  useEffect(() => {
    const controller = new AbortController();
    const addResult = (result: DoctorResult) => setResults((current) => [...current.filter(({ check }) => check !== result.check), result]);
    void runChecks({ origins, origin, signal: controller.signal }, addResult).then(() => {
      if (!controller.signal.aborted) setDone(true);
    });
    return () => {
      controller.abort();
      setResults([]);
      setDone(false);
    };
  }, [origins, origin]);
  return (
    <>
      <PageHeader title={t("title")} />
      <div className="flex max-w-[860px] flex-col gap-3.5 p-4 md:px-5">
        <p className="text-ink-2">{t("text")}</p>
        <Card title={t("lines")} bodyClassName="p-0">
          <ul aria-busy={!isDone}>
            {results.map(({ check, outcome, value = "" }) => (
              <li key={check} className="flex items-start gap-2 border-b border-line px-3.5 py-2 last:border-b-0">
                <OutcomeIcon outcome={outcome} label={t(`is.${outcome}`)} />
                <span className="min-w-0">
                  <b className="block font-medium">{t(`of.${check}`)}</b>
                  <span className="text-ink-2">
                    {outcome === "passed" ? t("is.passed") : outcome === "skipped" ? t("skipped") : t(`change.${check}`, { value })}
                  </span>
                </span>
              </li>
            ))}
          </ul>
        </Card>
      </div>
    </>
  );
}

function OutcomeIcon({ outcome, label }: { outcome: DoctorResult["outcome"]; label: string }) {
  const Icon = outcome === "passed" ? Check : outcome === "skipped" ? Minus : X;
  const tone = outcome === "passed" ? "text-ok" : outcome === "skipped" ? "text-ink-3" : "text-bad";
  return <Icon role="img" aria-label={label} className={`mt-0.5 size-4 shrink-0 ${tone}`} />;
}

// Checks run one after another. Checks that need a frame are skipped outside a frame.

type DoctorCheck = "host" | "origin" | "headers" | "framing" | "cookie" | "storage" | "clock" | "ticket";
type DoctorResult = { check: DoctorCheck; outcome: "passed" | "failed" | "skipped"; value?: string };

const MAX_CLOCK_SKEW_MS = 30_000;
const TICKET_TIMEOUT_MS = 10_000;

type DoctorOptions = { origins: readonly string[]; origin: string; signal: AbortSignal };

async function runChecks({ origins, origin, signal }: DoctorOptions, addResult: (result: DoctorResult) => void): Promise<void> {
  const report = (check: DoctorResult["check"], hasPassed: boolean | undefined, value?: string) => {
    if (!signal.aborted) addResult({ check, outcome: hasPassed === undefined ? "skipped" : hasPassed ? "passed" : "failed", value });
  };
  const host = parseEmbedPath(window.location.pathname)?.host ?? "";
  const checkResult = await callApi<EmbedCheck>(withQuery("/api/embed/check", { host, origin }), { cache: "no-store" });
  report("host", checkResult.ok && checkResult.value.known, host);
  if (!checkResult.ok || !checkResult.value.known) return;
  report("origin", origin === "" ? undefined : checkResult.value.framing, origin);
  report("headers", ...(await checkHeaders(origins)));
  const parentOrigin = isFramed() ? (window.location.ancestorOrigins?.[0] ?? origin) : undefined;
  report("framing", parentOrigin === undefined ? undefined : origins.includes(parentOrigin), parentOrigin);
  report("cookie", checkResult.value.cookie);
  report("storage", checkResult.value.cookie || (isFramed() && "serviceWorker" in navigator && (await canUseServiceWorkers())));
  const clockSkewMs = Date.now() - checkResult.value.now;
  report("clock", Math.abs(clockSkewMs) < MAX_CLOCK_SKEW_MS, String(Math.round(clockSkewMs / 1000)));
  if (!isFramed()) return report("ticket", undefined);
  const ticket = await requestTicket(origins, signal);
  if (!ticket || signal.aborted) return report("ticket", false, "none");
  const sessionResult = await startEmbedSession(ticket.message, ticket.origin);
  report("ticket", sessionResult.ok, sessionResult.ok ? undefined : sessionResult.reason);
  if (sessionResult.ok) await endEmbedSession();
}

/** Checks the headers as received by the browser, including changes by a proxy. */
async function checkHeaders(origins: readonly string[]): Promise<[hasPassed: boolean, value: string]> {
  try {
    const { headers } = await fetch(window.location.href, { cache: "no-store" });
    const [policy = "", frameOptions] = [headers.get("content-security-policy") ?? "", headers.get("x-frame-options")];
    const ancestors = /frame-ancestors ([^;]*)/.exec(policy)?.[1]?.split(" ") ?? [];
    return [
      frameOptions === null && origins.every((value) => ancestors.includes(value)),
      frameOptions === null ? policy : `X-Frame-Options: ${frameOptions}`,
    ];
  } catch {
    return [false, ""];
  }
}

async function canUseServiceWorkers(): Promise<boolean> {
  return navigator.serviceWorker.getRegistrations().then(
    () => true,
    () => false,
  );
}

function requestTicket(origins: readonly string[], signal: AbortSignal): Promise<{ message: TicketMessage; origin: string } | undefined> {
  return new Promise((resolve) => {
    const unsubscribe = onHostMessage(origins, (message, origin) => {
      if (message.type === "ticket") finish({ message, origin });
      else if (message.type === "no-ticket") finish(undefined);
    });
    const timer = setTimeout(() => finish(undefined), TICKET_TIMEOUT_MS);
    const finish = (ticket: { message: TicketMessage; origin: string } | undefined) => {
      clearTimeout(timer);
      unsubscribe();
      resolve(ticket);
    };
    signal.addEventListener("abort", () => finish(undefined));
    postToHost(origins, { type: "want-ticket" });
  });
}
