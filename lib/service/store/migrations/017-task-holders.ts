// Which process of the service fetches a download, and the name of its partial file in that process's folder.

export const taskHolders = {
  name: "017-task-holders",
  sql: `
ALTER TABLE tasks ADD COLUMN holder TEXT;
ALTER TABLE tasks ADD COLUMN part TEXT;
`,
};

export const postgresTaskHolders = {
  name: "017-task-holders",
  sql: `
ALTER TABLE tasks ADD COLUMN holder text COLLATE "C";
ALTER TABLE tasks ADD COLUMN part text COLLATE "C";
`,
};
