import { useTranslations } from "next-intl";
import { useActWords } from "@/components/frame/act-words";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { withQuery } from "@/lib/browser/urls";
import { usePoll } from "@/lib/browser/use-poll";
import { type AuditPage } from "@/lib/contract/audit/audit";
import { Part, PartNote } from "./part";
import { RowsSkeleton } from "./skeletons";

const MOST_ACTS = 6;
const toEntries = ({ entries }: AuditPage) => entries;

/** The newest entries of the audit log, for those who may read it. */
export function ActsPart() {
  const t = useTranslations("overview.acts");
  const { wordOf, triedOf } = useActWords();
  const poll = usePoll(withQuery("/api/console/audit", { limit: MOST_ACTS }), { read: toEntries, motion: () => "background" });
  return (
    <Part
      title={t("title")}
      all={{ href: "/settings/audit", text: t("all") }}
      poll={poll}
      skeleton={<RowsSkeleton rows={MOST_ACTS} />}
      bodyClassName="p-0 min-h-[294px]"
    >
      {(entries) =>
        entries.length === 0 ? (
          <PartNote>{t("none")}</PartNote>
        ) : (
          <ul>
            {entries.map(({ id, at, member, action, status }) => (
              <li
                key={id}
                data-entry={id}
                className="flex min-h-[49px] items-center gap-3 border-b border-line px-3.5 py-1 last:border-b-0"
              >
                <span className="min-w-0 flex-1">
                  <span className="block truncate">{member?.name || t("nobody")}</span>
                  <span className="block truncate text-sm text-ink-2">{status < 400 ? wordOf(action) : triedOf(action)}</span>
                </span>
                <RelativeTime ms={at} className="whitespace-nowrap text-ink-3" />
              </li>
            ))}
          </ul>
        )
      }
    </Part>
  );
}
