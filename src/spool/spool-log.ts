/** The part of a logger that spool and shipper use. Never given record content. */
export interface SpoolLog {
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}
