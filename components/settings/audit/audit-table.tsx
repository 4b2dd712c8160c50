import { useTranslations } from "next-intl";
import { Fragment } from "react";
import { useActionMessages } from "@/components/frame/action-messages";
import { toFailureCode } from "@/components/frame/failure/failure-message";
import { Link } from "@/components/ui/link";
import { StatusBadge } from "@/components/ui/status-badge";
import { RelativeTime } from "@/components/ui/time";
import { toShortId, withQuery } from "@/lib/browser/urls";
import { type AuditItem, type AuditPart, type AuditQuery, type MemberChange } from "@/lib/contract/audit/audit";
import { checkOutcomes, runnerProblems, settableRunnerStates } from "@/lib/contract/connections";
import { getOwn } from "@/lib/contract/json/json";
import { roles } from "@/lib/contract/members/roles";
import { formatNamelessWorkflow } from "@/lib/contract/workflow/workflow-name";

/** Maps the log's keys to the message keys of their labels. */
const logKeyMessages = {
  id: "id",
  prompt_id: "job",
  task_id: "task",
  name: "name",
  path: "file",
  code: "code",
  cleared: "cleared",
  created_new: "isNew",
  deleted: "deleted",
  added: "added",
  removed: "removed",
  cancelled: "cancelled",
  stopped: "stopped",
  stopping: "stopping",
} as const;
const booleanMessages = { true: "yes", false: "no" } as const;

type LogKey = keyof typeof logKeyMessages;
export type AuditFact = { messageKey: (typeof logKeyMessages)[LogKey] | "asset"; value: string; booleanKey?: "yes" | "no"; href?: string };

/** A value may contain spaces, so it ends at the next known key. */
const keyPattern = new RegExp(`(?:^| )(${Object.keys(logKeyMessages).join("|")})=`, "g");
const assetActions = new Set(["uploadAsset", "createAssetFromHash", "editAsset", "deleteAsset", "addTags", "removeTags"]);
const jobActions = new Set(["submitPrompt", "cancelJob", "cancelJobs", "cancelOneJob", "stopJobs", "manageQueue", "manageHistory"]);

/** Parses the outcome of an action into facts. Undefined if the outcome is free text. */
function parseFacts({ action, outcome = "", connection }: AuditItem): AuditFact[] | undefined {
  const matches = [...outcome.matchAll(keyPattern)];
  if (matches[0]?.index !== 0) return undefined;
  return matches.flatMap((match, index) => {
    const name = match[1];
    if (!isLogKey(name)) return [];
    const value = outcome.slice(match.index + match[0].length, matches[index + 1]?.index);
    // The status "done" already implies this.
    if (name === "code" && value === "OK") return [];
    // A hash is not a useful name.
    if (name === "name" && /^[0-9a-f]{64}(\.\w+)?$/.test(value)) return [];
    const messageKey = name === "id" && assetActions.has(action) ? "asset" : logKeyMessages[name];
    return [
      {
        messageKey,
        value,
        ...(isBooleanText(value) && { booleanKey: booleanMessages[value] }),
        href: getPageHref(messageKey, value, connection),
      },
    ];
  });
}

/** Returns the text to show. `shortId` is the beginning of the id, shown next to a name. */
function getTargetText({ action }: AuditItem, { id, name }: Pick<AuditPart, "id" | "name">): { text: string; shortId?: string } {
  if (isCount(action, id)) return { text: id };
  if (name === undefined || name === id) return { text: jobActions.has(action) ? formatNamelessWorkflow(id) : id };
  return { text: name, ...((jobActions.has(action) || assetActions.has(action)) && { shortId: toShortId(id) }) };
}

/** Returns the URL of the changed object's page. Undefined if the object was deleted. */
function getTargetHref({ action, target, status, connection }: AuditItem): string | undefined {
  if (target === undefined || isCount(action, target) || (action === "deleteAsset" && status < 400) || status === 404) return undefined;
  return getPageHref(jobActions.has(action) ? "job" : assetActions.has(action) ? "asset" : "id", target, connection);
}

