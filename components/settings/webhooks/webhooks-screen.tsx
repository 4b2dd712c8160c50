"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { useRouter } from "@/components/ui/link";
import { StatusBadge } from "@/components/ui/status-badge";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { useRequests } from "@/lib/browser/use-read";
import { type Failure } from "@/lib/contract/failure";
import { type Role } from "@/lib/contract/people/roles";
import { type DeliveryResult, webhookFormatNames, type WebhookView } from "@/lib/contract/webhook-events";
import { type Result } from "@/lib/shared/result";
import { ResourceItem, ResourceScreen, type TeamConnection } from "../resource-screen";
import { DeliveryLog, deliveryTones, eventKey, useDeliveryOutcome } from "./delivery-log";
import { WebhookForm } from "./webhook-form";

type WebhooksScreenProps = {
  role: Role;
  connections: readonly TeamConnection[];
  /** Absent for roles that may not see them. */
  webhooks?: Promise<Result<WebhookView[], Failure>>;
};

export function WebhooksScreen({ role, connections, webhooks }: WebhooksScreenProps) {
  const t = useTranslations("webhooks");
  const router = useRouter();
  const getOutcome = useDeliveryOutcome();
  const [logWebhook, setLogWebhook] = useState<WebhookView>();
  const { busyWith, send } = useRequests<string>();

  async function sendTest({ id, name }: WebhookView, fail: (failure: ApiFailure | undefined) => void) {
    const result = await send(id, callApi<DeliveryResult>(`/api/console/webhooks/${encodeURIComponent(id)}/test`, { method: "POST" }));
    fail(result.ok ? undefined : result.failure);
    if (result.ok) {
      const isDelivered = result.value.delivery.state === "delivered";
      showToast({
        tone: isDelivered ? "ok" : "bad",
        text: isDelivered ? t("testDelivered", { name }) : t("testFailed", { name, reason: getOutcome(result.value.delivery) ?? "" }),
      });
    }
    router.refresh();
  }
  return (
    <>
      <ResourceScreen
        words="webhooks"
        path="/api/console/webhooks"
        role={role}
        canAdd={connections.length > 0}
        title={t("list")}
        none={t(connections.length === 0 ? "noConnection" : "none")}
        resources={webhooks}
        form={(webhook, { onSaved, onClose }) => (
          <WebhookForm
            webhook={webhook}
            connections={connections}
            onSaved={({ webhook: { name }, secret }) => onSaved(name, secret)}
            onClose={onClose}
          />
        )}
        item={(webhook, { change, remove, fail }) => (
          <Webhook
            webhook={webhook}
            connection={connections.find(({ id }) => id === webhook.connection)?.name ?? webhook.connection}
            actions={[
              { key: "test", label: t("test"), onClick: () => void sendTest(webhook, fail), isBusy: busyWith === webhook.id },
              { key: "deliveries", label: t("deliveries"), onClick: () => setLogWebhook(webhook) },
              { key: "change", label: t("change"), onClick: change },
              { key: "remove", label: t("remove"), onClick: remove },
            ]}
          />
        )}
      />
      {logWebhook ? (
        <DeliveryLog
          webhook={logWebhook}
          onClose={() => {
            setLogWebhook(undefined);
            router.refresh();
          }}
        />
      ) : null}
    </>
  );
}

type WebhookProps = { webhook: WebhookView; connection: string; actions: Parameters<typeof ResourceItem>[0]["actions"] };

function Webhook({ webhook, connection, actions }: WebhookProps) {
  const t = useTranslations("webhooks");
  const { name, origin, format, events, includesPrompts, isEnabled, last, oldSecretUntil } = webhook;
  const lastDelivery = last ? (
    <span className="flex flex-wrap items-center gap-2">
      <StatusBadge tone={deliveryTones[last.state]} word={t(`state.${last.state}`)} />
      <RelativeTime ms={last.at} />
    </span>
  ) : (
    t("neverSent")
  );
  return (
    <ResourceItem
      words="webhooks"
      name={name}
      badge={isEnabled ? null : <StatusBadge tone="off" word={t("paused")} />}
      actions={actions}
      facts={[
        [t("connection"), connection],
        [t("events"), events.map((event) => t(`event.${eventKey(event)}`)).join(", ")],
        [t("receiver"), t("receiverText", { origin, format: webhookFormatNames[format] })],
        ...(includesPrompts ? [[t("prompts"), t("promptsIncluded")] as const] : []),
        [t("lastDelivery"), lastDelivery],
      ]}
      oldSecretUntil={oldSecretUntil}
    />
  );
}
