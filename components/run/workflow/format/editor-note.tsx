import { useTranslations } from "next-intl";
import { type EditorProblem } from "@/lib/contract/editor-workflow/problems";
import { focusProblem } from "@/components/run/form/field-ids";

const MOST_SHOWN = 12;

/** Problems of a graph editor's file that the form does not show itself: unknown classes and wrong values are shown at their fields. */
export function EditorNote({ problems }: { problems: readonly EditorProblem[] }) {
  const t = useTranslations("run.editorNote");
  const shown = problems.filter(({ code }) => code !== "value_not_listed" && code !== "missing_class");
  if (shown.length === 0) return null;
  return (
    <section aria-label={t("title", { count: shown.length })} className="rounded-md border border-line bg-surface-2 px-3.5 py-3">
      <p className="font-medium">{t("title", { count: shown.length })}</p>
      <ul className="mt-1.5 flex flex-col gap-1 text-ink-2">
        {shown.slice(0, MOST_SHOWN).map((problem, place) => (
          <li key={place}>
            {"nodeId" in problem ? (
              <button
                type="button"
                onClick={() => focusProblem({ nodeId: problem.nodeId, ...("input" in problem && { field: problem.input }) })}
                className="rounded-sm text-left hover:underline"
              >
                <Sentence problem={problem} />
              </button>
            ) : (
              <Sentence problem={problem} />
            )}
          </li>
        ))}
        {shown.length > MOST_SHOWN ? <li>{t("more", { count: shown.length - MOST_SHOWN })}</li> : null}
      </ul>
    </section>
  );
}

function Sentence({ problem }: { problem: EditorProblem }) {
  const t = useTranslations("run.editorNote");
  switch (problem.code) {
    case "missing_subgraph":
    case "inside_of_off_sent":
      return t(problem.code, { nodeId: problem.nodeId });
    case "links_by_rule":
      return t("links_by_rule");
    // The first two never come with a graph; problems with values are shown at the field.
    case "not_an_editor_file":
    case "too_many_nodes":
    case "value_not_listed":
    case "missing_class":
      return null;
    default:
      return t(problem.code, { nodeId: problem.nodeId, input: problem.input });
  }
}
