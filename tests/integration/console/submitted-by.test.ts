// Which member submitted a job, as its details say it: members share a connection, and the service knows one user.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHarness, type Harness } from "@/tests/support/harness";
import { answerJson, startLittleServer } from "@/tests/support/little-server";

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness();
});
afterAll(() => harness.dispose());

const graph = {
  "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
  "2": { class_type: "PreviewImage", inputs: { images: ["1", 0] } },
};
async function submit(): Promise<string> {
  const answer = await harness.request("/api/prompt", { as: "operator", method: "POST", json: { prompt: graph } });
  return (await answer.json()).prompt_id;
}
const details = async (path: string) => (await harness.request(path, { as: "viewer" })).json();

test("a job that was submitted through the console names the member, under the name they have now", async () => {
  const id = await submit();
  expect(await details(`/api/jobs/${id}`)).toMatchObject({ id, submitted_by: "operator" });
  await harness.request("/api/console/account", { as: "operator", method: "PUT", json: { name: "Ana Ruiz" } });
  expect(await details(`/api/jobs/${id}`)).toMatchObject({ submitted_by: "Ana Ruiz" });
  expect((await harness.console.store.audit.list({ action: "submitPrompt" }, 1))[0]).toMatchObject({ target: id, memberName: "operator" });
});

test("the list says it of none, and a member who is gone stays named", async () => {
  const id = await submit();
  const { jobs }: { jobs: object[] } = await details("/api/jobs");
  expect(jobs.filter((job) => "submitted_by" in job)).toEqual([]);
  await harness.console.store.members.remove(harness.viewerOf("operator").memberId);
  expect(await details(`/api/jobs/${id}`)).toMatchObject({ submitted_by: "Ana Ruiz" });
});

test("a job from elsewhere names nobody, whatever its service says", async () => {
  const service = await startLittleServer((_, response) =>
    answerJson(response, { id: "j", status: "completed", submitted_by: "Olga Owner" }),
  );
  const connection = await harness.connect(service.url, "sk-key");
  const job = await details(`/api/jobs/j?connection=${connection}`);
  expect(job).toMatchObject({ id: "j", status: "completed" });
  expect(job).not.toHaveProperty("submitted_by");
  await service.close();
});
