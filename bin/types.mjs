// `npm run types`: Next's route types first (they make PageProps<"/jobs"> known), then the whole project.
import { enterProject } from "./prepare.mjs";
import { run } from "./run.mjs";

enterProject();
const steps = [
  ["node_modules/next/dist/bin/next", "typegen"],
  ["node_modules/typescript/bin/tsc", "--noEmit", "-p", "."],
];
for (const step of steps) {
  const { code, output } = await run(process.execPath, step, { env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1" } });
  if (code !== 0) {
    process.stdout.write(output);
    process.exit(code);
  }
}
