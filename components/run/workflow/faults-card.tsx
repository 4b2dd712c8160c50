import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { FailureNotice } from "@/components/ui/failure-notice";
import { own } from "@/lib/contract/json/own";
import { type Graph } from "@/lib/contract/schemas/graph";
import { focusProblem } from "../form/field-ids";
import { type FormNode } from "../form/form-model";
import { placeProblems } from "../form/node-problems";
import { ProblemList } from "../form/problem-list";
import { type Faults } from "./faults";
import { type MissingClass, MissingClasses } from "./missing-classes";

const MOST_SHOWN = 12;

type FaultsCardProps = {
  id?: string;
  faults: Faults;
  missing: readonly MissingClass[];
  graph: Graph;
  form: readonly FormNode[];
  onAnyway?: () => void;
};

/** Why an open workflow cannot run, node by node. Only faults by the service's list of nodes can be overruled, as it may be out of date. */
export function FaultsCard({ id, faults, missing, graph, form, onAnyway }: FaultsCardProps) {
  const t = useTranslations("run.faults");
  const answer = useTranslations("run.answer");
  const placed = placeProblems(form, faults.errors);
  const nodes = form.flatMap((node) => {
    const problems = own(placed.byNode, node.id);
    return problems ? [{ node, problems: [...problems.node, ...Object.values(problems.fields).flat()] }] : [];
  });
  return (
    <div id={id}>
      <FailureNotice
        title={t("title", { count: nodes.length })}
        cause={answer(faults.isSure ? "invalidCause" : "missingClassCause")}
        next={faults.isSure ? t("next") : t("nextClasses", { count: nodes.length })}
        actions={
          <>
            {faults.isSure ? (
              <ul className="flex w-full flex-col gap-1">
                {nodes.slice(0, MOST_SHOWN).map(({ node, problems }) => (
                  <li key={node.id} className="flex flex-wrap gap-x-2">
                    <button
                      type="button"
                      onClick={() => focusProblem({ nodeId: node.id })}
                      className="rounded-sm text-left font-medium underline decoration-line-strong underline-offset-2 hover:decoration-ink"
                    >
                      {t("node", { id: node.id, title: node.title })}
                    </button>
                    <ProblemList problems={problems} />
                  </li>
                ))}
                {nodes.length > MOST_SHOWN ? <li>{t("more", { count: nodes.length - MOST_SHOWN })}</li> : null}
              </ul>
            ) : null}
            {missing.length > 0 ? <MissingClasses missing={missing} graph={graph} /> : null}
            {faults.isSure || !onAnyway ? null : <Button onClick={onAnyway}>{t("anyway")}</Button>}
          </>
        }
      />
    </div>
  );
}
