/** A record or a spool segment that was set aside, without its content. */
export interface QuarantinedItem {
  /** The file name in `quarantine` of the data directory. */
  readonly file: string;
  readonly kind: 'record' | 'segment';
  readonly bytes: number;
  readonly setAsideMs: number;
  /** Cleaned text; null for a segment and for an unreadable file. */
  readonly reason: string | null;
  /** For a record, as far as its fields are well-formed. */
  readonly id: string | null;
  readonly requestedAtMs: number | null;
  readonly provider: string | null;
  readonly outcome: string | null;
  readonly status: number | null;
}
