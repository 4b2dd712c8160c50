// A history that was being cleared when the service stopped: of many jobs that takes minutes, and the rest goes after the next start.

export const historyClears = {
  name: "006-history-clears",
  sql: `
ALTER TABLE users ADD COLUMN history_cleared_until INTEGER;
`,
};
