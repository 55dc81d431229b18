/** A record or a spool segment that was put aside, as the shipper lists it and the API shows it. No content of it. */
export interface QuarantinedItem {
  /** Its file in the folder `quarantine` of the data directory. */
  readonly file: string;
  readonly kind: 'record' | 'segment';
  readonly bytes: number;
  readonly setAsideMs: number;
  /** Cleaned text; null of a segment, which is damaged, and of a file that cannot be read. */
  readonly reason: string | null;
  /** Of a record, as far as they have the form that they should. */
  readonly id: string | null;
  readonly requestedAtMs: number | null;
  readonly provider: string | null;
  readonly outcome: string | null;
  readonly status: number | null;
}
