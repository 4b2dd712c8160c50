import { useTranslations } from "next-intl";
import { useState } from "react";
import useSWR from "swr";
import { filterButton, FilterRow } from "@/components/frame/list/filters-panel";
import { Button } from "@/components/ui/controls/button";
import { Dialog } from "@/components/ui/dialog";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type JobPeople } from "@/lib/contract/console";

type PersonFilterProps = { member: string | undefined; connection: string | undefined; onPick: (member: string | undefined) => void };

/** Filters by the member who submitted the job. Members load when the filter is set or about to be. */
export function PersonFilter({ member, connection, onPick }: PersonFilterProps) {
  const t = useTranslations("jobSearch");
  const [isPicking, setPicking] = useState(false);
  const pick = (id: string | undefined) => {
    setPicking(false);
    onPick(id);
  };
  return (
    <FilterRow name={t("person")}>
      <button type="button" aria-haspopup="dialog" onClick={() => setPicking(true)} className={filterButton}>
        <span className="min-w-0 flex-1">
          {member === undefined ? t("personDialog.any") : <PersonName member={member} connection={connection} />}
        </span>
        <span aria-hidden="true">▾</span>
      </button>
      {isPicking ? <PersonDialog member={member} connection={connection} onPick={pick} onClose={() => setPicking(false)} /> : null}
    </FilterRow>
  );
}

type Member = { member: string | undefined; connection: string | undefined };

async function readPeople(path: `/${string}`): Promise<JobPeople["people"]> {
  const result = await callApi<JobPeople>(path);
  if (!result.ok) throw result.failure;
  return result.value.people;
}

function usePeople(connection: string | undefined) {
  const path = withQuery("/api/console/jobs/people", { connection });
  return useSWR<JobPeople["people"], ApiFailure>(path, readPeople, { revalidateOnFocus: false });
}

/** The selected member's name. */
function PersonName({ member, connection }: Member) {
  const t = useTranslations("jobSearch");
  const { data: people } = usePeople(connection);
  return people?.find(({ id }) => id === member)?.name ?? (people ? t("unknownPerson") : "…");
}

type PersonDialogProps = Member & { onPick: (member: string | undefined) => void; onClose: () => void };

function PersonDialog({ member, connection, onPick, onClose }: PersonDialogProps) {
  const t = useTranslations("jobSearch");
  const common = useTranslations("common");
  const { data: people, error } = usePeople(connection);
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t("personDialog.title")}
      actions={
        <>
          {member === undefined ? null : <Button onClick={() => onPick(undefined)}>{t("personDialog.any")}</Button>}
          <Button onClick={onClose}>{common("close")}</Button>
        </>
      }
    >
      <p className="text-sm text-ink-3">{t("personDialog.hint")}</p>
      <ul className="mt-2 flex max-h-72 flex-col overflow-y-auto">
        {people?.map(({ id, name }) => (
          <li key={id}>
            <button
              type="button"
              aria-current={id === member ? "true" : undefined}
              onClick={() => onPick(id)}
              className="w-full truncate rounded-md px-2 py-1.5 text-left text-ink hover:bg-sunken"
            >
              {name}
            </button>
          </li>
        ))}
      </ul>
      {people?.length === 0 ? <p role="status">{t("personDialog.none")}</p> : null}
      {error ? <p className="text-bad">{t("personDialog.failed")}</p> : null}
    </Dialog>
  );
}
