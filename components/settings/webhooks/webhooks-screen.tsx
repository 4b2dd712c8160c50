"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { ChecksField } from "@/components/ui/controls/check-list";
import { CheckField, getFieldText, InputField } from "@/components/ui/controls/fields";
import { useRouter } from "@/components/ui/link";
import { StatusBadge } from "@/components/ui/status-badge";
import { RelativeTime } from "@/components/ui/time";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { useRequests } from "@/lib/browser/use-read";
import { type Failure } from "@/lib/contract/failure";
import { type Role } from "@/lib/contract/members/roles";
import {
  type DeliveryResult,
  type RenewWebhookSecret,
  webhookEvents,
  webhookFormatNames,
  webhookFormats,
  type WebhookSaved,
  type WebhookView,
} from "@/lib/contract/webhook-events";
import { type Result } from "@/lib/shared/result";
import { ChoiceField, RenewSecretField, ResourceForm, useResourceForm } from "../resource-form";
import { ResourceItem, ResourceScreen, type TeamConnection } from "../resource-screen";
import { DeliveryLog, deliveryTones, toMessageKey, useDeliveryOutcome } from "./delivery-log";

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

  async function sendTest({ id, name }: WebhookView, showFailure: (failure: ApiFailure | undefined) => void) {
    const result = await send(id, callApi<DeliveryResult>(`/api/console/webhooks/${encodeURIComponent(id)}/test`, { method: "POST" }));
    showFailure(result.ok ? undefined : result.failure);
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
        messageNamespace="webhooks"
        path="/api/console/webhooks"
        role={role}
        canAdd={connections.length > 0}
        title={t("list")}
        emptyText={t(connections.length === 0 ? "noConnection" : "none")}
        resources={webhooks}
        renderForm={(webhook, { onSaved, onClose }) => (
          <WebhookForm
            webhook={webhook}
            connections={connections}
            onSaved={({ webhook: { name }, secret }) => onSaved(name, secret)}
            onClose={onClose}
          />
        )}
        renderItem={(webhook, { change, remove, showFailure }) => (
          <WebhookItem
            webhook={webhook}
            connection={connections.find(({ id }) => id === webhook.connection)?.name ?? webhook.connection}
            actions={[
              { key: "test", label: t("test"), onClick: () => void sendTest(webhook, showFailure), isBusy: busyWith === webhook.id },
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

type WebhookItemProps = { webhook: WebhookView; connection: string; actions: Parameters<typeof ResourceItem>[0]["actions"] };

function WebhookItem({ webhook, connection, actions }: WebhookItemProps) {
  const t = useTranslations("webhooks");
  const { name, origin, format, events, includesPrompts, isEnabled, last, oldSecretUntil } = webhook;
  const lastDelivery = last ? (
    <span className="flex flex-wrap items-center gap-2">
      <StatusBadge tone={deliveryTones[last.state]} label={t(`state.${last.state}`)} />
      <RelativeTime ms={last.at} />
    </span>
  ) : (
    t("neverSent")
  );
  return (
    <ResourceItem
      messageNamespace="webhooks"
      name={name}
      badge={isEnabled ? null : <StatusBadge tone="off" label={t("paused")} />}
      actions={actions}
      facts={[
        [t("connection"), connection],
        [t("events"), events.map((event) => t(`event.${toMessageKey(event)}`)).join(", ")],
        [t("receiver"), t("receiverText", { origin, format: webhookFormatNames[format] })],
        ...(includesPrompts ? [[t("prompts"), t("promptsIncluded")] as const] : []),
        [t("lastDelivery"), lastDelivery],
      ]}
      oldSecretUntil={oldSecretUntil}
    />
  );
}

type WebhookFormProps = {
  webhook?: WebhookView;
  connections: readonly { id: string; name: string }[];
  onSaved: (result: WebhookSaved) => void;
  onClose: () => void;
};
const fields = ["name", "url", "events", "connection"] as const;
const placeholders = {
  standard: "https://example.com/hooks/lightdesk",
  slack: "https://hooks.slack.com/services/…",
  discord: "https://discord.com/api/webhooks/…",
  ntfy: "https://ntfy.sh/my-topic",
} as const;

function WebhookForm({ webhook, connections, onSaved, onClose }: WebhookFormProps) {
  const t = useTranslations("webhooks.form");
  const tWebhooks = useTranslations("webhooks");
  const [connection, setConnection] = useState(connections[0]?.id ?? "");
  const [format, setFormat] = useState(webhook?.format ?? "standard");
  const [events, setEvents] = useState<WebhookView["events"]>(webhook?.events ?? ["job.completed", "job.failed"]);
  const [renewSecret, setRenewSecret] = useState<RenewWebhookSecret>();
  const { busyWith, failure, field: invalidField, send } = useResourceForm(fields);
  const getFieldError = (field: (typeof fields)[number]) => (invalidField === field ? t(`wrong.${field}`) : undefined);

  async function submit(form: HTMLFormElement) {
    const data = new FormData(form);
    const url = getFieldText(data, "url").trim();
    const body = {
      name: getFieldText(data, "name"),
      format,
      events,
      includesPrompts: data.has("includesPrompts"),
      isEnabled: data.has("isEnabled"),
    };
    const result = await send("save", () =>
      webhook
        ? callApi<WebhookSaved>(`/api/console/webhooks/${encodeURIComponent(webhook.id)}`, {
            method: "PATCH",
            json: { ...body, url: url || undefined, renewSecret },
          })
        : callApi<WebhookSaved>("/api/console/webhooks", { method: "POST", json: { ...body, connection, url } }),
    );
    if (result.ok) onSaved(result.value);
  }
  return (
    <ResourceForm
      title={webhook ? t("changeTitle", { name: webhook.name }) : t("addTitle")}
      submitLabel={t(busyWith ? "saving" : "submit")}
      isBusy={busyWith !== undefined}
      failure={invalidField ? undefined : failure}
      onSubmit={(form) => void submit(form)}
      onClose={onClose}
    >
      <InputField
        label={t("name")}
        error={getFieldError("name")}
        name="name"
        required
        autoFocus
        maxLength={100}
        placeholder={t("namePlaceholder")}
        defaultValue={webhook?.name}
      />
      {webhook ? null : (
        <ChoiceField
          label={tWebhooks("connection")}
          error={getFieldError("connection")}
          value={connection}
          options={connections.map(({ id }) => id)}
          onChoose={setConnection}
        >
          {(id) => connections.find((connection) => connection.id === id)?.name ?? id}
        </ChoiceField>
      )}
      <ChoiceField label={t("format")} hint={t(`formatHint.${format}`)} value={format} options={webhookFormats} onChoose={setFormat}>
        {(value) => webhookFormatNames[value]}
      </ChoiceField>
      <InputField
        label={t("url")}
        hint={webhook ? t("urlKept", { origin: webhook.origin }) : t("urlHint")}
        error={getFieldError("url")}
        name="url"
        type="url"
        required={!webhook}
        spellCheck={false}
        placeholder={placeholders[format]}
      />
      <ChecksField
        label={tWebhooks("events")}
        hint={t("runnersHint")}
        error={getFieldError("events")}
        className="grid-cols-1 sm:grid-cols-2"
        options={webhookEvents}
        selected={events}
        onChange={setEvents}
      >
        {(event) => tWebhooks(`event.${toMessageKey(event)}`)}
      </ChecksField>
      <CheckField label={t("includesPrompts")} name="includesPrompts" defaultChecked={webhook?.includesPrompts} />
      <CheckField label={t("isEnabled")} name="isEnabled" defaultChecked={webhook?.isEnabled ?? true} />
      {webhook?.format === "standard" && format === "standard" ? (
        <RenewSecretField messageNamespace="webhooks" value={renewSecret} onChoose={setRenewSecret} />
      ) : null}
    </ResourceForm>
  );
}
