import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { type ReactNode } from "react";
import { beforeEach, expect, it, vi } from "vitest";
import { JobPanel } from "@/components/jobs/job/job-panel";
import { renderInApp, wrapInApp } from "../render";

// jsdom has no CSS object. Ids in these tests need no escaping.
beforeEach(() => vi.stubGlobal("CSS", { escape: (text: string) => text }));

const file = (filename: string) => ({ filename, subfolder: "", type: "output" });
const workflow = { prompt: { "1": { class_type: "Wait", inputs: {} } } };
let jobCount = 0;
/** Serves a new job for each test, since responses are cached by path. */
function serveJob(respond: (id: string) => Response) {
  const id = `panel-job-${++jobCount}`;
  const requests: string[] = [];
  vi.stubGlobal("fetch", async (path: string) => {
    requests.push(path);
    return respond(id);
  });
  return { id, requests };
}
const createDetailResponse = (id: string, overrides: object = {}) =>
  Response.json({ id, status: "completed", create_time: 1_767_225_600_000, outputs: {}, ...overrides });

async function show(id: string, overrides: Partial<Parameters<typeof JobPanel>[0]> = {}) {
  const onClose = vi.fn();
  const createTree = (panel: ReactNode) => (
    <>
      <table>
        <tbody>
          <tr data-row={id}>
            <td>
              <a href={`/jobs/${id}`}>row of {id}</a>
            </td>
          </tr>
        </tbody>
      </table>
      {panel}
    </>
  );
  const createPanel = (jobId: string) => <JobPanel jobId={jobId} connection="c1" canRun onClose={onClose} {...overrides} />;
  const { rerender } = await act(async () => renderInApp(createTree(createPanel(id))));
  const replacePanel = (panel: ReactNode) => act(async () => rerender(wrapInApp(createTree(panel))));
  return { onClose, closePanel: () => replacePanel(null), openOtherJob: (jobId: string) => replacePanel(createPanel(jobId)) };
}
const pressKey = (name: string, target: Element | Window = window) => act(async () => void fireEvent.keyDown(target, { key: name }));

it("shows the state, a large first picture and small other pictures", async () => {
  const images = ["a.png", "b.png"].map(file);
  const { id, requests } = serveJob((job) => createDetailResponse(job, { outputs: { "9": { images } } }));
  await show(id);
  expect(requests).toEqual([`/api/jobs/${id}?connection=c1`]);
  expect(screen.getByText("Completed")).toBeDefined();
  expect(screen.getAllByRole("img").map((picture) => [picture.getAttribute("alt"), picture.getAttribute("width")])).toEqual([
    ["a.png", "512"],
    ["b.png", "64"],
  ]);
  expect(screen.getByRole("link", { name: "Open page" }).getAttribute("href")).toBe(`/jobs/${id}`);
});

it("takes the focus when opened and returns it to the row on Esc", async () => {
  const { id } = serveJob((job) => createDetailResponse(job));
  const { onClose, closePanel } = await show(id);
  expect(document.activeElement).toBe(screen.getByRole("complementary"));
  await pressKey("Escape");
  expect(onClose).toHaveBeenCalledTimes(1);
  await closePanel();
  expect(document.activeElement).toBe(screen.getByRole("link", { name: `row of ${id}` }));
});

it("moves with j and k and, inside the panel, with arrow keys", async () => {
  const { id } = serveJob((job) => createDetailResponse(job));
  const [onNext, onPrevious] = [vi.fn(), vi.fn()];
  await show(id, { onNext, onPrevious });
  await pressKey("j");
  await pressKey("k");
  await pressKey("ArrowRight", screen.getByRole("complementary"));
  await pressKey("ArrowLeft", screen.getByRole("complementary"));
  expect([onNext.mock.calls.length, onPrevious.mock.calls.length]).toEqual([2, 2]);
  const field = document.body.appendChild(document.createElement("input"));
  await pressKey("j", field);
  field.remove();
  screen.getByRole("link", { name: `row of ${id}` }).focus();
  await pressKey("ArrowRight", screen.getByRole("link", { name: `row of ${id}` }));
  const dialog = document.body.appendChild(document.createElement("dialog"));
  dialog.open = true;
  await pressKey("j");
  dialog.remove();
  expect([onNext.mock.calls.length, onPrevious.mock.calls.length]).toEqual([2, 2]);
});

it("disables next and previous at the ends of the list", async () => {
  const { id } = serveJob((job) => createDetailResponse(job));
  await show(id);
  expect(screen.getByRole("button", { name: "Next job" })).toHaveProperty("disabled", true);
  expect(screen.getByRole("button", { name: "Previous job" })).toHaveProperty("disabled", true);
});

it("keeps the focus when the job is replaced", async () => {
  const { id, requests } = serveJob((job) => createDetailResponse(job));
  const { openOtherJob } = await show(id);
  const otherId = `${id}-other`;
  const close = screen.getByRole("button", { name: "Close" });
  close.focus();
  await openOtherJob(otherId);
  expect(requests.at(-1)).toBe(`/api/jobs/${otherId}?connection=c1`);
  expect(document.activeElement).toBe(close);
});

it.each([
  [404, "NOT_FOUND", "Job not found"],
  [502, "UPSTREAM_UNREACHABLE", "Couldn't reach the service"],
  [403, "FORBIDDEN", "You have no access to this job"],
])("explains a %i response with the code %s", async (status, code, text) => {
  const { id } = serveJob(() => Response.json({ code, message: "no" }, { status }));
  await show(id);
  expect(screen.getByText(text)).toBeDefined();
});

it("removes the actions when the job is deleted", async () => {
  let exists = true;
  const { id } = serveJob((job) =>
    exists
      ? createDetailResponse(job, { status: "pending", workflow })
      : Response.json({ code: "NOT_FOUND", message: "no" }, { status: 404 }),
  );
  await show(id);
  expect(screen.getByRole("button", { name: "Run again" })).toBeDefined();
  exists = false;
  await waitFor(async () => {
    await act(async () => void window.dispatchEvent(new Event("online")));
    screen.getByText(/^The service no longer has this job, for example/);
  });
  expect(screen.queryByRole("button", { name: "Run again" })).toBeNull();
});

it("offers no actions when the member can't run jobs", async () => {
  const { id } = serveJob((job) => createDetailResponse(job, { workflow }));
  await show(id, { canRun: false });
  expect(screen.getByText("Completed")).toBeDefined();
  expect(screen.queryByRole("button", { name: "Run again" })).toBeNull();
});
