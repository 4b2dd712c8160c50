// Checks the subjects of commits that are not on main, or of the newest commits. `commit-subjects.mjs FILE` is a commit-msg hook.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const MAX_LENGTH = 60;
const MAX_COMMITS = 10;

/** @param {string} subject @returns {string | undefined} */
export function findSubjectProblem(subject) {
  if (subject.length > MAX_LENGTH) return `has ${subject.length} characters instead of at most ${MAX_LENGTH}`;
  const [verb = ""] = subject.replace(/^[a-z]+(\([^)]*\))?!?: /, "").split(" ");
  const isImperative = /^(bring|embed|ping|proceed|seed|shed|speed|wring)$/i.test(verb);
  if ((/(ed|ing)$/i.test(verb) && !isImperative) || /^(adds|changes|fixes|makes|moves|removes|renames|updates|uses)$/i.test(verb))
    return `begins with "${verb}" instead of an imperative`;
}

function git(...args) {
  try {
    return execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return ""; // no repository, or no such branch
  }
}

function listSubjects() {
  const base = git("merge-base", "HEAD", "origin/main") || git("merge-base", "HEAD", "main");
  const branchSubjects = base && git("log", "--no-merges", "--format=%s", `${base}..HEAD`);
  return (branchSubjects || git("log", "--no-merges", "--format=%s", `-${MAX_COMMITS}`)).split("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [file] = process.argv.slice(2);
  const subjects = file === undefined ? listSubjects() : readFileSync(file, "utf8").split("\n", 1);
  for (const subject of subjects) {
    const problem = findSubjectProblem(subject);
    if (problem === undefined) continue;
    process.stdout.write(`The commit "${subject}" ${problem}.\n`);
    process.exitCode = 1;
  }
}
