// A key in a submitted graph is masked for everyone. Only the submitter sees where it is.
import { expect, test } from "vitest";
import { type Role } from "@/lib/contract/members/roles";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";

const harness = await createHarness();

const SECRET = "sk-a-key-that-nobody-may-read";
const submission = {
  prompt: {
    "1": { class_type: "StringConcatenate", inputs: { string_a: `a lamp ${SECRET}`, string_b: "", delimiter: "" } },
    "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
  },
  extra_data: { partner: { token: "an odd one" } },
};
const expectedPlaces = [
  { kind: "input", node_id: "1", node: "StringConcatenate", input: "string_a" },
  { kind: "extra", path: ["partner", "token"] },
];
const readDetailsAs = async (as: Role, path: string) => (await harness.request(path, { as })).text();

const submit = (json: object) => harness.request("/api/prompt", { as: "operator", method: "POST", json });

test("reports where a key is in a submission, never the key", async () => {
  const text = await (await submit(submission)).text();
  expect(JSON.parse(text)).toMatchObject({ held_secrets: expectedPlaces });
  for (const secret of [SECRET, "an odd one"]) expect(text).not.toContain(secret);
  expect(await (await submit({ prompt: { "2": submission.prompt["2"] } })).text()).not.toContain("held_secrets");
});

test("shows where secrets are only to the member who submitted the job", async () => {
  const { prompt_id: id }: { prompt_id: string } = await (await submit(submission)).json();
  const { held_secrets } = JSON.parse(await readDetailsAs("operator", `/api/jobs/${id}`));
  expect(held_secrets).toEqual(expect.arrayContaining(expectedPlaces));
  for (const role of ["viewer", "admin", "owner"] as const) {
    const text = await readDetailsAs(role, `/api/jobs/${id}`);
    expect(text).toContain("[REDACTED]");
    expect(text).not.toContain("held_secrets");
    expect(text).not.toContain(SECRET);
  }
});

test("shows operators where secrets of external jobs are, ignoring the service", async () => {
  const large = { "9": { class_type: "PreviewAny", inputs: { source: "x".repeat(1_200_000) } } };
  const service = await openTestServer((request, response) =>
    sendJsonResponse(response, {
      id: "j",
      status: "completed",
      held_secrets: [{ kind: "error", message: SECRET }],
      workflow: { prompt: request.url?.includes("large") ? { ...submission.prompt, ...large } : submission.prompt },
    }),
  );
  const connection = await harness.connect(service.url, "sk-service-key");
  for (const id of ["j", "large"]) {
    const path = `/api/jobs/${id}?connection=${connection}`;
    expect(JSON.parse(await readDetailsAs("operator", path)).held_secrets).toEqual([expectedPlaces[0]]);
    expect(await readDetailsAs("viewer", path)).not.toContain("held_secrets");
  }
});
