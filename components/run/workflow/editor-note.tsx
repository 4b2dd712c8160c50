import { useTranslations } from "next-intl";
import { type EditorNotice, type EditorProblem, type EditorReport } from "@/lib/contract/editor-workflow/sent-values";
import { focusProblem } from "../form/form-model";

const MAX_SHOWN_PROBLEMS = 12;

/** How editor-only nodes were handled, and the problems that the form doesn't show at its fields. */
export function EditorNote({ problems, notices }: EditorReport) {
  return (
    <>
      <Notices notices={notices} />
      <Problems problems={problems.filter(({ code }) => code !== "value_not_listed" && code !== "missing_class")} />
    </>
  );
}

const MAX_LISTED_NOTICES = 200;

function Notices({ notices }: { notices: readonly EditorNotice[] }) {
  const t = useTranslations("run.editorNote");
  if (notices.length === 0) return null;
  const resolvedCount = notices.filter(({ code }) => code === "resolved").length;
  const leftOutCount = notices.length - resolvedCount;
  return (
    <details className="text-ink-2">
      <summary className="cursor-pointer">
        {[resolvedCount > 0 && t("resolved", { count: resolvedCount }), leftOutCount > 0 && t("leftOut", { count: leftOutCount })]
          .filter(Boolean)
          .join(" ")}
      </summary>
      <ul className="mt-1 flex max-h-60 flex-col gap-0.5 overflow-y-auto pl-4 break-words">
        {notices.slice(0, MAX_LISTED_NOTICES).map((notice) => (
          <li key={notice.nodeId}>
            {notice.code === "resolved"
              ? t("resolvedNode", { nodeId: notice.nodeId, name: notice.name })
              : t("leftOutNode", { nodeId: notice.nodeId, classType: notice.classType, title: notice.title ?? "" })}
          </li>
        ))}
        {notices.length > MAX_LISTED_NOTICES ? <li>{t("more", { count: notices.length - MAX_LISTED_NOTICES })}</li> : null}
      </ul>
    </details>
  );
}

function Problems({ problems }: { problems: readonly EditorProblem[] }) {
  const t = useTranslations("run.editorNote");
  if (problems.length === 0) return null;
  return (
    <section aria-label={t("title", { count: problems.length })} className="rounded-md border border-line bg-surface-2 px-3.5 py-3">
      <p className="font-medium">{t("title", { count: problems.length })}</p>
      <ul className="mt-1.5 flex flex-col gap-1 text-ink-2">
        {problems.slice(0, MAX_SHOWN_PROBLEMS).map((problem, index) => (
          <li key={index}>
            {"nodeId" in problem ? (
              <button
                type="button"
                onClick={() => focusProblem({ nodeId: problem.nodeId, ...("input" in problem && { field: problem.input }) })}
                className="rounded-sm text-left hover:underline"
              >
                <ProblemText problem={problem} />
              </button>
            ) : (
              <ProblemText problem={problem} />
            )}
          </li>
        ))}
        {problems.length > MAX_SHOWN_PROBLEMS ? <li>{t("more", { count: problems.length - MAX_SHOWN_PROBLEMS })}</li> : null}
      </ul>
    </section>
  );
}

function ProblemText({ problem }: { problem: EditorProblem }) {
  const t = useTranslations("run.editorNote");
  switch (problem.code) {
    case "missing_subgraph":
    case "inside_of_off_sent":
      return t(problem.code, { nodeId: problem.nodeId });
    case "links_by_rule":
      return t("links_by_rule");
    // The first two never occur with a graph. Problems with values are shown at the field.
    case "not_an_editor_file":
    case "too_many_nodes":
    case "value_not_listed":
    case "missing_class":
      return null;
    case "duplicate_id":
      return t(problem.code, { nodeId: problem.nodeId, count: problem.count });
    case "not_set":
      return t("not_set", { nodeId: problem.nodeId, input: problem.input, name: problem.name });
    default:
      return t(problem.code, { nodeId: problem.nodeId, input: problem.input });
  }
}
