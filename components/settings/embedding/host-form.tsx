import { useTranslations } from "next-intl";
import { type FormEvent, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { faultyField } from "@/components/frame/failure/fault-owner";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { CheckList } from "@/components/ui/controls/check-list";
import { Checkbox, Input, Select } from "@/components/ui/controls/fields";
import { FormField, Textarea } from "@/components/ui/controls/form-field";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { embedPages } from "@/lib/contract/embed/embed-pages";
import { type EmbedHostBody, type EmbedHostSaved, type EmbedHostView, type RenewSecret } from "@/lib/contract/embed/embedding";
import { hasRole, type Role } from "@/lib/contract/people/roles";

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
  const common = useTranslations("common");
  const roleName = useTranslations("frame.member.role");
  const [given, setGiven] = useState<EmbedHostBody>(host ?? usual);
  const [origins, setOrigins] = useState((host?.origins ?? []).join("\n"));
  const [renewSecret, setRenewSecret] = useState<RenewSecret>();
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const faulty = failure && faultyField(failure, fields);
  const wrong = (field: (typeof fields)[number]) => (faulty === field ? t(`wrong.${field}`) : undefined);
  const set = (change: Partial<EmbedHostBody>) => setGiven((now) => ({ ...now, ...change }));

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setBusy(true);
    setFailure(undefined);
    const { name, connection, role, pages, guests, jwksUrl } = given;
    const body = { name, connection, role, pages, guests, jwksUrl, origins: origins.split(/\s+/).filter(Boolean) };
    const result = host
      ? await callApi<EmbedHostSaved>(`/api/console/embedding/${host.id}`, { method: "PATCH", json: { ...body, renewSecret } })
      : await callApi<EmbedHostSaved>("/api/console/embedding", { method: "POST", json: body });
    setBusy(false);
    if (result.ok) onSaved(result.value);
    else setFailure(result.failure);
  }
  return (
    <Card title={host ? t("changeTitle", { name: host.name }) : t("addTitle")}>
      <form method="post" onSubmit={(event) => void submit(event)} className="flex max-w-[560px] flex-col gap-3.5" autoComplete="off">
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
        <FormField
          label={words("connection")}
          hint={given.connection === null ? undefined : t("connectionHint")}
          error={wrong("connection")}
        >
          {(control) => (
            <Select {...control} value={given.connection ?? ""} onChange={({ target }) => set({ connection: target.value || null })}>
              <option value="">{words("allConnections")}</option>
              {connections.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </Select>
          )}
        </FormField>
        <FormField label={t("role")} hint={t("roleHint")}>
          {(control) => (
            <Select
              {...control}
              value={given.role}
              onChange={({ target }) => set({ role: roles.find((one) => one === target.value) ?? given.role })}
            >
              {roles
                .filter((one) => hasRole(role, one))
                .map((one) => (
                  <option key={one} value={one}>
                    {roleName(one)}
                  </option>
                ))}
            </Select>
          )}
        </FormField>
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
        <FormField label={t("keyKind")}>
          {(control) => (
            <Select
              {...control}
              value={given.jwksUrl === null ? "secret" : "jwks"}
              onChange={({ target }) => set({ jwksUrl: target.value === "jwks" ? "" : null })}
            >
              <option value="secret">{t("secret")}</option>
              <option value="jwks">{t("jwks")}</option>
            </Select>
          )}
        </FormField>
        {given.jwksUrl === null ? null : (
          <FormField label={t("jwksUrl")} hint={t("jwksHint")} error={wrong("jwksUrl")}>
            {(control) => (
              <Input
                {...control}
                type="url"
                required
                value={given.jwksUrl ?? ""}
                onChange={({ target }) => set({ jwksUrl: target.value })}
              />
            )}
          </FormField>
        )}
        {host && host.jwksUrl === null && given.jwksUrl === null ? (
          <FormField label={words("secret.label")} hint={renewSecret && t(`renewHint.${renewSecret}`)}>
            {(control) => (
              <Select
                {...control}
                value={renewSecret ?? ""}
                onChange={({ target }) => setRenewSecret(renewals.find((one) => one === target.value))}
              >
                <option value="">{t("renew.no")}</option>
                {renewals.map((one) => (
                  <option key={one} value={one}>
                    {t(`renew.${one}`)}
                  </option>
                ))}
              </Select>
            )}
          </FormField>
        ) : null}
        {host ? <p className="text-sm text-ink-3">{t("endsSessions")}</p> : null}
        {failure && !faulty ? <FailureMessage failure={failure} /> : null}
        <div className="flex gap-2">
          <Button type="submit" tone="primary" busy={isBusy}>
            {isBusy ? t("saving") : t("submit")}
          </Button>
          <Button onClick={onClose}>{common("cancel")}</Button>
        </div>
      </form>
    </Card>
  );
}
