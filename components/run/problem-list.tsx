import { useTranslations } from "next-intl";
import { cn } from "@/components/ui/cn";
import { type Problem } from "./node-problems";
import { problemSentence } from "./problem-sentence";

type ProblemListProps = { id?: string; problems: readonly Problem[]; className?: string };

export function ProblemList({ id, problems, className }: ProblemListProps) {
  const t = useTranslations("run.problem");
  if (problems.length === 0) return null;
  return (
    <ul id={id} className={cn("flex flex-col gap-0.5 text-bad", className)}>
      {problems.map((problem, index) => {
        const { key, values } = problemSentence(problem);
        return <li key={index}>{t(key, values)}</li>;
      })}
    </ul>
  );
}
