import { useTranslations } from "next-intl";
import { type ReactNode, useId, useState } from "react";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { CheckList } from "@/components/ui/controls/check-list";
import { Input, InputField } from "@/components/ui/controls/fields";
import { callApi } from "@/lib/browser/api";
import { hasRole, type Role, roles } from "@/lib/contract/members/roles";
import { EVENTS_OPERATION, tokenLifetimes } from "@/lib/contract/members/sign-in";
import { type NewTokenView, type TokenBody, type TokenChoices, type TokenOperation } from "@/lib/contract/members/tokens";
import { ChoiceField, ResourceForm, useResourceForm } from "../resource-form";

type TokenFormProps = { role: Role; choices: TokenChoices; onCreated: (token: NewTokenView) => void; onClose: () => void };

const fields = ["name", "connection", "connections", "operations"] as const;
const NEVER = "never";

export function TokenForm({ role: ownRole, choices: { connections, operations }, onCreated, onClose }: TokenFormProps) {
  const t = useTranslations("tokens");
  const common = useTranslations("common");
  const roleName = useTranslations("frame.member.role");
  const grantableRoles = roles.filter((role) => hasRole(ownRole, role));
  const [role, setRole] = useState<Role>(hasRole(ownRole, "operator") ? "operator" : ownRole);
  const [defaultConnection, setDefaultConnection] = useState(connections.find(({ current }) => current)?.id ?? connections[0]?.id ?? "");
  const [connectionChoice, setConnectionChoice] = useState<"none" | "all" | "chosen">("none");
  const [connectionIds, setConnectionIds] = useState<string[]>([]);
  const [operationChoice, setOperationChoice] = useState<"all" | "reads" | "chosen">("all");
  const [operationNames, setOperationNames] = useState<string[]>([]);
  const [days, setDays] = useState("");
  const [wasSubmitted, setSubmitted] = useState(false);
  const { busyWith, failure, field, send } = useResourceForm(fields);

  const otherConnections = connections.filter(({ id }) => id !== defaultConnection);
  const selectedIds = otherConnections.flatMap(({ id }) => (connectionIds.includes(id) ? [id] : []));
  const selectedOperations = operations.flatMap(({ name }) => (operationNames.includes(name) ? [name] : []));
  const isMissingConnections = connectionChoice === "chosen" && selectedIds.length === 0;
  const isMissingOperations = operationChoice === "chosen" && selectedOperations.length === 0;

  async function submit(form: HTMLFormElement) {
    setSubmitted(true);
    if (isMissingConnections || isMissingOperations) return;
    const json: Omit<TokenBody, "days"> & { days: number | null } = {
      name: String(new FormData(form).get("name") ?? ""),
      role,
      connection: defaultConnection,
      ...(connectionChoice !== "all" && {
        connections: [defaultConnection, ...(connectionChoice === "chosen" ? selectedIds : [])],
      }),
      operations: operationChoice === "chosen" ? selectedOperations : operationChoice,
      days: days === NEVER ? null : Number(days),
    };
    const result = await send("save", () => callApi<NewTokenView>("/api/console/tokens", { method: "POST", json }));
    if (result.ok) onCreated(result.value);
  }

  if (defaultConnection === "")
    return (
      <Card title={t("create")}>
        <p className="mb-3 text-ink-2">{t("noConnection")}</p>
        <Button onClick={onClose}>{common("close")}</Button>
      </Card>
    );
  const hasTooManyTokens = failure?.code === "CONFLICT";
  const getConnectionName = (id: string) => connections.find((connection) => connection.id === id)?.name ?? id;
  const formatLifetime = (count: number) => (count === 365 ? t("year") : t("days", { count }));
  return (
    <ResourceForm
      title={t("create")}
      submitLabel={t(busyWith ? "creating" : "create")}
      isBusy={busyWith !== undefined}
      failure={hasTooManyTokens || field ? undefined : failure}
      notice={hasTooManyTokens ? <p className="text-bad">{t("wrong.tooMany")}</p> : null}
      onSubmit={(form) => void submit(form)}
      onClose={onClose}
    >
      <InputField
        label={t("name")}
        hint={t("nameHint")}
        error={field === "name" ? t("wrong.name") : undefined}
        name="name"
        required
        maxLength={60}
        placeholder={t("namePlaceholder")}
        autoFocus
      />
      <ChoiceField label={t("role")} hint={t(`may.${role}`)} value={role} options={grantableRoles} onChoose={setRole}>
        {(value) => roleName(value)}
      </ChoiceField>
      <ChoiceField
        label={t("connection")}
        hint={t("connectionHint")}
        error={field === "connection" || field === "connections" ? t("wrong.connections") : undefined}
        value={defaultConnection}
        options={connections.map(({ id }) => id)}
        onChoose={setDefaultConnection}
      >
        {getConnectionName}
      </ChoiceField>
      {otherConnections.length > 0 ? (
        <>
          <ChoiceField
            label={t("others")}
            error={wasSubmitted && isMissingConnections ? t("wrong.others") : undefined}
            value={connectionChoice}
            options={["none", "all", "chosen"] as const}
            onChoose={setConnectionChoice}
          >
            {(value) => t(({ none: "othersNone", all: "othersAll", chosen: "othersChosen" } as const)[value])}
          </ChoiceField>
          {connectionChoice === "chosen" ? (
            <CheckListGroup label={t("others")}>
              <CheckList options={otherConnections.map(({ id }) => id)} selected={connectionIds} onChange={setConnectionIds}>
                {getConnectionName}
              </CheckList>
            </CheckListGroup>
          ) : null}
        </>
      ) : null}
      <ChoiceField
        label={t("operations")}
        hint={operationChoice === "chosen" ? t("chosenCount", { count: selectedOperations.length }) : t("operationsHint")}
        error={field === "operations" || (wasSubmitted && isMissingOperations) ? t("wrong.operations") : undefined}
        value={operationChoice}
        options={["all", "reads", "chosen"] as const}
        onChoose={setOperationChoice}
      >
        {(value) => t(value)}
      </ChoiceField>
      {operationChoice === "chosen" ? (
        <OperationPicker operations={operations} selected={selectedOperations} onChange={setOperationNames} />
      ) : null}
      <ChoiceField
        label={t("expiry")}
        hint={days === NEVER ? t("neverHint") : undefined}
        value={days}
        options={["", ...tokenLifetimes.map(String), NEVER]}
        onChoose={setDays}
        isRequired
      >
        {(value) => (value === "" ? t("expiryChoose") : value === NEVER ? t("never") : formatLifetime(Number(value)))}
      </ChoiceField>
    </ResourceForm>
  );
}

