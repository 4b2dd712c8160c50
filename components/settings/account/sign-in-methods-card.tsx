"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { ProviderRefusal, type ProviderRefusalReason } from "@/components/frame/account/sign-in-fields";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { useRouter } from "@/components/ui/link";
import { StatusBadge } from "@/components/ui/status-badge";
import { RelativeTime } from "@/components/ui/time";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { signInWithProvider } from "@/lib/browser/session";
import { useRequests } from "@/lib/browser/use-read";
import { type SessionView } from "@/lib/contract/console";
import { type SignInMethods } from "@/lib/contract/members/sign-in";
import { RemovalDialog } from "../revocable-list";

/** The member's sign-in methods. Shown if there are providers besides passwords. */
export function SignInMethodsCard({ methods }: { methods: SignInMethods }) {
  const t = useTranslations("settings.profile.methods");
  const { busyWith, refusal, failure, connect, disconnect } = useSignInMethods();
  const count = methods.providers.filter(({ connected }) => connected).length + (methods.password ? 1 : 0);
  return (
    <Card title={t("title")} bodyClassName="flex flex-col gap-3">
      {refusal ? <ProviderRefusal reason={refusal.reason} provider={refusal.provider} /> : null}
      {failure ? <FailureMessage failure={failure} /> : null}
      <ul>
        <li className="flex min-h-[38px] items-center gap-4 border-b border-line py-2">
          <span className="flex-1">{t("password")}</span>
          <span className="text-ink-3">{t(methods.password ? "hasPassword" : "noPassword")}</span>
        </li>
        {methods.providers.map((provider) => {
          const { id, label, connected } = provider;
          return (
            <li key={id} className="flex min-h-[38px] flex-wrap items-center gap-x-4 gap-y-1.5 border-b border-line py-2 last:border-b-0">
              <span className="flex-1">{label}</span>
              {connected ? <StatusBadge tone="ok" label={t("connected")} /> : null}
              {!connected ? (
                <Button
                  size="small"
                  busy={busyWith === id}
                  aria-label={t("connectTo", { provider: label })}
                  onClick={() => void connect(id, label)}
                >
                  {t("connect")}
                </Button>
              ) : count > 1 ? (
                <Button
                  size="small"
                  tone="danger"
                  busy={busyWith === id}
                  aria-label={t("disconnectFrom", { provider: label })}
                  onClick={() => void disconnect(id, label)}
                >
                  {t("disconnect")}
                </Button>
              ) : null}
            </li>
          );
        })}
      </ul>
    </Card>
  );
}

function useSignInMethods() {
  const t = useTranslations("settings.profile.methods");
  const router = useRouter();
  const { busyWith, failure, send } = useRequests<string>();
  const [connectingId, setConnectingId] = useState<string>();
  const [refusal, setRefusal] = useState<{ provider: string; reason: ProviderRefusalReason }>();
  return {
    busyWith: connectingId ?? busyWith,
    refusal,
    failure,
    async connect(id: string, provider: string) {
      setConnectingId(id);
      setRefusal(undefined);
      const redirect = await signInWithProvider(id, { purpose: "link", returnTo: "/settings/account" });
      if (redirect.ok) return window.location.assign(redirect.value);
      setConnectingId(undefined);
      setRefusal({ provider, reason: redirect.failure });
    },
    async disconnect(id: string, provider: string) {
      setRefusal(undefined);
      const result = await send(id, callApi(`/api/console/account/methods/${encodeURIComponent(id)}`, { method: "DELETE" }));
      if (result.ok) showToast({ tone: "ok", text: t("disconnected", { provider }) });
      router.refresh();
    },
  };
}

const ALL_OTHER_SESSIONS = "others";

export function SessionsCard({ name, sessions }: { name: string; sessions: readonly SessionView[] }) {
  const t = useTranslations("settings.profile");
  const router = useRouter();
  const [isDialogOpen, setDialogOpen] = useState(false);
  const { busyWith, failure, send } = useRequests<string>();
  async function endSession(sessionId: string) {
    setDialogOpen(false);
    const pathSuffix = sessionId === ALL_OTHER_SESSIONS ? "" : `/${encodeURIComponent(sessionId)}`;
    const result = await send(sessionId, callApi(`/api/console/account/sessions${pathSuffix}`, { method: "DELETE" }));
    if (result.ok) showToast({ tone: "ok", text: t(sessionId === ALL_OTHER_SESSIONS ? "session.othersEnded" : "session.ended") });
    router.refresh();
  }
  return (
    <Card title={t("sessions")} bodyClassName="flex flex-col items-start gap-3">
      {failure ? <FailureMessage failure={failure} /> : null}
      <p className="max-w-[62ch] text-ink-2">{t("sessionsText")}</p>
      <ul className="w-full">
        {sessions.map((session) => (
          <SessionItem key={session.id} session={session} isBusy={busyWith === session.id} onEnd={() => void endSession(session.id)} />
        ))}
      </ul>
      {sessions.length > 1 ? (
        <Button tone="danger" busy={busyWith === ALL_OTHER_SESSIONS} onClick={() => setDialogOpen(true)}>
          {t("endSessions")}
        </Button>
      ) : null}
      <RemovalDialog
        item={isDialogOpen ? { name } : undefined}
        title={t("endTitle")}
        onRemove={() => void endSession(ALL_OTHER_SESSIONS)}
        onClose={() => setDialogOpen(false)}
      >
        {t("endText")}
      </RemovalDialog>
    </Card>
  );
}

function SessionItem({ session, isBusy, onEnd }: { session: SessionView; isBusy: boolean; onEnd: () => void }) {
  const t = useTranslations("settings.profile.session");
  const { address, method, createdAt, usedAt, current } = session;
  const browser = session.browser || t("unknown");
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1.5 border-t border-line py-2" aria-busy={isBusy || undefined}>
      <div className="min-w-0 flex-1 basis-[220px]">
        <p className="flex items-center gap-2">
          <span className="truncate font-semibold">{browser}</span>
          {current ? <StatusBadge tone="ok" label={t("this")} /> : null}
        </p>
        <p className="text-sm break-words text-ink-3">
          {[address, method === "password" ? "" : t("by", { method: method === "proxy" ? t("proxy") : method })]
            .filter(Boolean)
            .join(" · ")}
        </p>
      </div>
      <span className="text-sm text-ink-3">
        {t.rich("used", { time: () => <RelativeTime ms={usedAt} /> })}
        {" · "}
        {t.rich("begun", { time: () => <RelativeTime ms={createdAt} /> })}
      </span>
      {current || method === "proxy" ? null : (
        <Button size="small" tone="danger" busy={isBusy} aria-label={t("endOf", { browser, address })} onClick={onEnd}>
          {t("end")}
        </Button>
      )}
    </li>
  );
}
