import { useTranslations } from "next-intl";
import { useState } from "react";
import { CheckList } from "@/components/ui/controls/check-list";
import { CheckField } from "@/components/ui/controls/fields";
import { fieldText, InputField } from "@/components/ui/controls/form-field";
import { callApi } from "@/lib/browser/api";
import {
  renewals,
  type RenewWebhookSecret,
  webhookEvents,
  webhookFormatNames,
  webhookFormats,
  type WebhookSaved,
  type WebhookView,
} from "@/lib/contract/webhook-events";
import { ChoiceField, ResourceForm, useResourceForm } from "../resource-form";
import { eventKey } from "./delivery-log";

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

export function WebhookForm({ webhook, connections, onSaved, onClose }: WebhookFormProps) {
  const t = useTranslations("webhooks.form");
  const tWebhooks = useTranslations("webhooks");
  const [connection, setConnection] = useState(connections[0]?.id ?? "");
  const [format, setFormat] = useState(webhook?.format ?? "standard");
  const [events, setEvents] = useState<WebhookView["events"]>(webhook?.events ?? ["job.completed", "job.failed"]);
  const [renewSecret, setRenewSecret] = useState<RenewWebhookSecret>();
  const { busyWith, failure, field: invalidField, send } = useResourceForm(fields);
  const fieldError = (field: (typeof fields)[number]) => (invalidField === field ? t(`wrong.${field}`) : undefined);

  async function submit(form: HTMLFormElement) {
    const data = new FormData(form);
    const url = fieldText(data, "url").trim();
    const body = {
      name: fieldText(data, "name"),
      format,
      events,
      includesPrompts: data.has("includesPrompts"),
      isEnabled: data.has("isEnabled"),
    };
    const request = webhook
      ? callApi<WebhookSaved>(`/api/console/webhooks/${encodeURIComponent(webhook.id)}`, {
          method: "PATCH",
          json: { ...body, url: url || undefined, renewSecret },
        })
      : callApi<WebhookSaved>("/api/console/webhooks", { method: "POST", json: { ...body, connection, url } });
    const result = await send("save", request);
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
        error={fieldError("name")}
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
          error={fieldError("connection")}
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
        error={fieldError("url")}
        name="url"
        type="url"
        required={!webhook}
        spellCheck={false}
        placeholder={placeholders[format]}
      />
      <fieldset>
        <legend className="font-medium">{tWebhooks("events")}</legend>
        <div className="mt-1 grid grid-cols-1 sm:grid-cols-2">
          <CheckList options={webhookEvents} chosen={events} onChange={setEvents}>
            {(event) => tWebhooks(`event.${eventKey(event)}`)}
          </CheckList>
        </div>
        <p className="text-sm text-ink-3">{t("runnersHint")}</p>
        {fieldError("events") ? <p className="text-sm text-bad">{fieldError("events")}</p> : null}
      </fieldset>
      <CheckField label={t("includesPrompts")} name="includesPrompts" defaultChecked={webhook?.includesPrompts} />
      <CheckField label={t("isEnabled")} name="isEnabled" defaultChecked={webhook?.isEnabled ?? true} />
      {webhook?.format === "standard" && format === "standard" ? (
        <ChoiceField<RenewWebhookSecret | "no">
          label={tWebhooks("secret.label")}
          hint={renewSecret && t(`renewHint.${renewSecret}`)}
          value={renewSecret ?? "no"}
          options={["no", ...renewals]}
          onChoose={(value) => setRenewSecret(value === "no" ? undefined : value)}
        >
          {(value) => t(`renew.${value}`)}
        </ChoiceField>
      ) : null}
    </ResourceForm>
  );
}