/** Earlier versions logged jobs that were stopped together as a number, without ids. */
const isCount = (action: string, target: string): boolean => action === "stopJobs" && /^\d+ jobs$/.test(target);

/** A connection without a name is deleted or belongs to another member, so its pages can't be opened. */
function getPageHref(messageKey: AuditFact["messageKey"], id: string, connection: AuditItem["connection"]): string | undefined {
  if (connection?.name === undefined || (messageKey !== "job" && messageKey !== "asset")) return undefined;
  return withQuery(`/${messageKey === "job" ? "jobs" : "assets"}/${encodeURIComponent(id)}`, { connection: connection.id });
}

const isLogKey = (name: string | undefined): name is LogKey => name !== undefined && Object.hasOwn(logKeyMessages, name);
const isBooleanText = (value: string): value is keyof typeof booleanMessages => Object.hasOwn(booleanMessages, value);

export type AuditView = Pick<AuditQuery, "member" | "action" | "on" | "within" | "before" | "upTo">;

/** Returns the URL of a page of the log, with its filters. */
export function getAuditHref({ member, action, on, within, before, upTo }: AuditView, connection: string | undefined): `/${string}` {
  return withQuery("/settings/audit", { member, action, on, within, before, upTo, connection });
}

export function getAuditExportHref({ member, action, on, within }: AuditView): `/${string}` {
  return withQuery("/api/console/audit/export", { member, action, on, within });
}

/** Prefixes of `via`: a token, an embedding page, or a sign-in provider. */
const viaPrefixes = [
  ["token ", "byToken"],
  ["embed ", "byEmbed"],
  ["provider ", "byProvider"],
] as const;

const columns = ["when", "who", "did", "where", "outcome"] as const;

