import { useTranslations } from "next-intl";
import { type Problem } from "./node-problems";
import { problemSentence } from "./problem-sentence";

type ProblemListProps = { id?: string; problems: readonly Problem[] };

export function ProblemList({ id, problems }: ProblemListProps) {
  const t = useTranslations("run.problem");
  if (problems.length === 0) return null;
  return (
    <ul id={id} className="mt-1 flex flex-col gap-0.5 text-bad">
      {problems.map((problem, index) => {
        const { key, values } = problemSentence(problem);
        return <li key={index}>{t(key, values)}</li>;
      })}
    </ul>
  );
}
