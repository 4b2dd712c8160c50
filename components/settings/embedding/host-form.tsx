import { useTranslations } from "next-intl";
import { useState } from "react";
import { CheckList } from "@/components/ui/controls/check-list";
import { Checkbox, Input } from "@/components/ui/controls/fields";
import { FormField, Textarea } from "@/components/ui/controls/form-field";
import { callApi } from "@/lib/browser/api";
import { embedPages } from "@/lib/contract/embed/embed-pages";
import { type EmbedHostBody, type EmbedHostSaved, type EmbedHostView, type RenewSecret } from "@/lib/contract/embed/embedding";
import { hasRole, type Role } from "@/lib/contract/people/roles";
import { ChoiceField, ResourceForm, useResourceForm } from "../resource-form";

export type TeamConnection = { id: string; name: string };
type HostFormProps = {
  host?: EmbedHostView;
  role: Role;
  connections: readonly TeamConnection[];
  onSaved: (saved: EmbedHostSaved) => void;
  onClose: () => void;
};

const usual: EmbedHostBody = {
  name: "",
  origins: [],
  connection: null,
  role: "operator",
  pages: embedPages.filter((page) => page !== "settings"),
  guests: false,
  jwksUrl: null,
};
const roles = ["runner", "viewer", "operator", "admin"] as const;
const renewals = ["keep-old", "at-once"] as const satisfies readonly RenewSecret[];
const fields = ["name", "origins", "pages", "jwksUrl", "connection"] as const;

export function HostForm({ host, role, connections, onSaved, onClose }: HostFormProps) {
  const t = useTranslations("embedding.form");
  const words = useTranslations("embedding");
  const roleName = useTranslations("frame.member.role");
  const [given, setGiven] = useState<EmbedHostBody>(host ?? usual);
  const [origins, setOrigins] = useState((host?.origins ?? []).join("\n"));
  const [renewSecret, setRenewSecret] = useState<RenewSecret>();
  const { busyWith, failure, field: faulty, send } = useResourceForm(fields);
  const wrong = (field: (typeof fields)[number]) => (faulty === field ? t(`wrong.${field}`) : undefined);
  const set = (change: Partial<EmbedHostBody>) => setGiven((now) => ({ ...now, ...change }));

  async function submit() {
    const { name, connection, role, pages, guests, jwksUrl } = given;
    const body = { name, connection, role, pages, guests, jwksUrl, origins: origins.split(/\s+/).filter(Boolean) };
    const request = host
      ? callApi<EmbedHostSaved>(`/api/console/embedding/${host.id}`, { method: "PATCH", json: { ...body, renewSecret } })
      : callApi<EmbedHostSaved>("/api/console/embedding", { method: "POST", json: body });
    const result = await send("save", request);
    if (result.ok) onSaved(result.value);
  }
  return (
    <ResourceForm
      title={host ? t("changeTitle", { name: host.name }) : t("addTitle")}
      submitLabel={t(busyWith ? "saving" : "submit")}
      isBusy={busyWith !== undefined}
      failure={faulty ? undefined : failure}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      <FormField label={t("name")} error={wrong("name")}>
        {(control) => (
          <Input
            {...control}
            required
            autoFocus
            maxLength={100}
            placeholder={t("namePlaceholder")}
            value={given.name}
            onChange={({ target }) => set({ name: target.value })}
          />
        )}
      </FormField>
      <FormField label={t("origins")} hint={t("originsHint")} error={wrong("origins")}>
        {(control) => (
          <Textarea
            {...control}
            required
            rows={3}
            spellCheck={false}
            placeholder="https://app.example.com"
            value={origins}
            onChange={({ target }) => setOrigins(target.value)}
          />
        )}
      </FormField>
      <ChoiceField
        label={words("connection")}
        hint={given.connection === null ? undefined : t("connectionHint")}
        error={wrong("connection")}
        value={given.connection ?? ""}
        options={["", ...connections.map(({ id }) => id)]}
        onChoose={(id) => set({ connection: id || null })}
      >
        {(id) => connections.find((connection) => connection.id === id)?.name ?? words("allConnections")}
      </ChoiceField>
      <ChoiceField
        label={t("role")}
        hint={t("roleHint")}
        value={given.role}
        options={roles.filter((one) => hasRole(role, one))}
        onChoose={(chosen) => set({ role: chosen })}
      >
        {(one) => roleName(one)}
      </ChoiceField>
      <fieldset>
        <legend className="font-medium">{t("pages")}</legend>
        <div className="mt-1 grid grid-cols-2 sm:grid-cols-4">
          <CheckList options={embedPages} chosen={given.pages} onChange={(pages) => set({ pages })}>
            {(page) => words(`page.${page}`)}
          </CheckList>
        </div>
        <p className="text-sm text-ink-3">{t("pagesHint")}</p>
        {wrong("pages") ? <p className="text-sm text-bad">{wrong("pages")}</p> : null}
      </fieldset>
      <label className="flex items-center gap-2">
        <Checkbox checked={given.guests} onChange={({ target }) => set({ guests: target.checked })} />
        {t("guests")}
      </label>
      <ChoiceField
        label={t("keyKind")}
        value={given.jwksUrl === null ? "secret" : "jwks"}
        options={["secret", "jwks"]}
        onChoose={(kind) => set({ jwksUrl: kind === "jwks" ? "" : null })}
      >
        {(kind) => t(kind)}
      </ChoiceField>
      {given.jwksUrl === null ? null : (
        <FormField label={t("jwksUrl")} hint={t("jwksHint")} error={wrong("jwksUrl")}>
          {(control) => (
            <Input {...control} type="url" required value={given.jwksUrl ?? ""} onChange={({ target }) => set({ jwksUrl: target.value })} />
          )}
        </FormField>
      )}
      {host && host.jwksUrl === null && given.jwksUrl === null ? (
        <ChoiceField<RenewSecret | "no">
          label={words("secret.label")}
          hint={renewSecret && t(`renewHint.${renewSecret}`)}
          value={renewSecret ?? "no"}
          options={["no", ...renewals]}
          onChoose={(one) => setRenewSecret(one === "no" ? undefined : one)}
        >
          {(one) => t(`renew.${one}`)}
        </ChoiceField>
      ) : null}
      {host ? <p className="text-sm text-ink-3">{t("endsSessions")}</p> : null}
    </ResourceForm>
  );
}
