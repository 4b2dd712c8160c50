import { useTranslations } from "next-intl";
import { type FormEvent, type ReactNode, useId, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { faultyField } from "@/components/frame/failure/fault-owner";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { CheckList } from "@/components/ui/controls/check-list";
import { Input, Select } from "@/components/ui/controls/fields";
import { FormField } from "@/components/ui/controls/form-field";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { hasRole, type Role, roles } from "@/lib/contract/people/roles";
import { EVENTS, tokenLifetimes } from "@/lib/contract/people/sign-in";
import { type TokenBody, type TokenChoices, type TokenMade, type TokenOperation } from "@/lib/contract/people/tokens";

type TokenFormProps = { role: Role; choices: TokenChoices; onMade: (made: TokenMade) => void; onClose: () => void };

const fields = ["name", "connection", "connections", "operations"] as const;
const NEVER = "never";

export function TokenForm({ role: own, choices: { connections, operations }, onMade, onClose }: TokenFormProps) {
  const t = useTranslations("tokens");
  const common = useTranslations("common");
  const roleName = useTranslations("frame.member.role");
  const given = roles.filter((role) => hasRole(own, role));
  const [role, setRole] = useState<Role>(hasRole(own, "operator") ? "operator" : own);
  const [usual, setUsual] = useState(connections.find(({ current }) => current)?.id ?? connections[0]?.id ?? "");
  const [others, setOthers] = useState<"none" | "all" | "chosen">("none");
  const [chosenOthers, setChosenOthers] = useState<TokenChoices["connections"]>([]);
  const [kind, setKind] = useState<"all" | "reads" | "chosen">("all");
  const [chosen, setChosen] = useState<TokenOperation[]>([]);
  const [days, setDays] = useState("");
  const [isSent, setSent] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();

  const rest = connections.filter(({ id }) => id !== usual);
  const lacksOthers = others === "chosen" && !chosenOthers.some(({ id }) => id !== usual);
  const lacksOperations = kind === "chosen" && chosen.length === 0;

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setSent(true);
    if (lacksOthers || lacksOperations) return;
    const json: Omit<TokenBody, "days"> & { days: number | null } = {
      name: String(new FormData(event.currentTarget).get("name") ?? ""),
      role,
      connection: usual,
      ...(others !== "all" && { connections: [usual, ...(others === "chosen" ? chosenOthers.map(({ id }) => id) : [])] }),
      operations: kind === "chosen" ? chosen.map(({ name }) => name) : kind,
      days: days === NEVER ? null : Number(days),
    };
    setBusy(true);
    setFailure(undefined);
    const result = await callApi<TokenMade>("/api/console/tokens", { method: "POST", json });
    setBusy(false);
    if (result.ok) onMade(result.value);
    else setFailure(result.failure);
  }

  if (usual === "")
    return (
      <Card title={t("create")}>
        <p className="mb-3 text-ink-2">{t("noConnection")}</p>
        <Button onClick={onClose}>{common("close")}</Button>
      </Card>
    );
  const field = failure && faultyField(failure, fields);
  const isTooMany = failure?.code === "CONFLICT";
  const lifetime = (count: number) => (count === 365 ? t("year") : t("days", { count }));
  return (
    <Card title={t("create")}>
      <form method="post" onSubmit={(event) => void submit(event)} className="flex max-w-[520px] flex-col gap-3.5" autoComplete="off">
        <FormField label={t("name")} hint={t("nameHint")} error={field === "name" ? t("wrong.name") : undefined}>
          {(control) => <Input {...control} name="name" required maxLength={60} placeholder={t("namePlaceholder")} autoFocus />}
        </FormField>
        <Choice label={t("role")} hint={t(`may.${role}`)} value={role} options={given} onChoose={setRole}>
          {(one) => roleName(one)}
        </Choice>
        <Choice
          label={t("connection")}
          hint={t("connectionHint")}
          error={field === "connection" || field === "connections" ? t("wrong.connections") : undefined}
          value={usual}
          options={connections.map(({ id }) => id)}
          onChoose={setUsual}
        >
          {(id) => connections.find((one) => one.id === id)?.name ?? id}
        </Choice>
        {rest.length > 0 ? (
          <>
            <Choice
              label={t("others")}
              error={isSent && lacksOthers ? t("wrong.others") : undefined}
              value={others}
              options={["none", "all", "chosen"] as const}
              onChoose={setOthers}
            >
              {(one) => t(({ none: "othersNone", all: "othersAll", chosen: "othersChosen" } as const)[one])}
            </Choice>
            {others === "chosen" ? (
              <Boxes label={t("others")}>
                <CheckList options={rest} chosen={chosenOthers} onChange={setChosenOthers}>
                  {({ name }) => name}
                </CheckList>
              </Boxes>
            ) : null}
          </>
        ) : null}
        <Choice
          label={t("operations")}
          hint={kind === "chosen" ? t("chosenCount", { count: chosen.length }) : t("operationsHint")}
          error={field === "operations" || (isSent && lacksOperations) ? t("wrong.operations") : undefined}
          value={kind}
          options={["all", "reads", "chosen"] as const}
          onChoose={setKind}
        >
          {(one) => t(one)}
        </Choice>
        {kind === "chosen" ? <Operations operations={operations} chosen={chosen} onChange={setChosen} /> : null}
        <Choice
          label={t("expiry")}
          hint={days === NEVER ? t("neverHint") : undefined}
          value={days}
          options={["", ...tokenLifetimes.map(String), NEVER]}
          onChoose={setDays}
          isRequired
        >
          {(one) => (one === "" ? t("expiryChoose") : one === NEVER ? t("never") : lifetime(Number(one)))}
        </Choice>
        {isTooMany ? <p className="text-bad">{t("wrong.tooMany")}</p> : failure && !field ? <FailureMessage failure={failure} /> : null}
        <div className="flex gap-2">
          <Button type="submit" tone="primary" busy={isBusy}>
            {isBusy ? t("creating") : t("create")}
          </Button>
          <Button onClick={onClose}>{common("cancel")}</Button>
        </div>
      </form>
    </Card>
  );
}

