import { useTranslations } from "next-intl";
import { useState } from "react";
import { CheckList } from "@/components/ui/controls/check-list";
import { CheckField } from "@/components/ui/controls/fields";
import { fieldText, InputField, TextareaField } from "@/components/ui/controls/form-field";
import { callApi } from "@/lib/browser/api";
import { embedPages } from "@/lib/contract/embed/embed-pages";
import { type EmbedHostBody, type EmbedHostSaved, type EmbedHostView, type RenewSecret } from "@/lib/contract/embed/embedding";
import { hasRole, type Role } from "@/lib/contract/people/roles";
import { ChoiceField, ResourceForm, useResourceForm } from "../resource-form";
import { type TeamConnection } from "../resource-screen";

type HostFormProps = {
  host?: EmbedHostView;
  role: Role;
  connections: readonly TeamConnection[];
  onSaved: (result: EmbedHostSaved) => void;
  onClose: () => void;
};

const roles = ["runner", "viewer", "operator", "admin"] as const;
const renewals = ["keep-old", "at-once"] as const satisfies readonly RenewSecret[];
const fields = ["name", "origins", "pages", "jwksUrl", "connection"] as const;

export function HostForm({ host, role, connections, onSaved, onClose }: HostFormProps) {
  const t = useTranslations("embedding.form");
  const tEmbedding = useTranslations("embedding");
  const roleName = useTranslations("frame.member.role");
  const [connection, setConnection] = useState(host?.connection ?? "");
  const [chosenRole, setChosenRole] = useState<EmbedHostBody["role"]>(host?.role ?? "operator");
  const [pages, setPages] = useState<EmbedHostBody["pages"]>(host?.pages ?? embedPages.filter((page) => page !== "settings"));
  const [keyKind, setKeyKind] = useState<"secret" | "jwks">(host?.jwksUrl == null ? "secret" : "jwks");
  const [renewSecret, setRenewSecret] = useState<RenewSecret>();
  const { busyWith, failure, field: invalidField, send } = useResourceForm(fields);
  const fieldError = (field: (typeof fields)[number]) => (invalidField === field ? t(`wrong.${field}`) : undefined);

  async function submit(form: HTMLFormElement) {
    const data = new FormData(form);
    const body: EmbedHostBody = {
      name: fieldText(data, "name"),
      origins: fieldText(data, "origins").split(/\s+/).filter(Boolean),
      connection: connection || null,
      role: chosenRole,
      pages,
      guests: data.has("guests"),
      jwksUrl: keyKind === "jwks" ? fieldText(data, "jwksUrl") : null,
    };
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
        defaultValue={host?.name}
      />
      <TextareaField
        label={t("origins")}
        hint={t("originsHint")}
        error={fieldError("origins")}
        name="origins"
        required
        rows={3}
        spellCheck={false}
        placeholder="https://app.example.com"
        defaultValue={host?.origins.join("\n")}
      />
      <ChoiceField
        label={tEmbedding("connection")}
        hint={connection === "" ? undefined : t("connectionHint")}
        error={fieldError("connection")}
        value={connection}
        options={["", ...connections.map(({ id }) => id)]}
        onChoose={setConnection}
      >
        {(id) => connections.find((connection) => connection.id === id)?.name ?? tEmbedding("allConnections")}
      </ChoiceField>
      <ChoiceField
        label={t("role")}
        hint={t("roleHint")}
        value={chosenRole}
        options={roles.filter((value) => hasRole(role, value))}
        onChoose={setChosenRole}
      >
        {(value) => roleName(value)}
      </ChoiceField>
      <fieldset>
        <legend className="font-medium">{t("pages")}</legend>
        <div className="mt-1 grid grid-cols-2 sm:grid-cols-4">
          <CheckList options={embedPages} chosen={pages} onChange={setPages}>
            {(page) => tEmbedding(`page.${page}`)}
          </CheckList>
        </div>
        <p className="text-sm text-ink-3">{t("pagesHint")}</p>
        {fieldError("pages") ? <p className="text-sm text-bad">{fieldError("pages")}</p> : null}
      </fieldset>
      <CheckField label={t("guests")} name="guests" defaultChecked={host?.guests} />
      <ChoiceField label={t("keyKind")} value={keyKind} options={["secret", "jwks"]} onChoose={setKeyKind}>
        {(kind) => t(kind)}
      </ChoiceField>
      {keyKind === "jwks" ? (
        <InputField
          label={t("jwksUrl")}
          hint={t("jwksHint")}
          error={fieldError("jwksUrl")}
          name="jwksUrl"
          type="url"
          required
          defaultValue={host?.jwksUrl ?? ""}
        />
      ) : null}
      {host && host.jwksUrl === null && keyKind === "secret" ? (
        <ChoiceField<RenewSecret | "no">
          label={tEmbedding("secret.label")}
          hint={renewSecret && t(`renewHint.${renewSecret}`)}
          value={renewSecret ?? "no"}
          options={["no", ...renewals]}
          onChoose={(value) => setRenewSecret(value === "no" ? undefined : value)}
        >
          {(value) => t(`renew.${value}`)}
        </ChoiceField>
      ) : null}
      {host ? <p className="text-sm text-ink-3">{t("endsSessions")}</p> : null}
    </ResourceForm>
  );
}
