/** Further step of the schema: of marks whose work failed, how often, when it is tried again, and why. */
export const RETRIES = [
  `ALTER TABLE marks ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE marks ADD COLUMN retry_at TEXT`,
  `ALTER TABLE marks ADD COLUMN error TEXT`,
  `CREATE INDEX marks_failed ON marks (retry_at) WHERE retry_at IS NOT NULL`,
]
