import { useTranslations } from "next-intl";
import { type FormEvent, useId, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { Checkbox, InputField } from "@/components/ui/controls/fields";
import { ConfirmDialog, Dialog } from "@/components/ui/dialog";
import { Link } from "@/components/ui/link";
import { getSelectedTimeZone } from "@/components/ui/time";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { withQuery } from "@/lib/browser/urls";
import { useRead } from "@/lib/browser/use-read";
import { type SavedView, type ViewScreen } from "@/lib/contract/console";
import { FailureMessage } from "../failure/failure-message";

type ViewsDialogProps = {
  screen: ViewScreen;
  query: string;
  getHref: (query: string) => string;
  /** Whether the member may save views for the team. */
  canShare: boolean;
  onClose: () => void;
};

const PATH = "/api/console/views";

/** Sorts the parameters for comparison, since a saved view may come from an older version. */
function sortParams(query: string): string {
  const params = new URLSearchParams(query);
  params.sort();
  return params.toString();
}

/** Opens saved views by their links, and saves the current list as a view. */
export function ViewsDialog({ screen, query, getHref, canShare, onClose }: ViewsDialogProps) {
  const t = useTranslations("savedViews");
  const listTitle = useTranslations(screen)("title");
  const path = withQuery(PATH, { screen });
  const { data, error, mutate } = useRead(path, () => callApi<{ views: SavedView[] }>(path));
  const views = data?.views;
  const [requestError, setRequestError] = useState<ApiFailure>();
  const [name, setName] = useState("");
  const [isSaving, setSaving] = useState(false);
  async function sendRequest(path: `/${string}`, init: { method: string; json?: unknown }): Promise<boolean> {
    const result = await callApi(path, init);
    setRequestError(result.ok ? undefined : result.failure);
    await mutate();
    return result.ok;
  }
  async function save(form: HTMLFormElement) {
    const data = new FormData(form);
    const json = { screen, name: name.trim(), query, team: data.has("team"), isDefault: data.has("isDefault") };
    setSaving(true);
    const isSaved = await sendRequest(PATH, { method: "POST", json });
    setSaving(false);
    if (!isSaved) return;
    setName("");
    form.reset();
  }
  const failure = requestError ?? error;
  return (
    <Dialog isOpen onClose={onClose} title={t("title")} actions="close">
      {failure ? <FailureMessage failure={failure} /> : null}
      {views?.length === 0 ? <p>{t("none")}</p> : null}
      <ul aria-label={t("title")} className="flex max-h-72 flex-col overflow-y-auto">
        {views?.map((view) => (
          <ViewRow
            key={view.id}
            listTitle={listTitle}
            view={view}
            href={getHref(view.query)}
            isCurrent={sortParams(view.query) === sortParams(query)}
            onOpen={onClose}
            onDefault={() => void sendRequest(`${PATH}/${view.id}`, { method: "PUT", json: { isDefault: !view.isDefault } })}
            onReplace={() => void sendRequest(`${PATH}/${view.id}`, { method: "PUT", json: { query } })}
            onRemove={() => void sendRequest(`${PATH}/${view.id}`, { method: "DELETE" })}
          />
        ))}
      </ul>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isSaving) void save(event.currentTarget);
        }}
        className="mt-3 flex flex-col gap-2 border-t border-line pt-3"
      >
        <InputField
          label={t("name")}
          hint={t("hint")}
          required
          maxLength={80}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          {canShare ? (
            <label className="inline-flex items-center gap-1.5">
              <Checkbox name="team" /> {t("forTeam")}
            </label>
          ) : null}
          <label className="inline-flex items-center gap-1.5">
            <Checkbox name="isDefault" /> {t("asDefault", { list: listTitle })}
          </label>
          <Button type="submit" tone="primary" busy={isSaving} className="ml-auto">
            {t("save")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

type ViewRowProps = {
  /** The name of the screen. */
  listTitle: string;
  view: SavedView;
  href: string;
  isCurrent: boolean;
  onOpen: () => void;
  onDefault: () => void;
  onReplace: () => void;
  onRemove: () => void;
};

function ViewRow({ listTitle, view, href, isCurrent, onOpen, onDefault, onReplace, onRemove }: ViewRowProps) {
  const t = useTranslations("savedViews");
  const { name } = view;
  return (
    <li className="flex items-center gap-1 py-0.5">
      <Link
        href={href}
        prefetch={false}
        onClick={onOpen}
        aria-current={isCurrent ? "true" : undefined}
        className="min-w-0 flex-1 truncate rounded-md px-1 py-1 text-ink hover:bg-sunken aria-[current]:font-semibold"
      >
        {name}
      </Link>
      {view.team ? <span className="text-sm text-ink-3">{t("team")}</span> : null}
      <Button
        tone="quiet"
        size="small"
        aria-pressed={view.isDefault}
        aria-label={t("default", { name, list: listTitle })}
        title={t("default", { name, list: listTitle })}
        onClick={onDefault}
      >
        {view.isDefault ? "★" : "☆"}
      </Button>
      {view.canChange ? (
        <>
          {isCurrent ? null : (
            <Button tone="quiet" size="small" aria-label={t("replace", { name })} onClick={onReplace}>
              {t("replaceShort")}
            </Button>
          )}
          <Button tone="quiet" size="small" aria-label={t("remove", { name })} onClick={onRemove}>
            ×
          </Button>
        </>
      ) : null}
    </li>
  );
}

const DAY_MS = 24 * 60 * 60_000;

/** The date in the user's time zone, in the format of a date field. */
function toDateString(ms: number, timeZone = getSelectedTimeZone()): string {
  // The Swedish date format is the ISO format.
  return new Intl.DateTimeFormat("sv-SE", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" }).format(ms);
}

function getNextDay(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10);
}

/** Returns the time at which a day starts in the user's time zone. If clocks skip midnight, it is the first moment of the day. */
function getStartOfDay(day: string, timeZone = getSelectedTimeZone()): number {
  const utcMidnightMs = Date.parse(`${day}T00:00:00Z`);
  // Searches quarter hours within fifteen hours of UTC, which covers every time zone.
  const QUARTER_MS = 15 * 60_000;
  let low = -15 * 4;
  let high = 15 * 4;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (toDateString(utcMidnightMs + middle * QUARTER_MS, timeZone) >= day) high = middle;
    else low = middle + 1;
  }
  return utcMidnightMs + low * QUARTER_MS;
}

