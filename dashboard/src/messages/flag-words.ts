/** The remarks on a record in words. */
import type { CallFlag } from '../../../src/vocabulary/token-usage.ts';

const WORDS: Readonly<Record<CallFlag, string>> = {
  path_repaired: 'The path had a doubled or missing prefix and was routed as meant.',
  leads_away:
    'The answer told the client to go on at another host, around the gateway: what it did there is not in the log.',
  erased: 'What this call said was erased on request: texts, metadata, names and addresses. What it cost stays.',
  usage_not_asked:
    'The usage of the stream could not be asked for: the body was too large or encoded, or there was no room to hold it.',
  usage_asked: 'The gateway asked for the usage of the stream and hid it from the client.',
  tap_limit: 'The copy for metering passed a limit, so usage may be missing. The call itself passed unchanged.',
  undecodable: 'The copy for metering could not be decoded.',
  no_ending: 'The answer ended without what would tell that it is whole; its format need not have it.',
  usage_later: 'The result is made later; its usage and cost stand in the record of the call that fetched it.',
  usage_counted_before: 'The usage of this result stands in an earlier record and is not counted again.',
  usage_in_turns: 'The usage of each response of this connection stands in a record of its own.',
  prewarm: 'The request asked for no output, only for what a later request builds on.',
  result_unread: 'A result was fetched and could not be read: its usage, if it is counted nowhere else, is not known.',
  inconsistent: 'The parts of the reported usage do not add up.',
  metadata_cut: 'Metadata beyond the limits was dropped.',
  trace_id_cut: 'The trace id was longer than the limit and was shortened.',
  header_misspelt: 'A header is nearly one of the gateway’s own, and was taken as it was written.',
  span_without_trace: 'A span path came without X-Gateway-Trace-Id, so the call is in no run.',
  span_cut: 'The span path or name was longer than the limit and was cut.',
  body_dropped: 'The body was not kept: the spool was short of space.',
  compacted: 'The record was shortened (no headers, no usage object of the provider): the spool was nearly full.',
  over_budget: 'A soft budget was used up, or might have been with this call.',
  budget_unsure: 'A budget let it through though nothing said how much it might cost.',
  clock_skew: 'The clock of its machine was wrong: its times are by the clock of the database.',
  clock_step: 'The clock of its machine jumped while it was open. Its duration is right all the same.',
  text_replaced: 'Characters that the database cannot hold were replaced by \uFFFD.',
  sanitised: 'The record was stored in a safe form, after the database had refused it as it was.',
};

export function describeFlag(flag: string): string {
  const words: Readonly<Record<string, string>> = WORDS;
  return Object.hasOwn(words, flag) ? (words[flag] ?? flag) : flag;
}
