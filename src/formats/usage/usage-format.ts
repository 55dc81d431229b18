/**
 * The contract of an answer's format: how usage stands in one API's answers, whichever provider serves it. Formats know
 * no sockets, providers or prices, and return their input on anything unexpected.
 */
import type { UsageFormatName } from '../../providers/format-names.ts';
import type { JsonValue, ReportedUsage } from '../../vocabulary/token-usage.ts';

/** The first value of an answer's header by lower-case name, or null. */
export type ReadHeader = (name: string) => string | null;

export interface UsageFormat {
  readonly name: UsageFormatName;
  /** Reads usage or terms from a successful answer's headers, before the body. */
  readonly readHead?: (header: ReadHeader, reported: ReportedUsage) => ReportedUsage;
  /** Reads a whole JSON answer; `terminal` is true for a complete body. */
  readonly readJson: (body: JsonValue, reported: ReportedUsage) => ReportedUsage;
  /** Cheap byte test before parsing: may this event carry usage, a model, an error or the ending? */
  readonly mayMatter: (data: Buffer) => boolean;
  /** Takes an event that may matter; its type is the SSE `event:` or the frame's `:event-type`. */
  readonly readEvent: (
    eventType: string | null,
    data: JsonValue,
    reported: ReportedUsage,
    sawContent?: boolean,
  ) => ReportedUsage;
  /** Answers are JSON lines whatever their content type. Lines have no event type; a complete end is terminal. */
  readonly areLines?: boolean;
  /** Data that ends a stream and is not JSON, e.g. `[DONE]`. */
  readonly doneText: string | null;
  /**
   * Every whole stream ends with a last event or with finish reasons for all parts; without them it was cut short. For
   * other formats that is only known of streams whose parts were begun.
   */
  readonly hasLastEvent?: true;
  /** Finish reasons alone do not end a stream: usage always follows in an event of its own. */
  readonly hasUsageAtEnd?: true;
}