/** One row per entry. On narrow screens the table scrolls inside its card. */
export function AuditTable({ entries }: { entries: readonly AuditItem[] }) {
  const t = useTranslations("settings.audit");
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={t("table")}>
      <table className="w-full min-w-[760px] border-collapse text-left">
        <thead>
          <tr className="border-b border-line text-sm text-ink-3">
            {columns.map((column) => (
              <th key={column} scope="col" className="px-3.5 py-1.5 font-normal">
                {t(column)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <AuditEntry key={entry.id} entry={entry} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function AuditEntry({ entry }: { entry: AuditItem }) {
  const t = useTranslations("settings.audit");
  const common = useTranslations("common");
  const { getActionText, getAttemptText } = useActionMessages();
  const { id, at, member, via, action, connection, status, parts = [], moreParts = 0 } = entry;
  const viaPrefix = viaPrefixes.find(([prefix]) => via?.startsWith(prefix));
  const viaName = viaPrefix && via?.slice(viaPrefix[0].length);
  const hasManyTargets = parts.length + moreParts > 1 || entry.isAtLeast === true;
  const item = parts[0] ?? (entry.target === undefined ? undefined : { id: entry.target });
  const facts = parseFacts(entry);
  const isRepeated = facts?.some(({ value }) => value === item?.id) ?? false;
  return (
    <tr data-entry={id} className="border-b border-line align-top last:border-b-0">
      <td className="px-3.5 py-1.5 whitespace-nowrap text-ink-2">
        <RelativeTime ms={at} />
      </td>
      <td className="max-w-[160px] truncate px-3.5 py-1.5" title={member && [member.name, member.email].filter(Boolean).join(", ")}>
        {member?.name || t("nobody")}
        {viaPrefix && viaName !== undefined ? (
          <span className="block truncate text-sm text-ink-3" title={viaName}>
            {t(viaPrefix[1], { name: viaName })}
          </span>
        ) : null}
      </td>
      <td className="max-w-[280px] px-3.5 py-1.5">
        <span title={action}>{status < 400 ? getActionText(action) : getAttemptText(action)}</span>
        {hasManyTargets ? <TargetList entry={entry} parts={parts} /> : null}
        {!hasManyTargets && item && !isRepeated ? (
          <span className="block truncate text-sm text-ink-3" title={item.id}>
            <TargetName entry={entry} part={item} />
          </span>
        ) : null}
      </td>
      <td className="max-w-[150px] truncate px-3.5 py-1.5 text-ink-2" title={connection?.name ?? connection?.id}>
        {connection ? (connection.name ?? t("otherConnection")) : common("none")}
      </td>
      <td className="max-w-[260px] px-3.5 py-1.5">
        <AuditOutcome entry={entry} facts={facts} />
      </td>
    </tr>
  );
}

/** The objects changed by one action, each with its name at that time and its id. */
function TargetList({ entry, parts }: { entry: AuditItem; parts: readonly AuditPart[] }) {
  const t = useTranslations("settings.audit");
  const { moreParts = 0, isAtLeast } = entry;
  return (
    <details className="text-sm text-ink-3">
      <summary className="cursor-pointer rounded-sm">
        {t(isAtLeast ? "partsAtLeast" : "parts", { count: parts.length + moreParts })}
      </summary>
      <ul className="max-h-60 overflow-y-auto py-1">
        {parts.map((part, index) => {
          const { shortId } = getTargetText(entry, part);
          return (
            <li key={index} title={part.id} className="truncate">
              <TargetName entry={entry} part={part} />
              {shortId === undefined ? null : <span className="ml-1.5 font-mono text-xs">{shortId}</span>}
              {part.isRefused && entry.refused ? <span className="ml-1.5 text-bad">{t("refused")}</span> : null}
            </li>
          );
        })}
      </ul>
      {moreParts > 0 ? <p>{t("moreParts", { count: moreParts })}</p> : null}
    </details>
  );
}

function TargetName({ entry, part }: { entry: AuditItem; part: Pick<AuditPart, "id" | "name"> }) {
  const { text } = getTargetText(entry, part);
  const href = getTargetHref({ ...entry, target: part.id });
  return href ? <TargetLink href={href} text={text} /> : text;
}

/** Fixed notes of the log, and their message keys. */
const fixedNotes = {
  "unknown hash": "unknownContent",
  "of the team": "ofTeam",
  personal: "personal",
  "the same submission again: nothing was sent": "again",
  "the same run again: nothing was sent": "again",
} as const;
/** The result of a runner address check, and the commands sent to a runner. */
const runnerNotes = ["fine", ...runnerProblems, ...settableRunnerStates] as const;
const accountFields = ["name", "email", "password"] as const;

/** Translates the log's notes. Unknown notes are shown as they are. */
function useAuditNote(): (note: string) => string {
  const t = useTranslations("settings.audit.note");
  const frameTexts = useTranslations("frame");
  const toRole = (text: string | undefined) => roles.find((role) => role === text);
  return (note) => {
    const [, keyword, unsavedSuffix] = /^(\w+)(, not saved)?$/.exec(note) ?? [];
    const checkOutcome = checkOutcomes.find((outcome) => outcome === keyword);
    if (checkOutcome) return t(unsavedSuffix ? "notSaved" : "checked", { state: frameTexts(`connection.${checkOutcome}`) });
    const runner = runnerNotes.find((runnerNote) => runnerNote === keyword);
    if (runner) return unsavedSuffix ? t("notSaved", { state: t(`runner.${runner}`) }) : t(`runner.${runner}`);
    if (isFixedNote(note)) return t(fixedNotes[note]);
    const role = toRole(note);
    if (role) return frameTexts(`member.role.${role}`);
    const [, count] = /^(\d+) assets$/.exec(note) ?? [];
    if (count !== undefined) return t("assets", { count: Number(count) });
    const changedFields = note.split(", ").map((fieldName) => accountFields.find((field) => field === fieldName));
    if (changedFields.every((field) => field !== undefined)) return changedFields.map((field) => t(`account.${field}`)).join(", ");
    return note;
  };
}

/** Describes a change of a member: both roles, suspension, and the cause. */
function useMemberChangeText(): (change: MemberChange) => string {
  const t = useTranslations("settings.audit.note");
  const roleName = useTranslations("frame.member.role");
  return ({ role, disabled, by, provider, groups, signUp, invitedBy, of }) => {
    const roleNames = role && { role: roleName(role.to), ...(role.from && { from: roleName(role.from) }) };
    const descriptions = [
      roleNames && ("from" in roleNames ? t("roleChange", roleNames) : t("newRole", roleNames)),
      disabled === undefined ? undefined : t(disabled ? "disabled" : "enabled"),
      groups && t(groups.includes("*") ? "byEverybody" : "byGroups", { groups: groups.join(", "), provider: provider ?? "" }),
      signUp && t("bySignUp"),
      invitedBy !== undefined && t("invitedBy", { name: invitedBy }),
      by !== undefined && t("byAdmin", { name: by }),
      of !== undefined && t("ofMember", { name: of }),
    ];
    return descriptions.filter((part) => typeof part === "string").join(" · ");
  };
}

const isFixedNote = (note: string): note is keyof typeof fixedNotes => Object.hasOwn(fixedNotes, note);

/** Error codes whose messages address the reader, with messages about another member instead. */
const thirdPersonCodes: Readonly<Partial<Record<string, "signedOut" | "role" | "preview">>> = {
  UNAUTHORIZED: "signedOut",
  ROLE_TOO_LOW: "role",
  INVALID_PREVIEW_ID: "preview",
};

const MIN_SERVER_ERROR_STATUS = 500;

/** `facts`: undefined if the outcome is free text. */
function AuditOutcome({ entry, facts }: { entry: AuditItem; facts: readonly AuditFact[] | undefined }) {
  const t = useTranslations("settings.audit");
  const common = useTranslations("common");
  const errors = useTranslations("errors");
  const { status, code, outcome, change, requestId, refused } = entry;
  const translateNote = useAuditNote();
  const formatChange = useMemberChangeText();
  const thirdPersonCode = code && getOwn(thirdPersonCodes, code);
  const outcomeKey = status < 400 ? "done" : status < MIN_SERVER_ERROR_STATUS ? "refused" : "failed";
  return (
    <>
      <StatusBadge
        tone={status < 400 ? "ok" : "bad"}
        label={t(outcomeKey)}
        title={[status, code, `${common("requestId")} ${requestId}`].filter(Boolean).join(" · ")}
      />
      {refused ? <span className="block text-sm text-bad">{t("refusedOf", { count: refused })}</span> : null}
      {code ? (
        <span className="block text-sm text-ink-2">
          {thirdPersonCode ? t(`why.${thirdPersonCode}`) : errors(`${toFailureCode({ code, status })}.title`)}
        </span>
      ) : null}
      {facts ? (
        <span className="block truncate text-sm text-ink-3" title={outcome}>
          <Facts facts={facts} />
        </span>
      ) : change ? (
        <span className="block text-sm break-words text-ink-3">{formatChange(change)}</span>
      ) : outcome ? (
        <span className="block truncate text-sm text-ink-3" title={outcome}>
          {translateNote(outcome)}
        </span>
      ) : null}
    </>
  );
}

function Facts({ facts }: { facts: readonly AuditFact[] }) {
  const t = useTranslations("settings.audit.fact");
  return facts.map(({ messageKey, value, booleanKey, href }, index) => (
    <Fragment key={messageKey}>
      {index > 0 ? " · " : null}
      {messageKey === "isNew" ? (
        t(booleanKey === "no" ? "notNew" : "isNew")
      ) : (
        <>
          {t(messageKey)} {href ? <TargetLink href={href} text={value} /> : booleanKey ? t(booleanKey) : value}
        </>
      )}
    </Fragment>
  ));
}

function TargetLink({ href, text }: { href: string; text: string }) {
  return (
    <Link href={href} prefetch={false} className="rounded-sm underline hover:text-ink">
      {text}
    </Link>
  );
}
