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
import { type SignInMethods } from "@/lib/contract/people/sign-in";
import { RemovalDialog } from "../revocable-list";

/** How this member signs in, if a provider is offered besides passwords. */
export function MethodsCard({ methods }: { methods: SignInMethods }) {
  const t = useTranslations("settings.profile.methods");
  const { busyWith, refused, failure, connect, disconnect } = useMethods();
  const count = methods.providers.filter(({ connected }) => connected).length + (methods.password ? 1 : 0);
  return (
    <Card title={t("title")} bodyClassName="flex flex-col gap-3">
      {refused ? <ProviderRefusal reason={refused.reason} provider={refused.provider} /> : null}
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
              {connected ? <StatusBadge tone="ok" word={t("connected")} /> : null}
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

function useMethods() {
  const t = useTranslations("settings.profile.methods");
  const router = useRouter();
  const { busyWith, failure, send } = useRequests<string>();
  const [connectingId, setConnecting] = useState<string>();
  const [refused, setRefused] = useState<{ provider: string; reason: ProviderRefusalReason }>();
  return {
    busyWith: connectingId ?? busyWith,
    refused,
    failure,
    async connect(id: string, provider: string) {
      setConnecting(id);
      setRefused(undefined);
      const redirect = await signInWithProvider(id, { purpose: "link", returnTo: "/settings/account" });
      if (redirect.ok) return window.location.assign(redirect.value);
      setConnecting(undefined);
      setRefused({ provider, reason: redirect.failure });
    },
    async disconnect(id: string, provider: string) {
      setRefused(undefined);
      const result = await send(id, callApi(`/api/console/account/methods/${encodeURIComponent(id)}`, { method: "DELETE" }));
      if (result.ok) showToast({ tone: "ok", text: t("disconnected", { provider }) });
      router.refresh();
    },
  };
}

const ALL_OTHERS = "others";

export function SessionsCard({ name, sessions }: { name: string; sessions: readonly SessionView[] }) {
  const t = useTranslations("settings.profile");
  const router = useRouter();
  const [isConfirming, setConfirming] = useState(false);
  const { busyWith, failure, send } = useRequests<string>();
  async function endSession(providerId: string) {
    setConfirming(false);
    const value = providerId === ALL_OTHERS ? "" : `/${encodeURIComponent(providerId)}`;
    const result = await send(providerId, callApi(`/api/console/account/sessions${value}`, { method: "DELETE" }));
    if (result.ok) showToast({ tone: "ok", text: t(providerId === ALL_OTHERS ? "session.othersEnded" : "session.ended") });
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
        <Button tone="danger" busy={busyWith === ALL_OTHERS} onClick={() => setConfirming(true)}>
          {t("endSessions")}
        </Button>
      ) : null}
      <RemovalDialog
        item={isConfirming ? { name } : undefined}
        title={t("endTitle")}
        onRemove={() => void endSession(ALL_OTHERS)}
        onClose={() => setConfirming(false)}
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
          {current ? <StatusBadge tone="ok" word={t("this")} /> : null}
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
