import { useTranslations } from "next-intl";
import { cn } from "@/components/ui/cn";
import { boxEdges } from "@/lib/contract/nodes/input-spec";
import { isWarning, type Problem } from "./node-problems";
import { problemSentence } from "./problem-sentence";

type ProblemListProps = { id?: string; problems: readonly Problem[]; className?: string };

export function ProblemList({ id, problems, className }: ProblemListProps) {
  const t = useTranslations("run.problem");
  const edges = useTranslations("run.field.box");
  /** A problem with one edge of a box also names that edge, as the field does. */
  const sentenceOf = (problem: Problem) => {
    const { key, values } = problemSentence(problem);
    const edge = boxEdges.find((each) => each === problem.extra.edge);
    const sentence = t(key, edge && "input" in values ? { ...values, input: `${values.input} ${edges(edge)}` } : values);
    return isWarning(problem) ? t("asWarning", { sentence }) : sentence;
  };
  if (problems.length === 0) return null;
  return (
    <ul id={id} className={cn("flex flex-col gap-0.5 text-bad", className)}>
      {problems.map((problem, index) => (
        <li key={index} className={isWarning(problem) ? "text-wait" : undefined}>
          {sentenceOf(problem)}
        </li>
      ))}
    </ul>
  );
}