type ChoiceProps<T extends string> = {
  label: string;
  hint?: string;
  error?: string;
  value: T;
  options: readonly T[];
  onChoose: (value: T) => void;
  isRequired?: boolean;
  children: (option: T) => string;
};

function Choice<T extends string>({ label, hint, error, value, options, onChoose, isRequired, children }: ChoiceProps<T>) {
  return (
    <FormField label={label} hint={hint} error={error}>
      {(control) => (
        <Select
          {...control}
          value={value}
          required={isRequired}
          onChange={({ target }) => onChoose(options.find((option) => option === target.value) ?? value)}
        >
          {options.map((option) => (
            <option key={option} value={option} disabled={option === "" && value !== ""}>
              {children(option)}
            </option>
          ))}
        </Select>
      )}
    </FormField>
  );
}

type OperationsProps = { operations: TokenOperation[]; chosen: TokenOperation[]; onChange: (chosen: TokenOperation[]) => void };

function Operations({ operations, chosen, onChange }: OperationsProps) {
  const t = useTranslations("tokens");
  const id = useId();
  const [wanted, setWanted] = useState("");
  const found = operations.filter(({ name, call }) => `${name} ${call}`.toLowerCase().includes(wanted.trim().toLowerCase()));
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="sr-only">
        {t("find")}
      </label>
      <Input id={id} type="search" value={wanted} placeholder={t("find")} onChange={({ target }) => setWanted(target.value)} />
      <Boxes label={t("operations")}>
        <CheckList options={found} chosen={chosen} onChange={onChange}>
          {({ name, call }) => (
            <span className="min-w-0 truncate">
              {name === EVENTS ? t("events") : name} <span className="ml-1 font-mono text-xs text-ink-3">{call}</span>
            </span>
          )}
        </CheckList>
      </Boxes>
    </div>
  );
}

function Boxes({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div role="group" aria-label={label} className="max-h-60 overflow-y-auto rounded-md border border-line px-2.5 py-1">
      {children}
    </div>
  );
}
