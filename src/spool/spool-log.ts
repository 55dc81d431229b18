/** The two lines of a logger that the spool and the shipper write to; pino's logger is one. Never given record content. */
export interface SpoolLog {
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}
