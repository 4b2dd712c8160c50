// Marks a history that was being cleared when the service stopped: for many jobs that takes minutes, and the rest is removed after the next
// start.

export const historyClears = {
  name: "006-history-clears",
  sql: `
ALTER TABLE users ADD COLUMN history_cleared_until INTEGER;
`,
};