type OperationPickerProps = {
  operations: TokenOperation[];
  selected: readonly string[];
  onChange: (names: string[]) => void;
};

function OperationPicker({ operations, selected, onChange }: OperationPickerProps) {
  const t = useTranslations("tokens");
  const id = useId();
  const [searchText, setSearchText] = useState("");
  const calls = new Map(operations.map(({ name, call }) => [name, call]));
  const matchingNames = [...calls.keys()].filter((name) =>
    `${name} ${calls.get(name)}`.toLowerCase().includes(searchText.trim().toLowerCase()),
  );
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="sr-only">
        {t("find")}
      </label>
      <Input id={id} type="search" value={searchText} placeholder={t("find")} onChange={({ target }) => setSearchText(target.value)} />
      <CheckListGroup label={t("operations")}>
        <CheckList options={matchingNames} selected={selected} onChange={onChange}>
          {(name) => (
            <span className="min-w-0 truncate">
              {name === EVENTS_OPERATION ? t("events") : name} <span className="ml-1 font-mono text-xs text-ink-3">{calls.get(name)}</span>
            </span>
          )}
        </CheckList>
      </CheckListGroup>
    </div>
  );
}

function CheckListGroup({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div role="group" aria-label={label} className="max-h-60 overflow-y-auto rounded-md border border-line px-2.5 py-1">
      {children}
    </div>
  );
}