/** Keeps timestamps positive and years at four digits in every time zone. */
const dayLimits = { min: "1970-01-02", max: "9999-12-30" };

type DatesDialogProps = {
  from: number | undefined;
  to: number | undefined;
  onClose: () => void;
  onChoose: (range: { from: number | undefined; to: number | undefined }) => void;
};

/** Chooses a range of days in the user's time zone. */
export function DatesDialog({ from, to, onClose, onChoose }: DatesDialogProps) {
  const t = useTranslations("jobSearch.dateDialog");
  const form = useId();
  const [firstDay, setFirstDay] = useState(from === undefined ? "" : toDateString(from));
  const [lastDay, setLastDay] = useState(to === undefined ? "" : toDateString(to - 1));
  const isReversed = firstDay !== "" && lastDay !== "" && lastDay < firstDay;
  function choose(event: FormEvent) {
    event.preventDefault();
    if (isReversed) return;
    onChoose({
      from: firstDay === "" ? undefined : getStartOfDay(firstDay),
      to: lastDay === "" ? undefined : getStartOfDay(getNextDay(lastDay)),
    });
  }
  return (
    <ConfirmDialog isOpen onClose={onClose} title={t("title")} tone="primary" form={form} label={t("show")} isDisabled={isReversed}>
      <form id={form} onSubmit={choose} className="flex flex-col gap-3">
        <InputField
          label={t("from")}
          type="date"
          {...dayLimits}
          value={firstDay}
          onChange={(event) => setFirstDay(event.currentTarget.value)}
        />
        <InputField
          label={t("to")}
          hint={t("hint")}
          error={isReversed ? t("order") : undefined}
          type="date"
          {...dayLimits}
          value={lastDay}
          onChange={(event) => setLastDay(event.currentTarget.value)}
        />
      </form>
    </ConfirmDialog>
  );
}
