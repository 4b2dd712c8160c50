import { useTranslations } from "next-intl";
import { useId, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { CheckField, InputField } from "@/components/ui/controls/fields";
import { useRouter } from "@/components/ui/link";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { addScheme, endsWithApi, toBaseUrl } from "@/lib/contract/connections";
import { type ConnectionCheck, type ConnectionSaved, type ConnectionView } from "@/lib/contract/console";
import { type Result } from "@/lib/shared/result";
import { ConnectionCheckNotice } from "../check-notices";
import { ResourceForm, useResourceForm } from "../resource-form";

type ConnectionFormProps = {
  /** Absent for a new connection. */
  connection?: ConnectionView;
  canShare: boolean;
  /** Called when saved, whether the service accepted the connection or the member kept it anyway. */
  onSaved: (connection: ConnectionView, check: ConnectionCheck) => void;
  onClose: () => void;
};

const fields = ["name", "baseUrl", "accountUrl", "key"] as const;

/** Closes once saved. Until then, the form keeps all input, including the key. */
export function ConnectionForm({ connection, canShare, onSaved, onClose }: ConnectionFormProps) {
  const t = useTranslations("settings.form");
  const sharedHintId = useId();
  const router = useRouter();
  const { busyWith, failure, field, send } = useResourceForm<(typeof fields)[number], "check" | "keep">(fields);
  const [sentKey, setSentKey] = useState(false);
  const [check, setCheck] = useState<ConnectionCheck>();
  const [address, setAddress] = useState("");

  async function save(form: HTMLFormElement, action: "check" | "keep") {
    const values = parseConnectionForm(new FormData(form));
    setSentKey(values.key !== undefined);
    if (action === "check") setCheck(undefined);
    const result = await send(action, (signal) =>
      saveConnection(connection?.id, { ...values, ...(action === "keep" && { keep: true }) }, signal),
    );
    if (!result.ok) {
      // The role has changed since rendering. Refreshes the page, and the form keeps its input.
      if (result.failure.code === "ROLE_TOO_LOW") router.refresh();
      return;
    }
    const savedConnection = result.value;
    if (!savedConnection.connection) return setCheck(savedConnection.check);
    onSaved(savedConnection.connection, savedConnection.check);
    onClose();
  }

  // A new connection may have no key. The key is required only if the address has changed since it was stored.
  const isKeyMissing = field === "key" && !sentKey;
  const getFieldError = (name: (typeof fields)[number]) =>
    field === name ? t(isKeyMissing ? "wrong.keyAgain" : `wrong.${name}`) : undefined;
  return (
    <ResourceForm
      title={connection ? t("changeTitle", { name: connection.name }) : t("addTitle")}
      submitLabel={t(busyWith === "check" ? "checking" : "submit")}
      isBusy={busyWith === "check"}
      isDisabled={busyWith === "keep"}
      failure={field ? undefined : failure}
      notice={
        check ? (
          <>
            <ConnectionCheckNotice check={check} />
            <p className="text-ink-2">{t(connection ? "notChanged" : "notSaved")}</p>
          </>
        ) : null
      }
      actions={
        check ? (
          <Button
            busy={busyWith === "keep"}
            onClick={({ currentTarget: { form } }) => {
              if (form?.reportValidity()) void save(form, "keep");
            }}
          >
            {t("keep")}
          </Button>
        ) : null
      }
      onSubmit={(form) => void save(form, "check")}
      onClose={onClose}
    >
      <InputField
        label={t("name")}
        error={getFieldError("name")}
        // The button that opened the form is unmounted, so the first field gets the focus.
        name="name"
        required
        maxLength={100}
        defaultValue={connection?.name}
        placeholder={t("namePlaceholder")}
        autoFocus
      />
      {connection?.embedded ? null : (
        <>
          <InputField
            label={t("baseUrl")}
            hint={getHint(address, t)}
            error={getFieldError("baseUrl")}
            name="baseUrl"
            inputMode="url"
            autoCapitalize="none"
            spellCheck={false}
            required
            maxLength={2000}
            defaultValue={connection?.baseUrl}
            onChange={({ target }) => setAddress(target.value.trim())}
            placeholder="https://"
          />
          <InputField
            label={t("accountUrl")}
            hint={t("accountUrlHint")}
            error={getFieldError("accountUrl")}
            name="accountUrl"
            inputMode="url"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={2000}
            defaultValue={connection?.accountUrl}
            placeholder="https://"
          />
        </>
      )}
      <InputField
        label={t("key")}
        hint={connection?.fingerprint ? t("keyKept", { fingerprint: connection.fingerprint }) : t("keyHint")}
        error={getFieldError("key")}
        name="key"
        type="password"
        autoComplete="off"
        spellCheck={false}
        maxLength={1000}
        className="font-mono"
      />
      {connection ? null : canShare ? (
        <div>
          <CheckField label={t("shared")} name="shared" defaultChecked aria-describedby={sharedHintId} />
          <p id={sharedHintId} className="mt-1 text-sm text-ink-3">
            {t("sharedHint")}
          </p>
        </div>
      ) : (
        <p className="text-ink-3">{t("personal")}</p>
      )}
    </ResourceForm>
  );
}

/** Shows the value that will be stored, if it differs from the input. */
function getHint(address: string, t: ReturnType<typeof useTranslations<"settings.form">>): string {
  if (endsWithApi(address)) return t("withoutApi", { url: toBaseUrl(addScheme(address)) });
  return addScheme(address) === address ? t("baseUrlHint") : t("withScheme", { url: toBaseUrl(addScheme(address)) });
}

type ConnectionFields = { name: string; baseUrl?: string; accountUrl?: string; key?: string; shared?: boolean };

/**
 * Adds a missing scheme to URLs. Omits an empty base URL or key, which keeps the stored one. Sends an empty account URL, which removes the
 * stored one.
 */
export function parseConnectionForm(data: FormData): ConnectionFields {
  const getText = (name: string) => {
    const value = data.get(name);
    return typeof value === "string" ? value.trim() : "";
  };
  const baseUrl = addScheme(getText("baseUrl"));
  const key = getText("key");
  return {
    name: getText("name"),
    ...(baseUrl && { baseUrl }),
    ...(data.has("accountUrl") && { accountUrl: addScheme(getText("accountUrl")) }),
    ...(key && { key }),
    ...(data.get("shared") === "on" && { shared: true }),
  };
}

/** The console verifies the key with the service before storing it. `keep` stores it in any case. */
async function saveConnection(
  id: string | undefined,
  fields: ConnectionFields & { keep?: true },
  signal: AbortSignal | undefined,
): Promise<Result<ConnectionSaved, ApiFailure>> {
  if (id === undefined) return callApi<ConnectionSaved>("/api/console/connections", { method: "POST", json: fields, signal });
  const { shared: _shared, ...change } = fields;
  return callApi<ConnectionSaved>(getConnectionPath(id), { method: "PUT", json: change, signal });
}

export function getConnectionPath(id: string, action?: "check" | "use"): `/${string}` {
  return `/api/console/connections/${encodeURIComponent(id)}${action ? `/${action}` : ""}`;
}
