import { useTranslations } from "next-intl";
import useSWR from "swr";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { useRole } from "@/components/frame/member-context";
import { NumberControl } from "@/components/run/form/controls/number-control";
import { Card } from "@/components/ui/card";
import { CheckList } from "@/components/ui/controls/check-list";
import { FormField } from "@/components/ui/controls/form-field";
import { Select } from "@/components/ui/controls/select";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type AppAccess, type AppLimits } from "@/lib/contract/apps/app";
import { hasRole } from "@/lib/contract/roles";
import { type Draft } from "./use-source";

const kinds = ["me", "team", "members"] as const;
const limitNames = ["runsPerDay", "atOnce", "pictureBytes"] as const;
const MEGABYTE = 1_000_000;

type AccessCardProps = {
  access: AppAccess;
  limits: AppLimits;
  connection?: string;
  onChange: (change: Partial<Pick<Draft, "access" | "limits">>) => void;
};

/** Who sees and runs it, and how much each of them may. */
export function AccessCard({ access, limits, connection, onChange }: AccessCardProps) {
  const t = useTranslations("apps.make.access");
  return (
    <Card title={t("title")} bodyClassName="flex flex-col gap-3.5">
      <FormField label={t("who")}>
        {(control) => (
          <Select
            {...control}
            value={access.kind}
            onChange={({ target }) => {
              const kind = kinds.find((one) => one === target.value) ?? "me";
              onChange({ access: kind === "members" ? { kind, members: [] } : { kind } });
            }}
          >
            {kinds.map((kind) => (
              <option key={kind} value={kind}>
                {t(kind)}
              </option>
            ))}
          </Select>
        )}
      </FormField>
      {access.kind === "members" ? (
        <Members
          chosen={access.members}
          connection={connection}
          onChange={(members) => onChange({ access: { kind: "members", members } })}
        />
      ) : null}
      <div role="group" aria-label={t("limits")} className="grid gap-3 sm:grid-cols-3">
        {limitNames.map((name) => {
          const value = limits[name];
          const each = name === "pictureBytes" ? MEGABYTE : 1;
          return (
            <FormField key={name} label={t(name)} hint={t("limitHint")}>
              {(control) => (
                <NumberControl
                  {...control}
                  integer
                  value={value === undefined ? undefined : value / each}
                  onChange={(next) => {
                    const { [name]: _, ...rest } = limits;
                    onChange({ limits: typeof next === "number" && next > 0 ? { ...rest, [name]: Math.round(next * each) } : rest });
                  }}
                />
              )}
            </FormField>
          );
        })}
      </div>
    </Card>
  );
}

type Person = { id: string; name: string };
type MembersProps = { chosen: readonly string[]; connection?: string; onChange: (members: string[]) => void };

/** The team as an admin knows it; everybody else knows those who ran something on the connection. */
function Members({ chosen, connection, onChange }: MembersProps) {
  const t = useTranslations("apps.make.access");
  const role = useRole();
  const isAdmin = role !== undefined && hasRole(role, "admin");
  const path = isAdmin ? "/api/console/members" : withQuery("/api/console/jobs/people", { connection });
  const { data, error, mutate } = useSWR<Person[], ApiFailure>(["apps.people", path], async () => {
    const read = await callApi<{ members?: Person[]; people?: Person[] }>(isAdmin ? "/api/console/members" : path);
    if (!read.ok) throw read.failure;
    return read.value.members ?? read.value.people ?? [];
  });
  if (error) return <FailureMessage failure={error} onRetry={() => void mutate()} />;
  const people = data ?? [];
  // Somebody who was chosen by another and is not known here stays chosen.
  const others = chosen.filter((id) => !people.some((one) => one.id === id));
  return (
    <div role="group" aria-label={t("members")} className="max-h-60 overflow-y-auto rounded-md border border-line px-2.5 py-1">
      <CheckList
        options={people}
        chosen={people.filter(({ id }) => chosen.includes(id))}
        onChange={(now) => onChange([...others, ...now.map(({ id }) => id)])}
      >
        {({ name }) => name}
      </CheckList>
      {data && people.length === 0 ? <p className="py-1 text-ink-2">{t("nobody")}</p> : null}
    </div>
  );
}
