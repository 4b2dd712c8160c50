import { describe, expect, it } from "vitest";
import { toHistoryView } from "@/components/jobs/job-row";
import { historyAnswerSchema } from "@/lib/contract/schemas/job";

const rowOf = (entry: object) => toHistoryView(historyAnswerSchema.parse({ history: [{ prompt_id: "job-1", ...entry }] })).rows[0];
const status = (status_str: string, ...messages: unknown[]) => ({ status: { status_str, completed: status_str === "success", messages } });

describe("a row of the history", () => {
  it("says completed, failed and cancelled in the words of the jobs list, whatever the history calls them", () => {
    expect(rowOf(status("success"))?.word).toBe("completed");
    expect(rowOf(status("error", ["execution_error", { exception_message: "no file", node_type: "LoadImage" }]))).toMatchObject({
      state: "failed",
      error: "LoadImage: no file",
    });
    expect(rowOf(status("error", ["execution_interrupted", {}]))?.state).toBe("cancelled");
    expect(rowOf({})?.state).toBe("unknown");
  });

  it("takes its times from the messages, and has none where there are none", () => {
    const row = rowOf(
      status("success", ["execution_start", { timestamp: 1_767_225_600_000 }], ["execution_success", { timestamp: 1_767_225_601_500 }]),
    );
    expect(row).toMatchObject({ startedMs: 1_767_225_600_000, endedMs: 1_767_225_601_500 });
    expect(rowOf({})).not.toHaveProperty("startedMs");
  });

  it("shows a picture that was kept before one that may vanish, and counts files only", () => {
    const file = (filename: string, type: string) => ({ filename, subfolder: "", type });
    const outputs = { "1": { images: [file("temp.png", "temp")], text: ["words"] }, "2": { images: [file("kept.png", "output")] } };
    expect(rowOf({ outputs })).toMatchObject({ outputs: 2, preview: { filename: "kept.png" } });
  });
});
